public import Foundation
internal import SQLiteDriver
internal import Stores

extension SQLiteRowStore {
    /// Replaces the application's metadata of the store at `url`, without a model. Throws
    /// `StoreError` `.cannotOpen`, `.notAStore`, `.busy`, `.readOnly`, and `.invalidValue` for what
    /// is no property list. Cost: opens the file, and rewrites one row.
    public static func setMetadata(_ metadata: [String: Any], at url: URL) throws {
        let file = StoreFile(url: url, options: .init())
        try StoreError.mapping(path: file.path) {
            let connection = try file.open()
            try connection.transaction(.immediate) {
                var stored = try StoreMetadata(reading: connection, path: file.path)
                stored.replaceApplicationKeys(with: metadata)
                try stored.write(to: connection)
            }
        }
    }

    /// Whether the file at `url` is a SQLite database. Asks SQLite, since reading an open store's
    /// file in any other way would drop its locks.
    public static func isDatabase(at url: URL) -> Bool {
        // A log that was left behind may hold a whole database that the file does not.
        guard FileKind.size(at: url.path) >= pageBytesMin else { return false }
        do {
            let connection = try Connection(path: url.path, access: .readOnly)
            _ = try connection.value("SELECT count(*) FROM sqlite_master")
            return true
        } catch let fault as SQLiteFault {
            return fault.isBusy || fault.isReadOnly
        } catch {
            return false
        }
    }

    private static let pageBytesMin = 512
}
