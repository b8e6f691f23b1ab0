internal import Foundation
internal import RecordWire
internal import SQLiteDriver

/// Rows of records.
extension SQLiteTransaction {
    private static let columns = """
        name, type, change, deleted, created_at, created_by, created_on, modified_at, modified_by,
        modified_on, fields, write_ids, replays
        """

    private static func record(_ row: Statement) -> RecordRow {
        RecordRow(
            name: row.text(at: 0) ?? "", type: row.text(at: 1) ?? "", change: row.int64(at: 2),
            isDeleted: row.int64(at: 3) != 0, fields: row.blob(at: 10) ?? Data(),
            created: RecordStamp(
                timestamp: row.int64(at: 4), userRecordName: row.text(at: 5),
                deviceID: row.text(at: 6)),
            modified: RecordStamp(
                timestamp: row.int64(at: 7), userRecordName: row.text(at: 8),
                deviceID: row.text(at: 9)),
            writeIDs: RowOrigins.writeIDs(row.text(at: 11)),
            replays: RowOrigins.replays(row.text(at: 12)))
    }

    func records(named names: [String], in zone: Int64) throws -> [String: RecordRow] {
        let statement = try connection.prepare(
            "SELECT \(Self.columns) FROM records WHERE zone = ? AND name = ?")
        defer { statement.reset() }
        var rows: [String: RecordRow] = [:]
        rows.reserveCapacity(names.count)
        for name in names {
            statement.reset()
            try statement.bind([.integer(zone), .text(name)])
            if try statement.step() { rows[name] = Self.record(statement) }
        }
        return rows
    }

    func save(_ records: [RecordRow], in zone: Int64) throws {
        let statement = try connection.prepare(
            """
            INSERT INTO records(zone, \(Self.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (zone, name) DO UPDATE SET
                type = excluded.type, change = excluded.change, deleted = excluded.deleted,
                created_at = excluded.created_at, created_by = excluded.created_by,
                created_on = excluded.created_on, modified_at = excluded.modified_at,
                modified_by = excluded.modified_by, modified_on = excluded.modified_on,
                fields = excluded.fields, write_ids = excluded.write_ids,
                replays = excluded.replays
            """)
        defer { statement.reset() }
        for record in records {
            statement.reset()
            try statement.bind([
                .integer(zone), .text(record.name), .text(record.type), .integer(record.change),
                SQLiteValue(record.isDeleted), .integer(record.created.timestamp),
                SQLiteValue(record.created.userRecordName), SQLiteValue(record.created.deviceID),
                .integer(record.modified.timestamp), SQLiteValue(record.modified.userRecordName),
                SQLiteValue(record.modified.deviceID), .blob(record.fields),
                SQLiteValue(RowOrigins.text(record.writeIDs)),
                SQLiteValue(RowOrigins.text(record.replays)),
            ])
            while try statement.step() {}
        }
    }

    func removeRecords(in zone: Int64) throws {
        try connection.run("DELETE FROM records WHERE zone = ?", [.integer(zone)])
    }

    func records(
        in zone: Int64, changedAfter change: Int64, limit: Int, types: [String]?,
        _ body: (RecordRow) throws -> Bool
    ) throws {
        var values: [SQLiteValue] = [.integer(zone), .integer(change)]
        var filter = ""
        if let types {
            filter =
                "AND type IN (\(Array(repeating: "?", count: types.count).joined(separator: ",")))"
            values += types.map { .text($0) }
        }
        let statement = try connection.prepare(
            """
            SELECT \(Self.columns) FROM records
            WHERE zone = ? AND change > ? \(filter)
            ORDER BY change LIMIT ?
            """)
        defer { statement.reset() }
        try statement.bind(values + [SQLiteValue(limit)])
        while try statement.step() {
            guard try body(Self.record(statement)) else { return }
        }
    }
}
