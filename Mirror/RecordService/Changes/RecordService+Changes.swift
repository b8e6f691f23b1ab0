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
            var budget = PageBudget(self.limits)
            return .zoneChanges(
                try changes.zones.map { zone in
                    try self.reply(
                        to: zone, key, database, device, transaction, &budget)
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
        _ device: String?, _ transaction: any BackendTransaction, _ budget: inout PageBudget
    ) throws -> ZoneChangesReply {
        var reply = ZoneChangesReply(zoneID: ZoneID(zoneName: zone.zoneID.zoneName))
        do {
            let zoneID = try zone.zoneID.owned(by: key.owner)
            guard !zoneID.isDefault else { throw Self.noFeed }
            try budget.admit(zoneID)
            guard let database else { throw zoneID.notFound(wasDeleted: false) }
            let row = try transaction.liveZone(zoneID, in: database)
            try readPage(of: row, zone, into: &reply, device, transaction, &budget)
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
        _ device: String?, _ transaction: any BackendTransaction, _ budget: inout PageBudget
    ) throws {
        let service = backend.serviceID
        let newest = SyncToken(row, service: service, change: row.counter)
        var reached = try SyncToken.change(
            in: zone.syncToken, at: newest, zoneID: reply.zoneID)
        let limit = limits.pageCount(zone.resultsLimit)
        let keys = zone.desiredKeys.map { Set($0) }
        var bytes = budget.bytesLeft
        var records: [Record] = []
        var damaged: [String] = []
        var moreComing = budget.rowsLeft <= 0 && reached < row.counter
        let end = try transaction.records(
            FeedReading(
                zone: row.id, after: reached, limit: min(limit + 1, max(budget.rowsLeft, 0)),
                lookedAtMax: max(budget.rowsLeft, 0), types: zone.desiredRecordTypes,
                device: device)
        ) { entry in
            guard records.count + damaged.count < limit, bytes > 0 else {
                moreComing = true
                return false
            }
            switch try self.read(entry, in: reply.zoneID, keys: keys) {
            case .record(let record, let size):
                bytes -= size
                records.append(record)
            case .damaged(let name): damaged.append(name)
            }
            reached = entry.change
            return true
        }
        budget.bytesLeft = bytes
        budget.rowsLeft -= end.lookedAt
        if !moreComing, let stoppedAt = end.stoppedAt, stoppedAt < row.counter {
            moreComing = true
            reached = max(reached, stoppedAt)
        }
        reply.records = records
        reply.damagedRecords = damaged
        reply.moreComing = moreComing
        reply.syncToken =
            SyncToken(row, service: service, change: moreComing ? reached : row.counter).text
    }

    private enum PageEntry {
        case record(Record, bytes: Int)
        case damaged(name: String)
    }

    /// A damaged record is said in the log and named in the answer; the feed goes on behind it.
    private func read(
        _ entry: FeedEntry, in zone: ZoneID, keys: Set<String>?
    ) throws -> PageEntry {
        switch entry {
        case .record(let row):
            do {
                return .record(
                    try row.record(in: zone, keys: keys),
                    bytes: row.fields.count + ServiceLimits.recordOverheadBytes)
            } catch let error as RecordArchiveError {
                damage.note(row.name, in: zone, cause: error.message)
                return .damaged(name: row.name)
            }
        case .damaged(let name, let change):
            let name = name ?? "change \(change)"
            damage.note(name, in: zone, cause: "a page of the file is damaged")
            return .damaged(name: name)
        }
    }
}
