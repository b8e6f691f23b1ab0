internal import RecordWire
internal import SQLiteDriver

/// Rows of schemas.
extension SQLiteTransaction {
    static let schemaTable = """
        CREATE TABLE IF NOT EXISTS schemas(
            container TEXT NOT NULL, environment TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (container, environment)) WITHOUT ROWID;
        """

    func schemaText(container: String, environment: String) throws -> String? {
        try first(
            "SELECT text FROM schemas WHERE container = ? AND environment = ?",
            [.text(container), .text(environment)]
        ) { $0.text(at: 0) ?? "" }
    }

    func saveSchema(_ text: String, container: String, environment: String) throws {
        try connection.run(
            """
            INSERT OR REPLACE INTO schemas(container, environment, text) VALUES (?, ?, ?)
            """, [.text(container), .text(environment), .text(text)])
    }

    func countUses(
        of field: FieldKey, container: String, environment: String
    ) throws -> FieldHolders {
        try first(
            """
            SELECT ifnull(sum(f.records), 0), count(*)
            FROM field_uses f JOIN databases d ON d.id = f.database
            WHERE d.container = ? AND d.environment = ? AND f.record_type = ? AND f.field = ?
            """,
            [
                .text(container), .text(environment), .text(field.recordType.text),
                .text(field.field.text),
            ]
        ) { FieldHolders(records: Int($0.int64(at: 0)), databases: Int($0.int64(at: 1))) }
            ?? FieldHolders()
    }

    func usedFields(
        container: String, environment: String, limit: Int
    ) throws -> [(key: FieldKey, type: String)] {
        try all(
            """
            SELECT DISTINCT f.record_type, f.field, f.type
            FROM field_uses f JOIN databases d ON d.id = f.database
            WHERE d.container = ? AND d.environment = ?
            ORDER BY f.record_type, f.field, f.type LIMIT ?
            """, [.text(container), .text(environment), .integer(Int64(limit))]
        ) { row in
            (FieldKey(row.text(at: 1) ?? "", of: row.text(at: 0) ?? ""), row.text(at: 2) ?? "")
        }
    }
}
