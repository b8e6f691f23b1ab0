internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

extension RecordImport {
    /// The rule under which the log tells what was lost with a share.
    static let shareEndRule = "shareEnded"

    /// Takes a share, or the record below which one shares, out of what comes. Returns whether the
    /// record was one of these.
    func takeSharing(_ record: Record) throws -> Bool {
        if record.recordType == ShareRoot.recordType { return true }
        guard record.isShare else { return false }
        if record.deleted {
            try mirror.ledger.dropShare(record.recordName)
        } else {
            try mirror.ledger.keepShare(record)
        }
        return true
    }

    /// An object is in one share: where another device of the owner's has put it into one, it goes
    /// into no other that was meant here. Else the later would take out of a share what its owner
    /// was told is in it.
    func heedPlace(of arrival: Arrival) throws {
        guard let parent = arrival.record.parent, parent != arrival.entry.base?.parent else {
            return
        }
        try mirror.ledger.forgetAssignedParent(of: arrival.entry.recordName)
    }

    /// Takes all objects out of the store, since the zone is shared no more. What was never told
    /// the owner is in the conflict log, and can be restored from it.
    mutating func expelAll() throws {
        var rows: [RowID] = []
        var cursor: Int64 = 0
        while true {
            let entries = try mirror.ledger.entries(
                "WHERE m.Z_PK > ? ORDER BY m.Z_PK LIMIT 500", [.integer(cursor)])
            guard let last = entries.last else { break }
            cursor = last.key
            for entry in entries {
                if entry.needsCloudDelete {
                    try logDeletion(of: entry)
                } else if try keepEdits(of: entry) {
                    rows.append(entry.row)
                }
            }
        }
        for row in rows { changes.deletes.append(RowDelete(id: row)) }
        try flush()
        outcome.applied += rows.count
    }

    /// Logs a deletion that the owner was not told, as the values that stay there.
    private mutating func logDeletion(of entry: RecordEntry) throws {
        guard let base = entry.base, !base.deleted else { return }
        let layout = try mirror.layout(of: entry.row)
        let kept = mirror.mapping.agreedState(of: base, entity: layout)
        // A large value is here no more.
        var slots = kept.changes(from: nil).filter { slot in
            guard case .attribute(let value) = kept.value(slot) else { return true }
            return AssetStandIn(value) == nil
        }
        if slots.isEmpty { slots = kept.attributes.indices.prefix(1).map { .attribute($0) } }
        for slot in slots {
            var conflict = deletionConflict(
                slot, layout, base: kept.value(slot), local: nil, remote: kept.value(slot),
                winner: .remote)
            conflict.rule = Self.shareEndRule
            try log(conflict, layout, entry.recordName, by: base.modified)
        }
    }

    /// Logs the members that an object lost here, of which the owner was not told.
    private func logLostMembers(of name: String) throws {
        for pair in try mirror.ledger.pairs(of: name)
        where pair.needsDelete && pair.pair.first.isExactly(name) && pair.base?.deleted == false {
            guard try mirror.ledger.row(named: pair.pair.second).map(mirror.store.row) != nil,
                var lost = try mirror.lostMember(pair, with: name, isLocal: false)
            else { continue }
            (lost.base, lost.rule, lost.winner) = (true, Self.shareEndRule, .remote)
            try mirror.ledger.log(lost, by: pair.base?.modified)
        }
    }

    /// Logs what of an object was not told yet, and keeps it whole. Returns whether there is a row.
    private mutating func keepEdits(of entry: RecordEntry) throws -> Bool {
        guard let row = try mirror.store.row(entry.row) else { return false }
        let layout = try mirror.layout(of: row.id)
        let local = try mirror.state(of: row, named: entry.recordName)
        let agreed = entry.base.flatMap { $0.deleted ? nil : $0 }
            .map { mirror.mapping.agreedState(of: $0, entity: layout).adopting(local) }
        let base = try withLinksCut(agreed, in: local)
        var edits = local.changes(from: base)
        // Without a value it would be in no log, and be lost.
        if base == nil, edits.isEmpty { edits = local.attributes.indices.map { .attribute($0) } }
        for slot in edits {
            var conflict = deletionConflict(
                slot, layout, base: base?.value(slot), local: local.value(slot), remote: nil,
                winner: .remote)
            conflict.rule = Self.shareEndRule
            try log(conflict, layout, entry.recordName)
        }
        try logLostMembers(of: entry.recordName)
        let losesLinks = try logLostLinks(of: entry, local, by: nil)
        if losesLinks || !edits.isEmpty {
            let whole = try uncut(local, upon: agreed)
            try bury(row, whole, named: entry.recordName, base: entry.base)
        }
        return true
    }
}
