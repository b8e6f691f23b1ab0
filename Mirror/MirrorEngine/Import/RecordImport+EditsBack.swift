internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Edits are taken back that the service refused: the objects are as it has them again, what was
/// edited is in the log, and nothing is sent.
extension RecordImport {
    /// Takes an object's edit back. Returns the slots that stay as they are: large values whose
    /// former content is at the service alone, and sealed ones without their key. Throws
    /// `UniquenessViolation` where another object has a former unique key by now.
    mutating func takeBack(
        editOf entry: RecordEntry, rule: String = ConflictEntry.handRule
    ) throws -> [PropertySlot] {
        guard let base = entry.base, let row = try mirror.store.row(entry.row) else { return [] }
        guard !base.deleted else {
            try letGo(entry, row, base, rule: rule)
            return []
        }
        let layout = try mirror.layout(of: row.id)
        let local = try mirror.state(of: row, named: entry.recordName)
        var former = try followed(
            mirror.mapping.agreedState(of: base, entity: layout).adopting(local), local)
        _ = try fill(&former, nil)
        let edited = local.changes(from: former)
        let staying = edited.filter { slot in
            mirror.mapping.lacksKey(for: [slot], of: local, upon: base)
                || isElsewhere(former.value(slot))
        }
        for slot in edited {
            guard !staying.contains(slot) else {
                former.copy(slot, from: local)
                continue
            }
            var conflict = PropertyConflict(
                slot: slot, property: slot.name(in: layout), rule: rule,
                base: former.value(slot), local: local.value(slot), remote: former.value(slot))
            conflict.take(.remote)
            try log(conflict, layout, entry.recordName, by: entry.base?.modified)
        }
        try change(row.id, from: local, to: former, layout, named: entry.recordName)
        try flush()
        try mirror.ledger.forgetCounts(of: entry.recordName)
        try mirror.ledger.decideWaiting(of: entry.recordName, for: .remote)
        if staying.isEmpty {
            try settle(entry)
            // What waits beside the edit goes by itself: a place in a share, what is carried on.
            try mirror.ledger.forgetRefusal(of: entry.recordName)
        }
        return staying
    }

    /// The service has the object deleted, and does not take it again: it goes, as the others have
    /// it. It is in the log whole, from which it can be restored.
    private mutating func letGo(
        _ entry: RecordEntry, _ row: Row, _ deletion: Record, rule: String
    ) throws {
        let layout = try mirror.layout(of: row.id)
        let local = try mirror.state(of: row, named: entry.recordName)
        for slot in local.changes(from: nil) {
            var conflict = deletionConflict(
                slot, layout, base: nil, local: local.value(slot), remote: nil, winner: .remote)
            conflict.rule = rule
            try log(conflict, layout, entry.recordName, by: deletion.modified)
        }
        var unread = Record(recordName: entry.recordName, recordType: "")
        unread.fields = try mirror.ledger.foreign(of: row.id)
        unread.fields[RecordNames.entityName] = .string(mirror.mapping.keys.entity(layout.name))
        _ = try logLostLinks(of: entry, local, by: deletion.modified)
        try bury(row, local, named: entry.recordName, base: unread)
        try mirror.ledger.decideWaiting(of: entry.recordName, for: .remote)
        try mirror.ledger.dropForeign(of: row.id)
        try remove(entry)
        try mirror.ledger.noteDeleted(entry.recordName, tag: deletion.recordChangeTag)
    }

    private func isElsewhere(_ value: PropertyValue) -> Bool {
        guard case .attribute(let value) = value else { return false }
        return AssetStandIn(value) != nil
    }

    /// A link that leads where the record's does, whose name stands for another's now, is no edit.
    private func followed(_ former: ObjectState, _ local: ObjectState) throws -> ObjectState {
        var result = former
        for (slot, link) in former.toOnes.enumerated() {
            guard let link, let here = local.toOnes[slot],
                let row = try mirror.ledger.row(named: link.recordName),
                try mirror.ledger.row(named: here.recordName) == row
            else { continue }
            result.toOnes[slot] = NamedLink(here.recordName, orderKey: link.orderKey)
        }
        return result
    }

    /// The service has the object as its user made it, and takes from here neither what a twin left
    /// it nor where its links lead now: that is done by who may. Returns whether nothing waits of
    /// it any more; what it had from the twin is in the log.
    mutating func giveWay(_ entry: RecordEntry) throws -> Bool {
        guard let base = entry.base, !base.deleted, let row = try mirror.store.row(entry.row),
            try mirror.ledger.assignedParent(of: entry.recordName) == nil,
            try mirror.ledger.foreign(of: row.id).isEmpty
        else { return false }
        let layout = try mirror.layout(of: row.id)
        let former = mirror.mapping.agreedState(of: base, entity: layout)
        guard try holder(of: former, layout, except: row.id) == nil,
            try takeBack(editOf: entry, rule: Self.uniqueRule).isEmpty
        else { return false }
        try mirror.ledger.clearUpload(key: entry.key)
        try mirror.ledger.forgetRefusal(of: entry.recordName)
        return true
    }

    /// A pair that the service would not take goes, one that it would not give up is there again.
    mutating func takeBack(pair entry: PairEntry) throws {
        guard entry.needsDelete else {
            if let base = entry.base, !base.deleted { return try putBack(moved: entry) }
            // Another device's record may stand for the same pair.
            let twins = try mirror.ledger.twins(of: entry, symmetric: isReflexive(entry.pair))
            if twins.isEmpty {
                try logLostPair(entry)
                try disconnect(entry)
                try flush()
            }
            return try mirror.ledger.removePair(entry)
        }
        guard entry.base != nil else { return }
        try mirror.ledger.forgetRefusal(of: entry.recordName)
        try mirror.ledger.setPair(entry.key, isUploaded: true, needsDelete: false)
        if let again = try mirror.ledger.pair(named: entry.recordName) { try connect(again) }
    }

    /// A member that was moved stands at its former place again.
    private mutating func putBack(moved entry: PairEntry) throws {
        try mirror.ledger.forgetRefusal(of: entry.recordName)
        try mirror.ledger.setPair(entry.key, isUploaded: true)
        try connect(entry)
    }

    private mutating func logLostPair(_ entry: PairEntry) throws {
        guard let owner = try mirror.ledger.row(named: entry.pair.first),
            let property = kind(of: entry.pair)?.first.name
        else { return }
        outcome.conflicts += 1
        let lost = LostMember(
            member: entry.pair.second, owner: entry.pair.first,
            entity: try mirror.layout(of: owner).name, property: property,
            rule: ConflictEntry.handRule, base: false, local: true, remote: false)
        try mirror.ledger.log(lost, by: entry.base?.modified)
    }
}
