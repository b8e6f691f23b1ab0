internal import Foundation
internal import RecordWire

/// A new file, and the folder of containers beside it, that are there whole or not at all.
struct DatabaseCopy {
    private let path: String
    private let part: String

    init(to path: String) {
        self.path = path
        part = path + ".part"
    }

    private var folder: String { ContainerFileName.folder(beside: path) }
    private var partFolder: String { ContainerFileName.folder(beside: part) }

    /// Lets `body` write the file and the folder's files under other names, brings them to the
    /// disk, then names them, the file last.
    func write(_ body: (_ path: String, _ folder: String) throws -> Void) throws {
        // What is at any of the names is somebody's, or of a copy that was cut off.
        for name in [path, folder, part, partFolder] where access(name, F_OK) == 0 {
            throw RecordError(
                .badRequest, "There is a file at \(name) already; nothing was written over it.")
        }
        do {
            try body(part, partFolder)
            try FileFolder.protect(part)
            try FileFolder.synchronize(partFolder)
            // Over what came meanwhile neither is written: a folder that is not empty stays, and a
            // link, unlike a rename, writes over no file.
            try FileFolder.rename(partFolder, to: folder)
        } catch {
            unlink(part)
            FileFolder.remove(partFolder)
            throw error
        }
        try finish()
    }

    private func finish() throws {
        let isNamed = link(part, path) == 0
        let code = errno
        unlink(part)
        guard isNamed else {
            FileFolder.remove(folder)
            throw failure(code)
        }
        try FileFolder.synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    private func failure(_ code: Int32) -> RecordError {
        RecordError(
            .internalError,
            "The copy cannot be written to \(path): \(String(cString: strerror(code))).")
    }
}
