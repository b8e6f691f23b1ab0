internal import Platform
internal import SQLiteDriver

/// Tells a file's versions by a connection that does nothing else. SQLite counts for each
/// connection what others commit. (`PRAGMA data_version`)
final class VersionWatch: Sendable {
    private struct Watch {
        var connection: Connection?
        var openings = 0
    }

    private let watch = Lock(Watch())

    /// The version now; nil where the file does not tell it. `open` gives a connection of its own.
    /// Cost: a tenth of a short transaction.
    func version(_ open: () throws -> Connection) -> RowsVersion? {
        watch.withLock { watch in
            do {
                let connection = try watch.connection ?? open()
                if watch.connection == nil { watch.openings += 1 }
                // Put back once it has answered: none is kept in an unknown state.
                watch.connection = nil
                guard let number = try connection.pragma("data_version")?.int64 else { return nil }
                watch.connection = connection
                return RowsVersion(counter: watch.openings, number: number)
            } catch {
                return nil
            }
        }
    }

    /// The next version is no earlier one's.
    func close() { watch.withLock { $0.connection = nil } }
}
