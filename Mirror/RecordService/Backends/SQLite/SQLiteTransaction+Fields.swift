internal import RecordWire
internal import SQLiteDriver

/// Types of fields, per database, with the number of records that have each.
extension SQLiteTransaction {
    func fieldUse(_ field: FieldKey, in database: Int64) throws -> FieldUse? {
        try first(
            """
            SELECT type, records FROM field_uses
            WHERE database = ? AND record_type = ? AND field = ?
            """, Self.values(of: field, database)
        ) { FieldUse(type: $0.text(at: 0) ?? "", records: $0.int64(at: 1)) }
    }

    func fieldUses(in database: Int64, limit: Int) throws -> [(FieldKey, FieldUse)] {
        try all(
            """
            SELECT record_type, field, type, records FROM field_uses
            WHERE database = ? ORDER BY record_type, field LIMIT ?
            """, [.integer(database), .integer(Int64(limit))]
        ) { row in
            (
                FieldKey(row.text(at: 1) ?? "", of: row.text(at: 0) ?? ""),
                FieldUse(type: row.text(at: 2) ?? "", records: row.int64(at: 3))
            )
        }
    }

    func save(_ use: FieldUse, of field: FieldKey, in database: Int64) throws {
        guard use.records > 0 else {
            try connection.run(
                "DELETE FROM field_uses WHERE database = ? AND record_type = ? AND field = ?",
                Self.values(of: field, database))
            return
        }
        try connection.run(
            """
            INSERT OR REPLACE INTO field_uses(database, record_type, field, type, records)
            VALUES (?, ?, ?, ?, ?)
            """, Self.values(of: field, database) + [.text(use.type), .integer(use.records)])
    }

    private static func values(of field: FieldKey, _ database: Int64) -> [SQLiteValue] {
        [.integer(database), .text(field.recordType.text), .text(field.field.text)]
    }
}

/// The table of field types, also in files of the time when all users of a container shared them.
enum FieldUseTable {
    static let table = """
        CREATE TABLE field_uses(
            database INTEGER NOT NULL, record_type TEXT NOT NULL, field TEXT NOT NULL,
            type TEXT NOT NULL, records INTEGER NOT NULL,
            PRIMARY KEY (database, record_type, field)) WITHOUT ROWID;
        """

    /// Makes the table where it is missing, from the fields that each database holds. Cost: one
    /// reading of all records, once in the life of an old file.
    static func prepare(_ connection: Connection) throws {
        let isThere = try connection.value(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'field_uses'")
        guard isThere == nil else { return }
        try connection.script(table)
        try connection.script("DROP TABLE IF EXISTS field_types")
        let transaction = SQLiteTransaction(connection)
        for (database, uses) in try counted(connection) {
            for (field, use) in uses { try transaction.save(use, of: field, in: database) }
        }
    }

    /// A record that cannot be read counts for nothing.
    private static func counted(_ connection: Connection) throws -> [Int64: [FieldKey: FieldUse]] {
        var uses: [Int64: [FieldKey: FieldUse]] = [:]
        try connection.forEachRow(
            """
            SELECT z.database, r.type, r.fields FROM zones z JOIN records r ON r.zone = z.id
            WHERE r.deleted = 0
            """
        ) { row in
            let type = row.text(at: 1) ?? ""
            let fields = row.blob(at: 2).flatMap { try? RecordArchive.decodeFields($0) } ?? [:]
            for (name, value) in fields {
                guard let value else { continue }
                uses[row.int64(at: 0), default: [:]][
                    FieldKey(name, of: type), default: FieldUse(type: value.schemaType, records: 0)
                ].records += 1
            }
        }
        return uses
    }
}
