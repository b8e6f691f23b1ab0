internal import Foundation
internal import PostgresDriver
internal import RecordWire

/// Rows of records.
extension PostgresTransaction {
    static let columns = """
        name, type, change, deleted, created_at, created_by, created_on, modified_at, modified_by,
        modified_on, fields, write_ids, replays
        """

    /// Longer fields are read by themselves, so that many records at once take bounded memory.
    private static let aheadBytesMax = 16_384
    /// Rows are written in groups of about so many bytes and so many rows.
    private static let groupBytesMax = 4 << 20
    private static let groupRowsMax = 1_000

    static func record(_ row: PostgresRow) -> RecordRow {
        RecordRow(
            name: row.text(at: 0), type: row.text(at: 1), change: row.int64(at: 2),
            isDeleted: row.bool(at: 3), fields: row.data(at: 10),
            created: RecordStamp(
                timestamp: row.int64(at: 4), userRecordName: row.textIfAny(at: 5),
                deviceID: row.textIfAny(at: 6)),
            modified: RecordStamp(
                timestamp: row.int64(at: 7), userRecordName: row.textIfAny(at: 8),
                deviceID: row.textIfAny(at: 9)),
            writeIDs: RowOrigins.writeIDs(row.textIfAny(at: 11)),
            replays: RowOrigins.replays(row.textIfAny(at: 12)))
    }

    // MARK: By name

    /// Reads the records in one trip; each is given once, by `record(named:in:)`.
    func expect(records names: [String], in zone: Int64) throws {
        var expected = ExpectedRecords(names, in: zone)
        let short = """
            name, type, change, deleted, created_at, created_by, created_on, modified_at,
            modified_by, modified_on,
            CASE WHEN octet_length(fields) <= \(Self.aheadBytesMax) THEN fields END,
            write_ids, replays
            """
        // One look at the primary key for each name: for `name = ANY($2)` a server without
        // statistics reads the whole zone.
        let found = try connection.rows(
            """
            SELECT found.* FROM unnest($2::bytea[]) AS wanted(wanted_name) CROSS JOIN LATERAL (
                SELECT \(short) FROM records
                WHERE zone = $1 AND name = wanted_name LIMIT 1) AS found
            """, [.integer(zone), .names(names)])
        for row in found {
            if row.isNull(at: 10) {
                expected.noteUnread(row.text(at: 0))
            } else {
                expected.note(Self.record(row))
            }
        }
        self.expected = expected
    }

    func record(named name: String, in zone: Int64) throws -> RecordRow? {
        if let known = expected.take(name, in: zone) { return known }
        do {
            return try first(
                "SELECT \(Self.columns) FROM records WHERE zone = $1 AND name = $2",
                [.integer(zone), .name(name)], Self.record)
        } catch let fault as PostgresFault where fault.isDamage {
            throw DamagedRow(cause: fault.message)
        }
    }

    // MARK: Writing

    /// The server writes those of which the zone has none while the next ones are made ready.
    func begin(saving records: ArraySlice<RecordRow>, in zone: Int64) throws {
        try insertNew(among: records, in: zone)
        try connection.begin()
    }

    /// Of rows of one name the last counts.
    func save(_ records: [RecordRow], in zone: Int64) throws {
        let rows = records.filter { !expected.hasInserted($0, in: zone) }
        let others = try insertNew(among: rows[...], in: zone)
        expected = ExpectedRecords()
        var last: [ExactName: Int64] = [:]
        for row in others { last[ExactName(row.name)] = row.change }
        try inGroups(others.filter { last[ExactName($0.name)] == $0.change }) {
            try write($0, in: zone)
        }
        try connection.begin()
    }

    /// Inserts those of which the zone is known to have none; returns the others.
    @discardableResult
    private func insertNew(
        among rows: ArraySlice<RecordRow>, in zone: Int64
    ) throws -> [RecordRow] {
        var (new, others): ([RecordRow], [RecordRow]) = ([], [])
        var stamp: RecordStamp?
        for row in rows {
            guard row.created == stamp ?? row.created, row.modified == row.created,
                expected.insert(row, in: zone)
            else {
                others.append(row)
                continue
            }
            stamp = row.created
            new.append(row)
        }
        if let stamp { try inGroups(new) { try insert($0, by: stamp, in: zone) } }
        return others
    }

    private func inGroups(_ rows: [RecordRow], _ body: ([RecordRow]) throws -> Void) rethrows {
        var group: [RecordRow] = []
        var bytes = 0
        for row in rows {
            group.append(row)
            bytes += row.fields.count
            guard bytes >= Self.groupBytesMax || group.count >= Self.groupRowsMax else { continue }
            try body(group)
            group = []
            bytes = 0
        }
        if !group.isEmpty { try body(group) }
    }

    /// Rows of which the zone has none, all made by one request: looking for those that are in
    /// their way, and saying the same of each, would take twice as long.
    private func insert(_ rows: [RecordRow], by stamp: RecordStamp, in zone: Int64) throws {
        try connection.send(
            """
            INSERT INTO records(zone, \(Self.columns))
            SELECT $1, r.name, r.type, r.change, r.deleted <> 0, $2::bigint, $3::bytea, $4::bytea,
                $2, $3, $4, r.fields, r.write_ids, r.replays
            FROM unnest(
                $5::bytea[], $6::bytea[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[],
                $11::bytea[])
                AS r(name, type, change, deleted, fields, write_ids, replays)
            """,
            [
                .integer(zone), .integer(stamp.timestamp),
                PostgresValue(nameOf: stamp.userRecordName), PostgresValue(nameOf: stamp.deviceID),
                .names(rows.map(\.name)), .names(rows.map(\.type)),
                .integers(rows.map(\.change)), .integers(rows.map { $0.isDeleted ? 1 : 0 }),
                .byteStrings(rows.map(\.fields)),
                .names(rows.map { RowOrigins.text($0.writeIDs) }),
                .names(rows.map { RowOrigins.text($0.replays) }),
            ])
    }

    private func write(_ records: [RecordRow], in zone: Int64) throws {
        try connection.send(
            """
            INSERT INTO records(zone, \(Self.columns))
            SELECT $1, r.name, r.type, r.change, r.deleted <> 0, r.created_at, r.created_by,
                r.created_on, r.modified_at, r.modified_by, r.modified_on, r.fields, r.write_ids,
                r.replays
            FROM unnest(
                $2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[],
                $8::bytea[], $9::bigint[], $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[],
                $14::bytea[]) AS r(\(Self.columns))
            ON CONFLICT (zone, name) DO UPDATE SET
                type = excluded.type, change = excluded.change, deleted = excluded.deleted,
                created_at = excluded.created_at, created_by = excluded.created_by,
                created_on = excluded.created_on, modified_at = excluded.modified_at,
                modified_by = excluded.modified_by, modified_on = excluded.modified_on,
                fields = excluded.fields, write_ids = excluded.write_ids,
                replays = excluded.replays
            """,
            [
                .integer(zone), .names(records.map(\.name)), .names(records.map(\.type)),
                .integers(records.map(\.change)), .integers(records.map { $0.isDeleted ? 1 : 0 }),
                .integers(records.map(\.created.timestamp)),
                .names(records.map { $0.created.userRecordName }),
                .names(records.map { $0.created.deviceID }),
                .integers(records.map(\.modified.timestamp)),
                .names(records.map { $0.modified.userRecordName }),
                .names(records.map { $0.modified.deviceID }),
                .byteStrings(records.map(\.fields)),
                .names(records.map { RowOrigins.text($0.writeIDs) }),
                .names(records.map { RowOrigins.text($0.replays) }),
            ])
    }
}
