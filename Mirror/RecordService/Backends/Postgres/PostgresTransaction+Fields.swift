internal import PostgresDriver
internal import RecordWire

/// Types of fields, per database, with the number of records that have each; references that do
/// something; deleted zones' records.
extension PostgresTransaction {
    func fieldUse(_ field: FieldKey, in database: Int64) throws -> FieldUse? {
        try first(
            """
            SELECT type, records FROM field_uses
            WHERE database = $1 AND record_type = $2 AND field = $3
            """, Self.values(of: field, database), of: "field_uses"
        ) { FieldUse(type: $0.text(at: 0), records: $0.int64(at: 1)) }
    }

    func save(_ use: FieldUse, of field: FieldKey, in database: Int64) throws {
        guard use.records > 0 else {
            return try connection.send(
                "DELETE FROM field_uses WHERE database = $1 AND record_type = $2 AND field = $3",
                Self.values(of: field, database))
        }
        try connection.send(
            """
            INSERT INTO field_uses(database, record_type, field, type, records)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (database, record_type, field)
            DO UPDATE SET type = excluded.type, records = excluded.records
            """, Self.values(of: field, database) + [.name(use.type), .integer(use.records)])
    }

    private static func values(of field: FieldKey, _ database: Int64) -> [PostgresValue] {
        [.integer(database), .name(field.recordType.text), .name(field.field.text)]
    }

    // MARK: Links

    func hasLinks(in zone: Int64) throws -> Bool {
        try isThere(
            "SELECT 1 FROM reference_links WHERE zone = $1 LIMIT 1", [.integer(zone)],
            of: "reference_links")
    }

    func sources(
        of target: String, _ action: ReferenceLink.Action, in zone: Int64, limit: Int
    ) throws -> [String] {
        try all(
            """
            SELECT source FROM reference_links WHERE zone = $1 AND target = $2 AND action = $3
            ORDER BY source LIMIT $4
            """,
            [.integer(zone), .name(target), .integer(action.rawValue), PostgresValue(limit)]
        ) { $0.text(at: 0) }
    }

    func replaceLinks(_ links: [ExactName: Set<ReferenceLink>], in zone: Int64) throws {
        try connection.send(
            "DELETE FROM reference_links WHERE zone = $1 AND source = ANY($2)",
            [.integer(zone), .names(links.keys.map(\.text).sorted())])
        let rows = links.flatMap { source, links in links.map { ($0, source.text) } }
        guard !rows.isEmpty else { return }
        try connection.send(
            """
            INSERT INTO reference_links(zone, target, action, source)
            SELECT $1, l.target, l.action, l.source
            FROM unnest($2::bytea[], $3::bigint[], $4::bytea[]) AS l(target, action, source)
            """,
            [
                .integer(zone), .names(rows.map(\.0.target.text)),
                .integers(rows.map(\.0.action.rawValue)), .names(rows.map(\.1)),
            ])
    }
}
