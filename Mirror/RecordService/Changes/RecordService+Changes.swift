internal import Foundation
internal import RecordWire

/// What changed since a token: in zones, and which zones did. (SERVICE §3, changes/*)
extension RecordService {
    func zoneChanges(
        _ changes: ZoneChanges, _ key: DatabaseKey, device: String?
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
                    try self.reply(
                        to: zone, key, database, device, transaction, &bytesLeft)
                })
        }
    }

    func databaseChanges(
        _ changes: DatabaseChanges, _ key: DatabaseKey
    ) throws(RecordError) -> RecordResponse {
        try backend.read { transaction in
            let row = try transaction.database(key)
            let newest = SyncToken(row, service: self.backend.serviceID, change: row?.counter ?? 0)
            var after: Int64 = 0
            // A token of a database without rows stands at 0 and stays good when the first row
            // comes.
            if changes.syncToken != Self.start(self.backend.serviceID) {
                after = try SyncToken.change(in: changes.syncToken, at: newest, zoneID: nil)
            }
            let limit = self.limits.pageCount(changes.resultsLimit)
            let zones = try row.map {
                try transaction.zones(in: $0.id, changedAfter: after, limit: limit + 1)
            }
            let page = (zones ?? []).prefix(limit)
            let moreComing = (zones?.count ?? 0) > limit
            let reached = moreComing ? page.last?.databaseChange ?? after : newest.change
            return .databaseChanges(
                DatabaseChangesReply(
                    zones: page.map {
                        .init(zoneID: ZoneID(zoneName: $0.name), deleted: $0.isDeleted)
                    },
                    syncToken: SyncToken(row, service: self.backend.serviceID, change: reached)
                        .text,
                    moreComing: moreComing))
        }
    }

    private static func start(_ service: Int64) -> String {
        SyncToken(nil as DatabaseRow?, service: service, change: 0).text
    }

    /// A refusal of one zone is its entry; what else fails, fails the request.
    private func reply(
        to zone: ZoneChanges.Zone, _ key: DatabaseKey, _ database: DatabaseRow?,
        _ device: String?, _ transaction: any BackendTransaction, _ bytesLeft: inout Int
    ) throws -> ZoneChangesReply {
        var reply = ZoneChangesReply(zoneID: ZoneID(zoneName: zone.zoneID.zoneName))
        do {
            let zoneID = try zone.zoneID.owned(by: key.owner)
            guard !zoneID.isDefault else { throw Self.noFeed }
            guard let database else { throw zoneID.notFound(wasDeleted: false) }
            let row = try transaction.liveZone(zoneID, in: database)
            try readPage(of: row, zone, into: &reply, device, transaction, &bytesLeft)
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
        _ device: String?, _ transaction: any BackendTransaction, _ bytesLeft: inout Int
    ) throws {
        let service = backend.serviceID
        let newest = SyncToken(row, service: service, change: row.counter)
        var reached = try SyncToken.change(
            in: zone.syncToken, at: newest, zoneID: reply.zoneID)
        let limit = limits.pageCount(zone.resultsLimit)
        let keys = zone.desiredKeys.map { Set($0) }
        var bytes = bytesLeft
        var records: [Record] = []
        var moreComing = false
        try transaction.records(
            in: row.id, changedAfter: reached, limit: limit + 1, types: zone.desiredRecordTypes,
            for: device
        ) { record in
            guard records.count < limit, bytes > 0 else {
                moreComing = true
                return false
            }
            bytes -= record.fields.count + Self.recordOverheadBytes
            records.append(try record.record(in: reply.zoneID, keys: keys))
            reached = record.change
            return true
        }
        bytesLeft = bytes
        reply.records = records
        reply.moreComing = moreComing
        reply.syncToken =
            SyncToken(row, service: service, change: moreComing ? reached : row.counter).text
    }

    /// What a record costs in a page beside its fields.
    private static let recordOverheadBytes = 200
}
