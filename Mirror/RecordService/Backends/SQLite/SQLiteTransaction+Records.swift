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

    func record(named name: String, in zone: Int64) throws -> RecordRow? {
        do {
            return try first(
                "SELECT \(Self.columns) FROM records WHERE zone = ? AND name = ?",
                [.integer(zone), .text(name)], Self.record)
        } catch let fault as SQLiteFault where fault.isCorrupt {
            throw DamagedRow(cause: fault.message)
        }
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

    func liveRecords(
        in zone: Int64, after name: String, _ body: (RecordRow) throws -> Bool
    ) throws {
        let statement = try connection.compile(
            """
            SELECT \(Self.columns) FROM records
            WHERE zone = ? AND name > ? AND deleted = 0 ORDER BY name
            """)
        try statement.bind([.integer(zone), .text(name)])
        while try statement.step() {
            guard try body(Self.record(statement)) else { return }
        }
    }

    // MARK: The feed

    func records(
        _ reading: FeedReading, _ body: (FeedEntry) throws -> Bool
    ) throws -> FeedEnd {
        let bound = reading.types == nil ? nil : try reach(of: reading)
        var part = reading.ending(at: bound?.change)
        var given = 0
        var last: Int64?
        do {
            try rows(part) { row in
                given += 1
                last = row.change
                return try body(.record(row))
            }
        } catch let fault as SQLiteFault where fault.isCorrupt {
            if let last { part = part.going(onBehind: last) }
            part.limit -= given
            given += try recordsOneByOne(part) { entry in
                last = entry.change
                return try body(entry)
            }
        }
        guard let bound, given < reading.limit else {
            return FeedEnd(
                lookedAt: bound?.count ?? given, stoppedAt: given < reading.limit ? nil : last)
        }
        let isWhole = bound.count < reading.lookedAtMax
        return FeedEnd(lookedAt: bound.count, stoppedAt: isWhole ? nil : bound.change)
    }

    /// The last change among the rows that may be looked at, by the index alone.
    private func reach(of reading: FeedReading) throws -> (change: Int64, count: Int) {
        let found = try first(
            """
            SELECT min(change), max(change), count(*) FROM (SELECT change FROM records
            WHERE zone = ? AND change > ? AND change <= ? ORDER BY \(reading.order) LIMIT ?)
            """,
            [
                .integer(reading.zone), .integer(reading.after), .integer(reading.through),
                SQLiteValue(reading.lookedAtMax),
            ]
        ) { ($0.int64(at: reading.isNewestFirst ? 0 : 1), Int($0.int64(at: 2))) }
        guard let found, found.1 > 0 else { return (reading.start, 0) }
        return (found.0, found.1)
    }

    private func rows(_ reading: FeedReading, _ body: (RecordRow) throws -> Bool) throws {
        let types = reading.types ?? []
        let marks = Array(repeating: "?", count: types.count).joined(separator: ",")
        let statement = try connection.prepare(
            """
            SELECT \(Self.columns) FROM records
            WHERE zone = ? AND change > ? AND change <= ?
            \(reading.types == nil ? "" : "AND type IN (\(marks))")
            ORDER BY \(reading.order) LIMIT ?
            """)
        defer { statement.reset() }
        try statement.bind(
            [
                .integer(reading.zone), .integer(reading.after), .integer(reading.through),
            ] + types.map { .text($0) } + [SQLiteValue(reading.limit)])
        while try statement.step() {
            guard try body(Self.record(statement)) else { return }
        }
    }

    /// Reads on where a page of the file is broken: the changes by their index, then each row by
    /// itself, so that only rows on the broken page are missed.
    private func recordsOneByOne(
        _ reading: FeedReading, _ body: (FeedEntry) throws -> Bool
    ) throws -> Int {
        let changes = try all(
            """
            SELECT change FROM records INDEXED BY records_by_change
            WHERE zone = ? AND change > ? AND change <= ? ORDER BY \(reading.order) LIMIT ?
            """,
            [
                .integer(reading.zone), .integer(reading.after), .integer(reading.through),
                SQLiteValue(reading.lookedAtMax),
            ]
        ) { $0.int64(at: 0) }
        var given = 0
        for change in changes where given < reading.limit {
            guard let entry = try entry(at: change, reading) else { continue }
            given += 1
            guard try body(entry) else { return given }
        }
        return given
    }

    private func entry(at change: Int64, _ reading: FeedReading) throws -> FeedEntry? {
        var one = reading
        one.after = change - 1
        one.through = change
        one.limit = 1
        do {
            var found: RecordRow?
            try rows(one) {
                found = $0
                return false
            }
            return found.map { .record($0) }
        } catch let fault as SQLiteFault where fault.isCorrupt {
            let name = try? first(
                "SELECT name FROM records WHERE zone = ? AND change = ?",
                [.integer(reading.zone), .integer(change)]
            ) { $0.text(at: 0) }
            return .damaged(name: name ?? nil, change: change)
        }
    }
}
