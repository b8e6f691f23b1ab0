internal import CSQLite
internal import Foundation

/// The same rows in plain SQLite, through its C interface: WAL, synchronous NORMAL, one transaction
/// for each piece of work, every statement compiled once.
final class RawTable {
    private let database: RawDatabase

    init(path: String) throws {
        database = try RawDatabase(path: path)
        try database.run(
            "CREATE TABLE IF NOT EXISTS ZENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
                + "Z_OPT INTEGER, ZCOUNT INTEGER, ZISDONE INTEGER, ZAMOUNT FLOAT, "
                + "ZCREATED TIMESTAMP, ZNAME VARCHAR, ZNOTE VARCHAR, ZKEY BLOB)")
    }

    func insert(_ samples: [Sample]) throws {
        try database.transaction("INSERT INTO ZENTRY VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?, ?)") {
            statement in
            for (index, sample) in samples.enumerated() {
                sqlite3_bind_int64(statement, 1, Int64(index + 1))
                sqlite3_bind_int64(statement, 2, sample.count)
                sqlite3_bind_int64(statement, 3, sample.isDone ? 1 : 0)
                sqlite3_bind_double(statement, 4, sample.amount)
                sqlite3_bind_double(statement, 5, sample.created)
                database.bind(sample.name, 6, statement)
                database.bind(sample.note, 7, statement)
                _ = withUnsafeBytes(of: sample.key.uuid) {
                    diptych_bind_blob(statement, 8, $0.baseAddress, 16)
                }
                try database.finish(statement)
            }
        }
    }

    /// Reads every row into a value of its own.
    func fetch() throws -> Int {
        var rows: [RawEntry] = []
        try database.each(
            "SELECT Z_PK, ZAMOUNT, ZCOUNT, ZCREATED, ZISDONE, ZKEY, ZNAME, ZNOTE FROM ZENTRY"
        ) { rows.append(RawEntry($0)) }
        return rows.count
    }

    func fetchKeys() throws -> Int {
        var keys: [Int64] = []
        try database.each("SELECT Z_PK FROM ZENTRY") { keys.append(sqlite3_column_int64($0, 0)) }
        return keys.count
    }

    func update(_ count: Int, to value: Int64) throws {
        try database.transaction("UPDATE ZENTRY SET ZCOUNT = ?2 WHERE Z_PK = ?1") { statement in
            for key in 1...Int64(count) {
                sqlite3_bind_int64(statement, 1, key)
                sqlite3_bind_int64(statement, 2, value)
                try database.finish(statement)
            }
        }
    }

    func delete(_ count: Int) throws {
        try database.transaction("DELETE FROM ZENTRY WHERE Z_PK = ?") { statement in
            for key in 1...Int64(count) {
                sqlite3_bind_int64(statement, 1, key)
                try database.finish(statement)
            }
        }
    }
}
