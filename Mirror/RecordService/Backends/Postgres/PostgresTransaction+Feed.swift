internal import Foundation
internal import PostgresDriver
internal import RecordWire

/// Records in an order, some at a time, so that large ones take bounded memory.
extension PostgresTransaction {
    private static let chunkBytesMax = 1 << 20
    private static let chunkRowsMax = 1_000

    // MARK: The feed

    func records(
        _ reading: FeedReading, _ body: (FeedEntry) throws -> Bool
    ) throws -> FeedEnd {
        let bound = reading.types == nil ? nil : try reach(of: reading)
        var given = 0
        var last: Int64?
        try rows(reading.ending(at: bound?.change)) { row in
            given += 1
            last = row.change
            return try body(.record(row))
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
            WHERE zone = $1 AND change > $2 AND change <= $3 ORDER BY \(reading.order) LIMIT $4)
            AS next
            """,
            [
                .integer(reading.zone), .integer(reading.after), .integer(reading.through),
                PostgresValue(reading.lookedAtMax),
            ]
        ) { ($0.int64(at: reading.isNewestFirst ? 0 : 1), Int($0.int64(at: 2))) }
        guard let found, found.1 > 0 else { return (reading.start, 0) }
        return (found.0, found.1)
    }

    private func rows(_ reading: FeedReading, _ body: (RecordRow) throws -> Bool) throws {
        let types: [PostgresValue] = reading.types.map { [.names($0)] } ?? []
        var left = reading
        while left.limit > 0 {
            let isCut = try chunk(
                where: "zone = $1 AND change > $2 AND change <= $3"
                    + (types.isEmpty ? "" : " AND type = ANY($5)"),
                order: reading.order, limit: "$4",
                [
                    .integer(reading.zone), .integer(left.after), .integer(left.through),
                    PostgresValue(min(left.limit, Self.chunkRowsMax)),
                ] + types
            ) { row in
                left = left.going(onBehind: row.change)
                left.limit -= 1
                return try body(row)
            }
            guard isCut else { return }
        }
    }

    /// Gives the live records of a zone by name, until `body` returns false.
    func liveRecords(
        in zone: Int64, after name: String, _ body: (RecordRow) throws -> Bool
    ) throws {
        var reached = name
        while try chunk(
            where: "zone = $1 AND name > $2 AND NOT deleted", order: "name", limit: "$3",
            [.integer(zone), .name(reached), PostgresValue(Self.chunkRowsMax)],
            { row in
                reached = row.name
                return try body(row)
            })
        {}
    }

    // MARK: Chunks

    /// Gives rows up to about `chunkBytesMax`, at least one. Returns whether more may follow; false
    /// too where `body` returned false.
    func chunk(
        where condition: String, order: String, limit: String, _ values: [PostgresValue],
        _ body: (RecordRow) throws -> Bool
    ) throws -> Bool {
        let found = try connection.rows(
            """
            SELECT \(Self.columns), total FROM (
                SELECT \(Self.columns), sum(octet_length(fields)) OVER (ORDER BY \(order)) AS total
                FROM (
                    SELECT \(Self.columns) FROM records WHERE \(condition)
                    ORDER BY \(order) LIMIT \(limit)) AS next) AS counted
            WHERE total - octet_length(fields) < \(Self.chunkBytesMax) ORDER BY \(order)
            """, values)
        for row in found {
            guard try body(Self.record(row)) else { return false }
        }
        guard found.count > 0 else { return false }
        let bytes = found[found.count - 1].int64(at: 13)
        return found.count >= Self.chunkRowsMax || bytes >= Int64(Self.chunkBytesMax)
    }
}
