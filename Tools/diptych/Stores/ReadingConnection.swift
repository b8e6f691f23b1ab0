internal import Foundation
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// Opens a database for a look, also one in a folder that cannot be written.
enum ReadingConnection {
    static func open(_ url: URL) throws -> Connection {
        do {
            return try .reading(url.path)
        } catch let fault as SQLiteFault where fault.isNotADatabase {
            throw CommandError(
                "corrupt", "\(url.path) is damaged or encrypted.",
                hint: "Restore it from a copy.")
        } catch let fault as SQLiteFault where fault.mayLackRoom {
            throw StoreError(fault, path: url.path)
        }
    }
}
