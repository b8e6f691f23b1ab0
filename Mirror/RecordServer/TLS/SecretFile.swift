internal import Foundation

/// Reads and writes small files whose mode matters; a write is whole or not at all.
enum SecretFile {
    /// The text of a file; nil when there is none.
    static func read(_ file: URL) throws -> String? {
        // A link that leads nowhere is no absent file: another key must not come in its place.
        var facts = stat()
        guard lstat(file.path, &facts) == 0 else { return nil }
        do {
            return String(decoding: try Data(contentsOf: file), as: UTF8.self)
        } catch {
            throw failure(file, error)
        }
    }

    /// Replaces the file; from its first byte on it has `mode`.
    static func write(_ text: String, to file: URL, mode: mode_t) throws {
        let part = file.appendingPathExtension("part")
        unlink(part.path)
        let descriptor = open(part.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(part, nil) }
        let bytes = Array(text.utf8)
        // The umask may have taken rights away that clients of the authority's file need.
        let written =
            fchmod(descriptor, mode) == 0
            && Foundation.write(descriptor, bytes, bytes.count) == bytes.count
            && fsync(descriptor) == 0
        close(descriptor)
        guard written, rename(part.path, file.path) == 0 else { throw failure(file, nil) }
    }

    static func failure(_ file: URL, _ cause: (any Error)?) -> ServerError {
        let reason = String(cString: strerror(errno))
        return ServerError(
            .cannotWrite,
            "A file of the certificate folder cannot be read or written; "
                + "look at its permissions and the free space.",
            fields: ["path": file.path, "reason": reason], cause: cause)
    }
}

/// Lets one process at a time work in a folder.
enum FolderLock {
    /// Makes the folder where needed, and runs `body` while no other process holds it.
    static func hold<Result>(_ folder: URL, _ body: () throws -> Result) throws -> Result {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw SecretFile.failure(folder, error)
        }
        let file = folder.appendingPathComponent("lock")
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else {
            throw SecretFile.failure(file, nil)
        }
        defer { close(descriptor) }
        return try body()
    }
}
