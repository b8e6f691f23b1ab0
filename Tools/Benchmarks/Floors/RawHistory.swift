internal import CSQLite

/// The rows of a store's history in plain SQLite, with the indexes that Apple's tables have.
final class RawHistory {
    /// What happened to a row, by the number the history has for it.
    enum Kind: Int64 {
        case insert, update, delete
    }

    private let database: RawDatabase
    private var transactions: Int64 = 0

    init(_ database: RawDatabase) throws {
        self.database = database
        let references = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
        let columns = references.map { "\($0) INTEGER" }.joined(separator: ", ")
        try database.run(
            "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                + "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
                + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);"
                + "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);"
                + "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, "
                + "Z_OPT INTEGER, \(columns), ZTIMESTAMP FLOAT);"
                + references.map { "CREATE INDEX I\($0) ON ATRANSACTION (\($0));" }.joined())
    }

    /// Writes a transaction's row. Within a transaction of the database.
    func begin(_ kind: Kind) throws -> Entries {
        transactions += 1
        try database.run(
            "INSERT INTO ATRANSACTION VALUES (\(transactions), 16002, 1, NULL, 1, NULL, 2, 0.5)")
        return try Entries(database, kind, transaction: transactions)
    }

    /// The rows of one transaction, written one by one by a statement that is compiled once.
    final class Entries {
        private let database: RawDatabase
        private let statement: OpaquePointer
        private var key: Int64

        init(_ database: RawDatabase, _ kind: Kind, transaction: Int64) throws {
            self.database = database
            // Ascending from one transaction to the next.
            key = transaction << 32
            statement = try database.compile(
                "INSERT INTO ACHANGE VALUES (?, 16001, NULL, ?, 1, ?, ?, ?)")
            sqlite3_bind_int64(statement, 2, kind.rawValue)
            sqlite3_bind_int64(statement, 4, transaction)
            let bitmap: [UInt8] = [0x40]
            if kind == .update { _ = diptych_bind_blob(statement, 5, bitmap, 1) }
        }

        deinit { sqlite3_finalize(statement) }

        func note(_ row: Int64) throws {
            key += 1
            sqlite3_bind_int64(statement, 1, key)
            sqlite3_bind_int64(statement, 3, row)
            try database.finish(statement)
        }
    }
}
