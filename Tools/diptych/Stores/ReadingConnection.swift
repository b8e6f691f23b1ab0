internal import Foundation
internal import SQLiteDriver

/// Opens a database for a look, also one in a folder that cannot be written.
enum ReadingConnection {
    static func open(_ url: URL) throws -> Connection {
        let connection = try Connection(path: url.path, access: .readOnly)
        do {
            _ = try connection.value("SELECT count(*) FROM sqlite_master")
            return connection
        } catch let fault as SQLiteFault where fault.cannotOpen || fault.isReadOnly {
            // In WAL mode SQLite wants files beside it; without a log it can do without them.
            let log = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")
            guard (log?[.size] as? NSNumber)?.int64Value ?? 0 == 0 else { throw fault }
            return try Connection(path: url.path, access: .immutable)
        } catch let fault as SQLiteFault where fault.isNotADatabase {
            throw CommandError(
                "corrupt", "\(url.path) is damaged or encrypted.",
                hint: "Restore it from a copy.")
        }
    }
}
