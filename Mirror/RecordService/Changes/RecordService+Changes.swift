internal import Foundation
internal import RecordWire

/// What changed since a token: in zones, and which zones did. (SERVICE §3, changes/*)
extension RecordService {
    func zoneChanges(
        _ changes: ZoneChanges, _ key: DatabaseKey
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(changes.zones.count, of: "zones")
        for zone in changes.zones {
            try limits.checkCount(zone.desiredRecordTypes?.count ?? 0, of: "record types")
        }
        return try backend.read { transaction in
            let database = try transaction.database(key)
            var bytesLeft = self.limits.pageBytesMax
            return .zoneChanges(
                try changes.zones.map { zone in
                    try self.reply(to: zone, key, database, transaction, &bytesLeft)
                })
        }
    }

    func databaseChanges(
        _ changes: DatabaseChanges, _ key: DatabaseKey
    ) throws(RecordError) -> RecordResponse {
        try backend.read { transaction in
            let row = try transaction.database(key)
            let line = try transaction.line(of: row)
            var after: Int64 = 0
            // The token of a database without rows stays good when the first row comes.
            if changes.syncToken != Self.start {
                after = try SyncToken.change(
                    in: changes.syncToken, on: line, of: .database, zoneID: nil)
            }
            let limit = self.limits.pageCount(changes.resultsLimit)
            let zones = try row.map {
                try transaction.zones(in: $0.id, changedAfter: after, limit: limit + 1)
            }
            let page = (zones ?? []).prefix(limit)
            let moreComing = (zones?.count ?? 0) > limit
            let reached = moreComing ? page.last?.databaseChange ?? after : line.newest
            return .databaseChanges(
                DatabaseChangesReply(
                    zones: page.map {
                        .init(zoneID: ZoneID(zoneName: $0.name), deleted: $0.isDeleted)
                    },
                    syncToken: SyncToken(line, of: .database, change: reached).text,
                    moreComing: moreComing))
        }
    }

    private static let start = SyncToken(
        EpochLine(incarnation: 0, floor: 0, newest: 0, epochs: []), of: .database, change: 0
    ).text

    /// A refusal of one zone is its entry; what else fails, fails the request.
    private func reply(
        to zone: ZoneChanges.Zone, _ key: DatabaseKey, _ database: DatabaseRow?,
        _ transaction: any BackendTransaction, _ bytesLeft: inout Int
    ) throws -> ZoneChangesReply {
        var reply = ZoneChangesReply(zoneID: ZoneID(zoneName: zone.zoneID.zoneName))
        do {
            let zoneID = try zone.zoneID.owned(by: key.owner)
            guard !zoneID.isDefault else { throw Self.noFeed }
            guard let database else { throw zoneID.notFound(wasDeleted: false) }
            let row = try transaction.liveZone(zoneID, in: database)
            try readPage(of: row, zone, into: &reply, transaction, &bytesLeft)
        } catch let error as RecordError {
            reply.zoneID = zone.zoneID
            reply.failure = error
        }
        return reply
    }

    private static let noFeed = RecordError(
        .badRequest,
        "The default zone has no changes to fetch; keep records in a zone of your own.",
        zoneID: ZoneID())

    private func readPage(
        of row: ZoneRow, _ zone: ZoneChanges.Zone, into reply: inout ZoneChangesReply,
        _ transaction: any BackendTransaction, _ bytesLeft: inout Int
    ) throws {
        let line = try transaction.line(of: row)
        try ClientCheck(zone.client, zone: row, zoneID: reply.zoneID, limits: limits)?
            .run(line, transaction)
        var reached = try SyncToken.change(
            in: zone.syncToken, on: line, of: .zone, zoneID: reply.zoneID)
        if zone.syncToken == nil || line.isNews(to: zone.client) { reply.epochs = line }
        reply.echoesWriteIDs = zone.client?.wantsWriteIDs ?? false
        let limit = limits.pageCount(zone.resultsLimit)
        let keys = zone.desiredKeys.map { Set($0) }
        var bytes = bytesLeft
        var records: [Record] = []
        var moreComing = false
        try transaction.records(
            in: row.id, changedAfter: reached, limit: limit + 1, types: zone.desiredRecordTypes
        ) { record in
            var record = record
            record.epoch = line.epoch(of: record.change)
            guard records.count < limit, bytes > 0 else {
                moreComing = true
                return false
            }
            bytes -= record.fields.count + Self.recordOverheadBytes
            records.append(
                try record.record(
                    in: reply.zoneID, keys: keys, tellsWrites: reply.echoesWriteIDs))
            reached = record.change
            return true
        }
        bytesLeft = bytes
        reply.records = records
        reply.moreComing = moreComing
        reply.syncToken =
            SyncToken(line, of: .zone, change: moreComing ? reached : row.counter).text
    }

    /// What a record costs in a page beside its fields.
    private static let recordOverheadBytes = 200
}
