internal import CSQLite
internal import Foundation

/// The same rows in plain SQLite, through its C interface: WAL, synchronous NORMAL, one transaction
/// for each piece of work, every statement compiled once. With a history, each row that is written
/// has its row there, in the same transaction.
final class RawTable {
    private let database: RawDatabase
    private let history: RawHistory?

    init(path: String, keepsHistory: Bool) throws {
        database = try RawDatabase(path: path)
        history = keepsHistory ? try RawHistory(database) : nil
        try database.run(
            "CREATE TABLE IF NOT EXISTS ZENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
                + "Z_OPT INTEGER, ZCOUNT INTEGER, ZISDONE INTEGER, ZAMOUNT FLOAT, "
                + "ZCREATED TIMESTAMP, ZNAME VARCHAR, ZNOTE VARCHAR, ZKEY BLOB)")
    }

    func insert(_ samples: [Sample]) throws {
        try write(.insert, "INSERT INTO ZENTRY VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?, ?)") {
            statement, log in
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
                try log?.note(Int64(index + 1))
            }
        }
    }

    /// Performs `sql` many times in one transaction; `work` notes each key it wrote.
    private func write(
        _ kind: RawHistory.Kind, _ sql: String,
        _ work: (OpaquePointer, RawHistory.Entries?) throws -> Void
    ) throws {
        try database.transaction(sql) { statement in
            try work(statement, try history?.begin(kind))
        }
    }

    /// Reads every row into a value of its own.
    func fetch() throws -> Int {
        var rows: [Fetched] = []
        try database.each(
            "SELECT Z_PK, ZAMOUNT, ZCOUNT, ZCREATED, ZISDONE, ZKEY, ZNAME, ZNOTE FROM ZENTRY"
        ) { rows.append(Fetched($0)) }
        return rows.count
    }

    func fetchKeys() throws -> Int {
        var keys: [Int64] = []
        try database.each("SELECT Z_PK FROM ZENTRY") { keys.append(sqlite3_column_int64($0, 0)) }
        return keys.count
    }

    func update(_ count: Int, to value: Int64) throws {
        let sql = "UPDATE ZENTRY SET ZCOUNT = ?2, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?1"
        try write(.update, sql) { statement, log in
            for key in 1...Int64(count) {
                sqlite3_bind_int64(statement, 1, key)
                sqlite3_bind_int64(statement, 2, value)
                try database.finish(statement)
                try log?.note(key)
            }
        }
    }

    func delete(_ count: Int) throws {
        try write(.delete, "DELETE FROM ZENTRY WHERE Z_PK = ?") { statement, log in
            for key in 1...Int64(count) {
                sqlite3_bind_int64(statement, 1, key)
                try database.finish(statement)
                try log?.note(key)
            }
        }
    }

    private struct Fetched {
        let key: Int64
        let amount: Double
        let count: Int64
        let created: Double
        let isDone: Bool
        let uuid: uuid_t?
        let name: String?
        let note: String?

        init(_ row: OpaquePointer) {
            key = sqlite3_column_int64(row, 0)
            amount = sqlite3_column_double(row, 1)
            count = sqlite3_column_int64(row, 2)
            created = sqlite3_column_double(row, 3)
            isDone = sqlite3_column_int64(row, 4) != 0
            uuid = sqlite3_column_blob(row, 5).map { $0.loadUnaligned(as: uuid_t.self) }
            name = sqlite3_column_text(row, 6).map { String(cString: $0) }
            note = sqlite3_column_text(row, 7).map { String(cString: $0) }
        }
    }
}
