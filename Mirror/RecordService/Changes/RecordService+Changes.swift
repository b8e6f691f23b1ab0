internal import Foundation
internal import RecordWire

/// What changed since a token: in zones, and which zones did. (SERVICE §3, changes/*)
extension RecordService {
    func zoneChanges(
        _ changes: ZoneChanges, _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(changes.zones.count, of: "zones")
        for zone in changes.zones {
            try limits.checkCount(zone.desiredRecordTypes?.count ?? 0, of: "record types")
        }
        return try backend.read(key.place) { transaction in
            var budget = PageBudget(self.limits)
            return .zoneChanges(
                try changes.zones.map { zone in
                    try self.reply(to: zone, key, caller, transaction, &budget)
                })
        }
    }

    /// `records/changes` has one zone, so its refusal is the request's.
    func recordChanges(
        _ changes: RecordChanges, _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        guard
            case .zoneChanges(let pages) = try zoneChanges(
                ZoneChanges(zones: [changes.zone]), key, caller),
            let page = pages.first
        else { throw RecordError(.internalError, "The zone got no answer.") }
        if let failure = page.failure { throw failure }
        return .recordChanges(page)
    }

    func databaseChanges(
        _ changes: DatabaseChanges, _ key: DatabaseKey, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try backend.read(key.place) { transaction in
            let row = try transaction.database(key)
            let line = try transaction.line(of: row)
            let view = try self.rules(for: caller).access(to: key, transaction).view
            // The token of a database without rows stays good when the first row comes.
            let token = Self.isStart(changes.syncToken, Self.start) ? nil : changes.syncToken
            let start = try SyncToken.place(
                in: token, on: line, of: .database, view: view, zoneID: nil)
            let after = start.change
            let limit = self.limits.pages.resultsCount(changes.resultsLimit)
            let zones = try row.map {
                try transaction.zones(in: $0.id, changedAfter: after, limit: limit + 1)
            }
            let page = (zones ?? []).prefix(limit)
            let moreComing = (zones?.count ?? 0) > limit
            let reached = moreComing ? page.last?.databaseChange ?? after : line.newest
            var reply = DatabaseChangesReply(
                zones: page.map {
                    .init(
                        zoneID: (key.isShared ? StandInName.zone($0.name) : nil)
                            ?? ZoneID(zoneName: $0.name),
                        deleted: $0.isDeleted)
                },
                syncToken: SyncToken(
                    line, of: .database, change: reached, from: start, view: view
                ).text,
                moreComing: moreComing)
            reply.isMeta = changes.isMeta
            return .databaseChanges(reply)
        }
    }

    private static let start = SyncToken(
        EpochLine(incarnation: 0, floor: 0, newest: 0, epochs: []), of: .database, change: 0
    ).text

    /// Whether a token is that of a place to which nothing was written, however it is spelled.
    private static func isStart(_ token: String?, _ start: String) -> Bool {
        token.flatMap { SyncToken(text: $0) } == SyncToken(text: start)
    }

    /// A refusal of one zone is its entry; what else fails, fails the request.
    private func reply(
        to zone: ZoneChanges.Zone, _ key: DatabaseKey, _ caller: Caller,
        _ transaction: any BackendTransaction, _ budget: inout PageBudget
    ) throws -> ZoneChangesReply {
        var reply = ZoneChangesReply(zoneID: ZoneID(zoneName: zone.zoneID.zoneName))
        do {
            let address = try key.address(of: zone.zoneID)
            reply.zoneID = address.shown
            guard key.hasFeed(address.shown) else { throw Self.noFeed }
            try budget.admit(address.shown)
            guard let place = try ZonePlace(address, rules(for: caller), transaction) else {
                reply.syncToken = Self.zoneStart
                return reply
            }
            try readPage(of: place, zone, into: &reply, transaction, &budget)
        } catch let error as RecordError {
            reply.zoneID = zone.zoneID
            reply.failure = error
        }
        return reply
    }

    /// Of a public database's zone, to which nothing was written yet.
    private static let zoneStart = SyncToken(
        EpochLine(incarnation: 0, floor: 0, newest: 0, epochs: []), of: .zone, change: 0
    ).text

    private static let noFeed = RecordError(
        .badRequest,
        "The default zone has no changes to fetch; keep records in a zone of your own.",
        zoneID: ZoneID())

    private func readPage(
        of place: ZonePlace, _ zone: ZoneChanges.Zone, into reply: inout ZoneChangesReply,
        _ transaction: any BackendTransaction, _ budget: inout PageBudget
    ) throws {
        let row = place.row
        let line = place.line
        try ClientCheck(zone.client, zone: row, zoneID: reply.zoneID, limits: limits)?
            .run(line, transaction)
        let view = try place.access.view
        let token = Self.isStart(zone.syncToken, Self.zoneStart) ? nil : zone.syncToken
        var way = try FeedWay(
            zone, from: token, to: row.counter, on: line, view, zoneID: reply.zoneID)
        if zone.syncToken == nil || line.isNews(to: zone.client) { reply.epochs = line }
        reply.echoesWriteIDs = zone.client?.wantsWriteIDs ?? false
        let limit = limits.pages.changesCount(zone.resultsLimit)
        let keys = zone.desiredKeys.map { Set($0) }
        var bytes = budget.bytesLeft
        var records: [Record] = []
        var damaged: [String] = []
        var moreComing = budget.rowsLeft <= 0 && !way.isAtEnd
        let end = try place.feed(
            way.reading(
                row.id, types: zone.desiredRecordTypes,
                limit: min(limit + 1, max(budget.rowsLeft, 0)),
                lookedAtMax: max(budget.rowsLeft, 0)), transaction
        ) { entry in
            guard records.count + damaged.count < limit, bytes > 0 else {
                moreComing = true
                return false
            }
            if case .record(let found) = entry, try !place.shows(found) {
                way.pass(entry.change)
                return true
            }
            switch try self.read(
                entry, in: reply.zoneID, of: place.address.key, keys: keys, line,
                tellsWrites: reply.echoesWriteIDs)
            {
            case .record(let record, let size):
                bytes -= size
                records.append(record)
            case .damaged(let name): damaged.append(name)
            }
            way.pass(entry.change)
            return true
        }
        budget.bytesLeft = bytes
        budget.rowsLeft -= end.lookedAt
        if !moreComing, let stoppedAt = end.stoppedAt {
            way.pass(stoppedAt)
            moreComing = !way.isAtEnd
        }
        reply.records = records
        reply.damagedRecords = damaged
        reply.moreComing = moreComing
        reply.syncToken = way.token(isAtEnd: !moreComing)
    }

    private enum PageEntry {
        case record(Record, bytes: Int)
        case damaged(name: String)
    }

    /// A damaged record is said in the log and named in the answer; the feed goes on behind it.
    private func read(
        _ entry: FeedEntry, in zone: ZoneID, of key: DatabaseKey, keys: Set<String>?,
        _ line: EpochLine, tellsWrites: Bool
    ) throws -> PageEntry {
        switch entry {
        case .record(var row), .member(var row, _):
            row.epoch = line.epoch(of: row.change)
            do {
                return .record(
                    try row.record(in: zone, keys: keys, tellsWrites: tellsWrites),
                    bytes: row.fields.count + ServiceLimits.recordOverheadBytes)
            } catch let error as RecordArchiveError {
                damage(in: key).note(row.name, in: zone, cause: error.message)
                return .damaged(name: row.name)
            }
        case .damaged(let name, let change):
            let name = name ?? "change \(change)"
            damage(in: key).note(name, in: zone, cause: "a page of the file is damaged")
            return .damaged(name: name)
        }
    }
}
