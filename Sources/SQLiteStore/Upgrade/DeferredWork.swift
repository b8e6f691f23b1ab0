internal import Foundation
internal import SQLiteDriver
internal import Stores

/// What upgrades leave for later: tables and columns that nobody reads any more, and indexes that
/// only make requests quicker.
///
/// The list is a table of the file's own; the metadata say that there is one, under Apple's key.
/// Each task is one transaction with its line of the list.
struct DeferredWork {
    /// One piece of work.
    enum Piece {
        /// Drops a table that was set aside.
        case table(String)
        /// Drops a column that no property has.
        case column(String, of: String)
        /// Makes an index of the schema, by its name.
        case index(String)
    }

    let connection: Connection
    /// What the file has by its model.
    let schema: StoreSchema
    let path: String

    static let table = "ADIPTYCHDEFERRED"
    /// The names of tables that upgrades have set aside begin so.
    static let formerPrefix = "Z_FORMER_"

    /// Whether there is any.
    var isThere: Bool {
        get throws { try !HistoryTables.columns(of: Self.table, connection).isEmpty }
    }

    // MARK: Leaving

    /// Notes tasks, in the order in which they are to be done. The metadata are the caller's.
    func leave(_ tasks: [Piece]) throws {
        guard !tasks.isEmpty else { return }
        try connection.script(
            "CREATE TABLE IF NOT EXISTS \(Self.table) "
                + "(Z_PK INTEGER PRIMARY KEY, ZTABLE VARCHAR, ZCOLUMN VARCHAR, ZINDEX VARCHAR)")
        for task in tasks {
            let (table, column, index): (String?, String?, String?) =
                switch task {
                case .table(let name): (name, nil, nil)
                case .column(let name, let table): (table, name, nil)
                case .index(let name): (nil, nil, name)
                }
            try connection.run(
                "INSERT INTO \(Self.table) (ZTABLE, ZCOLUMN, ZINDEX) VALUES (?, ?, ?)",
                [SQLiteValue(table), SQLiteValue(column), SQLiteValue(index)])
        }
    }

    // MARK: Doing

    /// Does the first task; with the last one goes the list, and the word in the metadata. Returns
    /// whether there was one. Within a transaction.
    func doNext() throws -> Bool {
        guard try isThere else { return false }
        let rows = try connection.rows(
            "SELECT Z_PK, ZTABLE, ZCOLUMN, ZINDEX FROM \(Self.table) ORDER BY Z_PK LIMIT 2")
        guard let row = rows.first else {
            try end()
            return false
        }
        if let table = row[1].string {
            try drop(row[2].string, of: table)
        } else if let index = row[3].string {
            try make(index)
        }
        try connection.run("DELETE FROM \(Self.table) WHERE Z_PK = ?", [row[0]])
        if rows.count < 2 { try end() }
        return true
    }

    /// Drops all that is left of an earlier version, before the next comes. Indexes that are
    /// missing are made, or left, by that one. The metadata are the caller's.
    func clear() throws {
        guard try isThere else { return }
        let rows = try connection.rows(
            "SELECT ZTABLE, ZCOLUMN FROM \(Self.table) WHERE ZTABLE NOT NULL ORDER BY Z_PK")
        for row in rows {
            if let table = row[0].string { try drop(row[1].string, of: table) }
        }
        try connection.script("DROP TABLE \(Self.table)")
    }

    private func end() throws {
        try connection.script("DROP TABLE \(Self.table)")
        var metadata = try StoreMetadata(reading: connection, path: path)
        metadata.values[StoreMetadataKey.deferredMigration] = nil
        try metadata.write(to: connection)
    }

    /// Drops a column, or the whole table for nil. The list is the file's, which may be a
    /// stranger's: what the model has stays.
    private func drop(_ column: String?, of table: String) throws {
        let present = try TableColumns.all(in: connection)[table]
        guard let present else { return }
        guard let column else {
            guard table.hasPrefix(Self.formerPrefix), !isUsed(table) else { return }
            return try connection.script("DROP TABLE \(present.quoted)")
        }
        guard let gone = present.columns.first(where: { $0.name == column }),
            let wanted = schema.tables.first(where: { $0.name == table }),
            !["Z_PK", "Z_ENT", "Z_OPT"].contains(column),
            !wanted.columns.contains(where: { $0.name == column })
        else { return }
        try connection.script("ALTER TABLE \(present.quoted) DROP COLUMN \(gone.quoted)")
    }

    private func isUsed(_ table: String) -> Bool { schema.tables.contains { $0.name == table } }

    private func make(_ index: String) throws {
        let statement = schema.indexes.first { Self.indexName(in: $0) == index }
        guard let statement,
            try connection.value(
                "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(index)])
                == nil
        else { return }
        try connection.script(statement)
    }

    /// The name in a statement that makes an index; nil for a unique index, and for one of keys,
    /// without which links could not be followed.
    static func indexName(in statement: String) -> String? {
        let words = statement.split(separator: " ", maxSplits: 4)
        guard words.count == 5, words[0] == "CREATE", words[1] == "INDEX", words[3] == "ON",
            words[2].hasPrefix("Z_"), !words[2].hasSuffix("_INDEX")
        else { return nil }
        return String(words[2])
    }
}
