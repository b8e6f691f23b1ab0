internal import Foundation
internal import Platform
internal import RecordWire

/// A new file, and the folder of containers beside it, that are there whole or not at all.
struct DatabaseCopy {
    private let path: String
    private let part: String
    private let faults: any FaultPoints

    init(to path: String, faults: any FaultPoints) {
        self.path = path
        self.faults = faults
        part = path + ".part"
    }

    private var folder: String { ContainerFileName.folder(beside: path) }
    private var partFolder: String { ContainerFileName.folder(beside: part) }

    /// Lets `body` write the file and the folder's files under other names, brings them to the
    /// disk, then names them, the file last.
    func write(_ body: (_ path: String, _ folder: String) throws -> Void) throws {
        try refuseTaken([path, folder])
        let mark = try CopyMark(part + ".mark")
        if mark.isLeft { removeParts() }
        do {
            // What is there still is somebody's.
            try refuseTaken([part, partFolder])
            try mark.write()
        } catch {
            mark.remove()
            throw error
        }
        defer { mark.remove() }
        do {
            try body(part, partFolder)
            try FileFolder.protect(part)
            try FileFolder.synchronize(partFolder)
            // Over what came meanwhile neither is written: a folder that is not empty stays, and
            // the file is named where there is none.
            try FileFolder.rename(partFolder, to: folder)
        } catch {
            removeParts()
            throw error
        }
        try finish()
    }

    private func refuseTaken(_ names: [String]) throws {
        for name in names where access(name, F_OK) == 0 {
            throw RecordError(
                .badRequest, "There is a file at \(name) already; nothing was written over it.")
        }
    }

    /// What a copy wrote, be it one that was cut off.
    private func removeParts() {
        for suffix in ["", "-journal", "-wal", "-shm"] where FileFolder.isFile(part + suffix) {
            unlink(part + suffix)
        }
        guard FileFolder.isFolder(partFolder) else { return }
        FileFolder.remove(partFolder)
    }

    private func finish() throws {
        let code = named()
        unlink(part)
        guard code == 0 else {
            FileFolder.remove(folder)
            throw failure(code)
        }
        try FileFolder.synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Gives the file its name, over no other: a link, unlike a rename, writes over nothing.
    /// Returns the disk's reason where that fails, else 0.
    private func named() -> Int32 {
        let code = linked()
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(code) else { return code }
        // Some file systems have no second names, as those of sticks. There an empty file holds the
        // place, which is made where there is none.
        let claim = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard claim >= 0 else { return errno }
        close(claim)
        guard rename(part, path) != 0 else { return 0 }
        let reason = errno
        unlink(path)
        return reason
    }

    private func linked() -> Int32 {
        guard (try? faults.reach("backup.linking")) != nil else { return EPERM }
        return link(part, path) == 0 ? 0 : errno
    }

    private func failure(_ code: Int32) -> RecordError {
        RecordError(
            .internalError,
            "The copy cannot be written to \(path): \(String(cString: strerror(code))).")
    }
}
