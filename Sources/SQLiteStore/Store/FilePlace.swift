internal import Stores

/// Where an open store's file stands, and its log. SQLite goes on with files that were removed or
/// moved, and what it writes to them is lost with the last connection. Used under the store's lock.
final class FilePlace {
    private let path: String
    private let file: FileIdentity
    /// Once there is one; it stays as long as somebody has the file open.
    private var log: FileIdentity?

    /// Nil for a store in memory.
    init?(of path: String) {
        guard let file = FileIdentity(of: path) else { return nil }
        self.path = path
        self.file = file
    }

    /// To be called in a transaction that writes: the log is there then. Throws `.cannotOpen` where
    /// nothing, or another file, stands where one was. Cost: two looks into a folder.
    func check() throws {
        let found = FileIdentity(of: path + "-wal")
        guard FileIdentity(of: path) == file, log == nil || found == log else {
            throw StoreError(
                .cannotOpen,
                "The store's file, or its log, was removed, moved or replaced since it was opened, "
                    + "and nothing is saved there; close the store, and open it where it is now.",
                fields: ["path": path])
        }
        log = found
    }
}
