internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Rows of queries: indexes, and an entry for each value of a record in them.
extension SQLiteTransaction {
    /// Entries name records by zone and name: row numbers change when a file is copied by VACUUM.
    static let queryTables = """
        CREATE TABLE IF NOT EXISTS query_indexes(
            id INTEGER PRIMARY KEY, database INTEGER NOT NULL, record_type TEXT NOT NULL,
            kind INTEGER NOT NULL, field TEXT NOT NULL,
            through_zone INTEGER, through_name TEXT,
            UNIQUE (database, record_type, kind, field));
        CREATE TABLE IF NOT EXISTS query_entries(
            query_index INTEGER NOT NULL, zone INTEGER NOT NULL, form BLOB NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (query_index, zone, form, name)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS query_entries_by_record ON query_entries(zone, name);
        CREATE TABLE IF NOT EXISTS query_declarations(
            container TEXT NOT NULL, record_type TEXT NOT NULL, field TEXT NOT NULL,
            PRIMARY KEY (container, record_type, field)) WITHOUT ROWID;
        """

    // MARK: Indexes

    func queryIndexes(in database: Int64) throws -> [QueryIndexRow] {
        try all(
            """
            SELECT id, record_type, kind, field, through_zone, through_name FROM query_indexes
            WHERE database = ?
            """, [.integer(database)]
        ) { row in
            QueryIndexRow(
                id: row.int64(at: 0), recordType: row.text(at: 1) ?? "",
                key: QueryIndexKey(
                    QueryIndexKey.Kind(rawValue: row.int64(at: 2)) ?? .value,
                    row.text(at: 3) ?? ""),
                progress: row.isNull(at: 4)
                    ? .whole : .through(zone: row.int64(at: 4), name: row.text(at: 5) ?? ""))
        }
    }

    func makeQueryIndex(
        _ key: QueryIndexKey, of recordType: String, in database: Int64
    ) throws -> QueryIndexRow {
        try connection.run(
            """
            INSERT INTO query_indexes(
                database, record_type, kind, field, through_zone, through_name)
            VALUES (?, ?, ?, ?, 0, '')
            """,
            [
                .integer(database), .text(recordType), .integer(key.kind.rawValue),
                .text(key.name.text),
            ])
        return QueryIndexRow(
            id: connection.lastInsertedRowID, recordType: recordType, key: key, progress: .none)
    }

    func save(_ index: QueryIndexRow) throws {
        var values: [SQLiteValue] = [.null, .null]
        if case .through(let zone, let name) = index.progress {
            values = [.integer(zone), .text(name)]
        }
        try connection.run(
            "UPDATE query_indexes SET through_zone = ?, through_name = ? WHERE id = ?",
            values + [.integer(index.id)])
    }

    func emptyQueryIndexes(in database: Int64) throws -> [Int64] {
        try all(
            """
            SELECT id FROM query_indexes WHERE database = ?
                AND NOT EXISTS (SELECT 1 FROM query_entries WHERE query_index = query_indexes.id)
            """, [.integer(database)]
        ) { $0.int64(at: 0) }
    }

    func removeQueryIndex(_ id: Int64) throws {
        try connection.run("DELETE FROM query_indexes WHERE id = ?", [.integer(id)])
    }

    // MARK: Entries

    func removeEntries(ofIndex index: Int64, in zone: Int64, limit: Int) throws -> Int {
        try connection.run(
            """
            DELETE FROM query_entries WHERE (query_index, zone, form, name) IN (
                SELECT query_index, zone, form, name FROM query_entries
                WHERE query_index = ? AND zone = ? LIMIT ?)
            """, [.integer(index), .integer(zone), SQLiteValue(limit)])
        return connection.changes
    }

    func removeEntries(ofRecords names: [String], in zone: Int64) throws {
        for name in names {
            try connection.run(
                "DELETE FROM query_entries WHERE zone = ? AND name = ?",
                [.integer(zone), .text(name)])
        }
    }

    func removeEntries(_ entries: [IndexEntry], in zone: Int64) throws {
        for entry in entries {
            try connection.run(
                """
                DELETE FROM query_entries
                WHERE query_index = ? AND zone = ? AND form = ? AND name = ?
                """, Self.values(entry, zone))
        }
    }

    func addEntries(_ entries: [IndexEntry], in zone: Int64) throws {
        for entry in entries {
            try connection.run(
                """
                INSERT OR IGNORE INTO query_entries(query_index, zone, form, name)
                VALUES (?, ?, ?, ?)
                """, Self.values(entry, zone))
        }
    }

    private static func values(_ entry: IndexEntry, _ zone: Int64) -> [SQLiteValue] {
        [
            .integer(entry.index), .integer(zone), .blob(Data(entry.form.bytes)),
            .text(entry.name),
        ]
    }

    func entries(_ reading: EntryReading) throws -> [QueryEntry] {
        let way = reading.descending ? "DESC" : "ASC"
        let (conditions, values) = Self.conditions(of: reading)
        return try all(
            """
            SELECT form, name FROM query_entries WHERE \(conditions)
            ORDER BY form \(way), name \(way) LIMIT ?
            """, values + [SQLiteValue(reading.limit)]
        ) {
            QueryEntry(
                form: QueryForm(bytes: Array($0.blob(at: 0) ?? Data())), name: $0.text(at: 1) ?? "")
        }
    }

    func countEntries(_ reading: EntryReading) throws -> Int {
        let (conditions, values) = Self.conditions(of: reading)
        let count = try connection.value(
            """
            SELECT count(*) FROM (SELECT 1 FROM query_entries WHERE \(conditions) LIMIT ?)
            """, values + [SQLiteValue(reading.limit)])
        return Int(count?.int64 ?? 0)
    }

    private static func conditions(of reading: EntryReading) -> (String, [SQLiteValue]) {
        var text = "query_index = ? AND zone = ? AND form >= ?"
        var values: [SQLiteValue] = [
            .integer(reading.index), .integer(reading.zone),
            .blob(Data(reading.range.lower.bytes)),
        ]
        if let upper = reading.range.upper {
            text += " AND form < ?"
            values.append(.blob(Data(upper.bytes)))
        }
        if let after = reading.after {
            text += " AND (form, name) \(reading.descending ? "<" : ">") (?, ?)"
            values += [.blob(Data(after.form.bytes)), .text(after.name)]
        }
        return (text, values)
    }

    // MARK: Declared fields

    func isDeclared(_ field: String, of recordType: String, container: String) throws -> Bool {
        try first(
            """
            SELECT 1 FROM query_declarations
            WHERE container = ? AND record_type = ? AND field = ?
            """, [.text(container), .text(recordType), .text(field)]
        ) { _ in true } ?? false
    }

    func declare(_ field: String, of recordType: String, container: String) throws {
        try connection.run(
            """
            INSERT OR IGNORE INTO query_declarations(container, record_type, field)
            VALUES (?, ?, ?)
            """, [.text(container), .text(recordType), .text(field)])
    }

    func declarations(container: String) throws -> [(recordType: String, field: String)] {
        try all(
            """
            SELECT record_type, field FROM query_declarations WHERE container = ?
            ORDER BY record_type, field
            """, [.text(container)]
        ) { ($0.text(at: 0) ?? "", $0.text(at: 1) ?? "") }
    }
}
