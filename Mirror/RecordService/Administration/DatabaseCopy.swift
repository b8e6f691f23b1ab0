internal import Foundation
internal import RecordWire

/// A new file that is there whole or not at all.
struct DatabaseCopy {
    private let path: String
    private let part: String

    init(to path: String) {
        self.path = path
        part = path + ".part"
    }

    /// Lets `body` write the file under another name, brings it to the disk, then names it.
    func write(_ body: (_ path: String) throws -> Void) throws {
        // What is at either name is somebody's, or of a copy that was cut off.
        for name in [path, part] where access(name, F_OK) == 0 {
            throw RecordError(
                .badRequest, "There is a file at \(name) already; nothing was written over it.")
        }
        do {
            try body(part)
            try finish()
        } catch {
            unlink(part)
            throw error
        }
    }

    private func finish() throws {
        guard chmod(part, 0o600) == 0 else { throw failure }
        try synchronize(part, O_RDWR)
        // Unlike a rename, a link does not write over what came meanwhile.
        guard link(part, path) == 0 else { throw failure }
        unlink(part)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try synchronize(folder, O_RDONLY | O_DIRECTORY)
    }

    private func synchronize(_ path: String, _ flags: Int32) throws {
        let file = open(path, flags | O_CLOEXEC)
        guard file >= 0 else { throw failure }
        defer { close(file) }
        guard fsync(file) == 0 || errno == EINVAL else { throw failure }
    }

    private var failure: RecordError {
        RecordError(
            .internalError,
            "The copy cannot be written to \(path): \(String(cString: strerror(errno))).")
    }
}
