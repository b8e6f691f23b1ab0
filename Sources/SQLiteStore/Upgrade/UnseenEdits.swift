package import Foundation
internal import SQLiteDriver
package import Stores

/// An edit that a mirror had not looked at when its store was migrated into a new file.
package struct UnseenEdit: Sendable {
    /// The row in the old store.
    package var row: RowID
    /// Its name in the old version of the model; nil for all properties of an object that was made.
    package var property: String?
    /// The transaction in the old history; nil where an older version of this library kept none.
    package var transaction: Int64?
    package var date: Date
    package var author: String?

    package init(
        row: RowID, property: String?, transaction: Int64?, date: Date, author: String?
    ) {
        self.row = row
        self.property = property
        self.transaction = transaction
        self.date = date
        self.author = author
    }
}

/// What is known of the edits that the history of an old store speaks of.
package struct FormerHistory {
    /// Calls its argument with each edit after the transaction of a number.
    package let edits: (Int64, (UnseenEdit) throws -> Void) throws -> Void
    /// What a property of an old entity is called in the new version of the model.
    package let names: (Int32, String) -> [String]

    package init(
        edits: @escaping (Int64, (UnseenEdit) throws -> Void) throws -> Void,
        names: @escaping (Int32, String) -> [String]
    ) {
        self.edits = edits
        self.names = names
    }
}

/// A table of edits that no round of the mirror had looked at before the store was migrated into
/// this file, which has a history of its own: where the latest edit wins, the mirror asks when each
/// was made. The mirror empties it.
struct UnseenEdits {
    let connection: Connection

    static let table = "ADIPTYCHUNSEENEDIT"

    var exist: Bool {
        get throws { try !HistoryTables.columns(of: Self.table, connection).isEmpty }
    }

    func prepare() throws {
        try connection.script(
            "CREATE TABLE IF NOT EXISTS \(Self.table) (Z_PK INTEGER PRIMARY KEY, "
                + "ZENTITYID INTEGER, ZENTITYPK INTEGER, ZPROPERTY VARCHAR, "
                + "ZTRANSACTION INTEGER, ZDATE TIMESTAMP, ZAUTHOR VARCHAR)")
    }

    func forEach(_ body: (UnseenEdit) throws -> Void) throws {
        let columns = try HistoryTables.columns(of: Self.table, connection)
        let transaction = columns.contains("ZTRANSACTION") ? "ZTRANSACTION" : "NULL"
        try connection.forEachRow(
            "SELECT ZENTITYID, ZENTITYPK, ZPROPERTY, ZDATE, ZAUTHOR, \(transaction) "
                + "FROM \(Self.table) ORDER BY Z_PK"
        ) { row in
            try body(
                UnseenEdit(
                    row: RowID(
                        entity: Int32(truncatingIfNeeded: row.int64(at: 0)), key: row.int64(at: 1)),
                    property: row.text(at: 2),
                    transaction: row.value(at: 5).int64,
                    date: Date(timeIntervalSinceReferenceDate: row.double(at: 3)),
                    author: row.text(at: 4)))
        }
    }

    /// Writes an edit down for what came of its row, as `temp.moved` knows it.
    func add(_ edit: UnseenEdit, named property: String?) throws {
        try connection.run(
            "INSERT INTO \(Self.table) (ZENTITYID, ZENTITYPK, ZPROPERTY, ZTRANSACTION, ZDATE, "
                + "ZAUTHOR) SELECT newEntity, newKey, ?, ?, ?, ? FROM temp.moved "
                + "WHERE entity = ? AND key = ?",
            [
                SQLiteValue(property), SQLiteValue(edit.transaction), SQLiteValue(edit.date),
                SQLiteValue(edit.author),
                .integer(Int64(edit.row.entity)), .integer(edit.row.key),
            ])
    }

    /// Gives properties the names that a lightweight migration gave them; what is gone goes.
    func rename(_ name: (Int32, String) -> String?) throws {
        guard try exist else { return }
        let known = try connection.rows(
            "SELECT DISTINCT ZENTITYID, ZPROPERTY FROM \(Self.table) WHERE ZPROPERTY NOT NULL")
        for row in known {
            guard let entity = row[0].int64, let old = row[1].string else { continue }
            let new = name(Int32(truncatingIfNeeded: entity), old)
            guard new != old else { continue }
            // Beginning with a character that no property's name has, since one may get the name
            // that another gives up.
            try connection.run(
                "UPDATE \(Self.table) SET ZPROPERTY = '=' || ? WHERE ZENTITYID = ? "
                    + "AND ZPROPERTY = ?", [SQLiteValue(new ?? ""), row[0], row[1]])
        }
        try connection.run("DELETE FROM \(Self.table) WHERE ZPROPERTY = '='")
        try connection.run(
            "UPDATE \(Self.table) SET ZPROPERTY = substr(ZPROPERTY, 2) WHERE ZPROPERTY GLOB '=*'")
    }
}
