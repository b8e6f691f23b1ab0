internal import Foundation
internal import RecordWire

/// Folders, whose entries stay when the power fails.
enum FileFolder {
    /// Makes it where it is missing.
    static func make(_ path: String) throws {
        guard mkdir(path, 0o700) != 0 else {
            return try synchronize(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        }
        guard errno == EEXIST else { throw failure(path) }
    }

    static func synchronize(_ path: String) throws {
        try synchronize(path, O_RDONLY | O_DIRECTORY)
    }

    /// Makes an empty file for its owner alone, in which SQLite then makes a database. What is
    /// there already goes.
    static func makeFile(_ path: String) throws {
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure(path) }
        close(file)
    }

    /// Brings a file to the disk, for its owner alone.
    static func protect(_ path: String) throws {
        guard chmod(path, 0o600) == 0 else { throw failure(path) }
        try synchronize(path, O_RDWR)
    }

    private static func synchronize(_ path: String, _ flags: Int32) throws {
        let file = open(path, flags | O_CLOEXEC)
        guard file >= 0 else { throw failure(path) }
        defer { close(file) }
        guard fsync(file) == 0 || errno == EINVAL else { throw failure(path) }
    }

    static func rename(_ old: String, to new: String) throws {
        guard Foundation.rename(old, new) == 0 else { throw failure(new) }
    }

    /// Removes a folder of files, as far as that goes.
    static func remove(_ path: String) {
        for name in names(in: path) { unlink(path + "/" + name) }
        rmdir(path)
    }

    /// Names of what is in it; none where it is missing.
    static func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Whether it is a folder, and no link to one.
    static func isFolder(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether it is a file, and no link to one.
    static func isFile(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    private static func failure(_ path: String) -> RecordError {
        RecordError(
            .internalError, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
}
