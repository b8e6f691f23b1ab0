internal import FoundationEssentials
internal import SQLiteDriver
internal import Stores

/// A table of what rows were called before a migration gave them other numbers, as far as they were
/// inserted, or counted upon, and no round of the mirror had looked.
///
/// The mirror names new objects and counts after their rows, so that all copies of a store name
/// what they hold alike: also one that was migrated first, and one that was not. It empties the
/// table once all is named.
struct FormerRowNumbers {
    let connection: Connection

    static let table = "ADIPTYCHFORMERROW"

    var exist: Bool {
        get throws { try !HistoryTables.columns(of: Self.table, connection).isEmpty }
    }

    /// `ZTRANSACTION` and `ZDATE` are those of the insertion where its history stayed in another
    /// file.
    func prepare() throws {
        try connection.script(
            "CREATE TABLE IF NOT EXISTS \(Self.table) (Z_PK INTEGER PRIMARY KEY, "
                + "ZENTITYID INTEGER, ZENTITYPK INTEGER, ZFORMERENTITY INTEGER, "
                + "ZFORMERKEY INTEGER, ZTRANSACTION INTEGER, ZDATE TIMESTAMP, "
                + "UNIQUE (ZENTITYID, ZENTITYPK))")
    }

    /// Notes what rows of `entities` are called now: those that the history inserted after the
    /// transaction `last`, and those with counts that have no name yet. One that was noted before
    /// keeps its first name.
    func note(_ entities: [Int32], after last: Int64) throws {
        let list = entities.map { "\($0)" }.joined(separator: ", ")
        let noting = { (entity: String, rows: String) in
            "INSERT OR IGNORE INTO \(Self.table) (ZENTITYID, ZENTITYPK, ZFORMERENTITY, "
                + "ZFORMERKEY) SELECT DISTINCT \(entity), ZENTITYPK, \(entity), ZENTITYPK FROM "
                + "\(rows) \(entity) IN (\(list))"
        }
        try prepare()
        if try !HistoryTables.columns(of: "ACHANGE", connection).isEmpty {
            let inserted = HistoryChange.Kind.insert.rawValue
            try connection.run(
                noting(
                    "ZENTITY",
                    "ACHANGE WHERE ZCHANGETYPE = \(inserted) AND ZTRANSACTIONID > \(last) AND"))
        }
        if try !HistoryTables.columns(of: "ADIPTYCHCOUNTLOG", connection).isEmpty {
            try connection.run(noting("ZENTITYID", "ADIPTYCHCOUNTLOG WHERE"))
        }
    }

    /// What a row was called at first; itself where nothing else is known.
    func former(of row: RowID) throws -> RowID {
        let known = try connection.rows(
            "SELECT ZFORMERENTITY, ZFORMERKEY FROM \(Self.table) WHERE ZENTITYID = ? "
                + "AND ZENTITYPK = ?", [.integer(Int64(row.entity)), .integer(row.key)]
        ).first
        guard let entity = known?[0].int64, let key = known?[1].int64 else { return row }
        return RowID(entity: Int32(truncatingIfNeeded: entity), key: key)
    }

    /// Calls its argument with each insertion whose history stayed in another file, and with what
    /// the row was called then.
    func forEachInsertion(_ body: (UnseenEdit, RowID) throws -> Void) throws {
        try connection.forEachRow(
            "SELECT ZENTITYID, ZENTITYPK, ZTRANSACTION, ZDATE, ZFORMERENTITY, ZFORMERKEY FROM "
                + "\(Self.table) WHERE ZTRANSACTION NOT NULL AND ZFORMERKEY NOT NULL "
                + "ORDER BY Z_PK"
        ) { row in
            try body(
                UnseenEdit(
                    row: Self.row(of: row, at: 0), property: nil, transaction: row.int64(at: 2),
                    date: Date(timeIntervalSinceReferenceDate: row.double(at: 3)), author: nil),
                Self.row(of: row, at: 4))
        }
    }

    private static func row(of statement: Statement, at column: Int) -> RowID {
        RowID(
            entity: Int32(truncatingIfNeeded: statement.int64(at: column)),
            key: statement.int64(at: column + 1))
    }

    /// Notes of what came of an inserted row, as `temp.moved` knows it, what the row was called.
    func add(_ insertion: UnseenEdit, of former: RowID) throws {
        try connection.run(
            "INSERT OR REPLACE INTO \(Self.table) (ZENTITYID, ZENTITYPK, ZFORMERENTITY, "
                + "ZFORMERKEY, ZTRANSACTION, ZDATE) SELECT newEntity, newKey, ?, ?, ?, ? "
                + "FROM temp.moved WHERE entity = ? AND key = ?",
            [
                .integer(Int64(former.entity)), .integer(former.key),
                SQLiteValue(insertion.transaction), SQLiteValue(insertion.date),
                .integer(Int64(insertion.row.entity)), .integer(insertion.row.key),
            ])
    }
}
