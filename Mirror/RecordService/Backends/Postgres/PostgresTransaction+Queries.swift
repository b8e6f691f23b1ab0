internal import Foundation
internal import PostgresDriver
internal import RecordWire

/// Rows of queries: indexes, and an entry for each value of a record in them.
extension PostgresTransaction {
    // MARK: Indexes

    func queryIndexes(in database: Int64) throws -> [QueryIndexRow] {
        try all(
            """
            SELECT id, record_type, kind, field, through_zone, through_name FROM query_indexes
            WHERE database = $1 ORDER BY id
            """, [.integer(database)], of: "query_indexes"
        ) { row in
            QueryIndexRow(
                id: row.int64(at: 0), recordType: row.text(at: 1),
                key: QueryIndexKey(
                    QueryIndexKey.Kind(rawValue: row.int64(at: 2)) ?? .value, row.text(at: 3)),
                progress: row.isNull(at: 4)
                    ? .whole : .through(zone: row.int64(at: 4), name: row.text(at: 5)))
        }
    }

    func makeQueryIndex(
        _ key: QueryIndexKey, of recordType: String, in database: Int64
    ) throws -> QueryIndexRow {
        let id = try number(
            """
            INSERT INTO query_indexes(
                database, record_type, kind, field, through_zone, through_name)
            VALUES ($1, $2, $3, $4, 0, ''::bytea) RETURNING id
            """,
            [
                .integer(database), .name(recordType), .integer(key.kind.rawValue),
                .name(key.name.text),
            ])
        return QueryIndexRow(id: id ?? 0, recordType: recordType, key: key, progress: .none)
    }

    func save(_ index: QueryIndexRow) throws {
        var values: [PostgresValue] = [.null, .null]
        if case .through(let zone, let name) = index.progress {
            values = [.integer(zone), .name(name)]
        }
        try connection.send(
            "UPDATE query_indexes SET through_zone = $1, through_name = $2 WHERE id = $3",
            values + [.integer(index.id)])
    }

    func emptyQueryIndexes(in database: Int64) throws -> [Int64] {
        try all(
            """
            SELECT id FROM query_indexes AS i WHERE database = $1 AND NOT EXISTS (
                SELECT 1 FROM zones AS z JOIN query_entries AS e ON e.zone = z.id
                WHERE z.database = $1 AND e.query_index = i.id)
            """, [.integer(database)]
        ) { $0.int64(at: 0) }
    }

    func removeQueryIndex(_ id: Int64) throws {
        try connection.send("DELETE FROM query_indexes WHERE id = $1", [.integer(id)])
    }

    // MARK: Entries

    func removeEntries(ofIndex index: Int64, in zone: Int64, limit: Int) throws -> Int {
        let count = try number(
            """
            WITH gone AS (
                DELETE FROM query_entries WHERE ctid = ANY(ARRAY(
                    SELECT ctid FROM query_entries WHERE zone = $1 AND query_index = $2 LIMIT $3))
                RETURNING 1)
            SELECT count(*) FROM gone
            """, [.integer(zone), .integer(index), PostgresValue(limit)])
        return Int(count ?? 0)
    }

    func removeEntries(ofRecords names: [String], in zone: Int64) throws {
        guard !names.isEmpty else { return }
        try connection.send(
            "DELETE FROM query_entries WHERE zone = $1 AND name = ANY($2)",
            [.integer(zone), .names(names)])
    }

    func removeEntries(_ entries: [IndexEntry], in zone: Int64) throws {
        try inGroups(entries) { values in
            try connection.send(
                """
                DELETE FROM query_entries AS q
                USING unnest($2::bigint[], $3::bytea[], $4::bytea[]) AS e(query_index, form, name)
                WHERE q.zone = $1 AND q.query_index = e.query_index AND q.form = e.form
                    AND q.name = e.name
                """, [.integer(zone)] + values)
        }
    }

    func addEntries(_ entries: [IndexEntry], in zone: Int64) throws {
        try inGroups(entries) { values in
            try connection.send(
                """
                INSERT INTO query_entries(zone, query_index, form, name)
                SELECT $1, e.query_index, e.form, e.name
                FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) AS e(query_index, form, name)
                ON CONFLICT (zone, query_index, form, name) DO NOTHING
                """, [.integer(zone)] + values)
        }
    }

    /// So many entries go with one statement.
    private static let entriesMax = 5_000

    private func inGroups(
        _ entries: [IndexEntry], _ body: ([PostgresValue]) throws -> Void
    ) rethrows {
        for start in stride(from: 0, to: entries.count, by: Self.entriesMax) {
            let group = entries[start...].prefix(Self.entriesMax)
            try body([
                .integers(group.map(\.index)), .byteStrings(group.map { Data($0.form.bytes) }),
                .names(group.map(\.name)),
            ])
        }
    }

    func entries(_ reading: EntryReading) throws -> [QueryEntry] {
        let way = reading.descending ? "DESC" : "ASC"
        let (conditions, values) = Self.conditions(of: reading)
        return try all(
            """
            SELECT form, name FROM query_entries WHERE \(conditions)
            ORDER BY form \(way), name \(way) LIMIT $1
            """, values
        ) { QueryEntry(form: QueryForm(bytes: Array($0.data(at: 0))), name: $0.text(at: 1)) }
    }

    func countEntries(_ reading: EntryReading) throws -> Int {
        let (conditions, values) = Self.conditions(of: reading)
        let count = try number(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM query_entries WHERE \(conditions) LIMIT $1) AS some_of_them
            """, values)
        return Int(count ?? 0)
    }

    /// The limit is $1.
    private static func conditions(of reading: EntryReading) -> (String, [PostgresValue]) {
        var text = "query_index = $2 AND zone = $3 AND form >= $4"
        var values: [PostgresValue] = [
            PostgresValue(reading.limit), .integer(reading.index), .integer(reading.zone),
            .bytes(Data(reading.range.lower.bytes)),
        ]
        if let upper = reading.range.upper {
            values.append(.bytes(Data(upper.bytes)))
            text += " AND form < $\(values.count)"
        }
        if let after = reading.after {
            values += [.bytes(Data(after.form.bytes)), .name(after.name)]
            text += " AND (form, name) \(reading.descending ? "<" : ">") "
            text += "($\(values.count - 1), $\(values.count))"
        }
        return (text, values)
    }

    // MARK: Declared fields

    func isDeclared(_ field: String, of recordType: String, container: String) throws -> Bool {
        try isThere(
            """
            SELECT 1 FROM query_declarations
            WHERE container = $1 AND record_type = $2 AND field = $3
            """, [.name(container), .name(recordType), .name(field)])
    }

    func declare(_ field: String, of recordType: String, container: String) throws {
        try connection.send(
            """
            INSERT INTO query_declarations(container, record_type, field) VALUES ($1, $2, $3)
            ON CONFLICT (container, record_type, field) DO NOTHING
            """, [.name(container), .name(recordType), .name(field)])
    }

    func declarations(container: String) throws -> [(recordType: String, field: String)] {
        try all(
            """
            SELECT record_type, field FROM query_declarations WHERE container = $1
            ORDER BY record_type, field
            """, [.name(container)]
        ) { ($0.text(at: 0), $0.text(at: 1)) }
    }
}
