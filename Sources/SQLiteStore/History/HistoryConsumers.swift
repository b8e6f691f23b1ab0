internal import Foundation
internal import SQLiteDriver
internal import Stores

/// The marks of those who read the history, in a table of the file's own. Used under the store's
/// lock; the table is made with the first mark.
struct HistoryConsumers {
    let connection: Connection

    static let table = "ADIPTYCHCONSUMER"

    /// Sorted by name.
    func all() throws -> [HistoryConsumer] {
        guard try !HistoryTables.columns(of: Self.table, connection).isEmpty else { return [] }
        return try connection.rows(
            "SELECT ZNAME, ZTRANSACTION, ZDATE FROM \(Self.table) ORDER BY ZNAME"
        ).map { row in
            HistoryConsumer(
                name: row[0].string ?? "", lastSeen: row[1].int64 ?? 0,
                date: Date(timeIntervalSinceReferenceDate: row[2].double ?? 0))
        }
    }

    /// Notes how far a consumer has seen; a mark never goes back.
    func set(_ consumer: HistoryConsumer) throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS \(Self.table) (ZNAME VARCHAR PRIMARY KEY, "
                + "ZTRANSACTION INTEGER, ZDATE TIMESTAMP) WITHOUT ROWID")
        try connection.run(
            "INSERT INTO \(Self.table) (ZNAME, ZTRANSACTION, ZDATE) VALUES (?, ?, ?) "
                + "ON CONFLICT (ZNAME) DO UPDATE SET ZDATE = excluded.ZDATE, "
                + "ZTRANSACTION = max(ZTRANSACTION, excluded.ZTRANSACTION)",
            [.text(consumer.name), .integer(consumer.lastSeen), SQLiteValue(consumer.date)])
    }

    func remove(_ name: String) throws {
        guard try !HistoryTables.columns(of: Self.table, connection).isEmpty else { return }
        try connection.run("DELETE FROM \(Self.table) WHERE ZNAME = ?", [.text(name)])
    }
}
