internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// To-one ends in records that are another user's, where they follow from other records.
///
/// Whoever links an object of their own with another's writes both ends, and the service takes one.
/// The other end says nothing of its own: it is left to the device that may write it, which makes
/// the same of the records, and waits here as nobody's edit. What a claim left so is looked at anew
/// with each repair, from what the records say.
struct LeftEnds {
    let mirror: MirrorTransaction

    /// What became of an end that is left.
    private enum Kind {
        /// It leads to, or gave way to, whoever claims the link: somebody else's claim may win.
        case claim
        /// The link is no more by another record's word, which is newer than this one's.
        case release
    }

    // MARK: Leaving

    /// Leaves what waits of an object, where all of it follows from other records. `isUpkeep` where
    /// nobody's edit waits. Returns whether it did.
    func leave(_ entry: RecordEntry, isUpkeep: Bool) throws -> Bool {
        guard let base = entry.base, !base.deleted, let row = try mirror.store.row(entry.row),
            try mirror.ledger.assignedParent(of: entry.recordName) == nil,
            try mirror.ledger.foreign(of: row.id).isEmpty
        else { return false }
        let layout = try mirror.layout(of: row.id)
        let local = try mirror.state(of: row, named: entry.recordName)
        let former = mirror.mapping.agreedState(of: base, entity: layout).adopting(local)
        let changes = local.changes(from: former)
        var kinds: Set<Kind> = []
        var released: [PropertySlot] = []
        for slot in changes {
            guard case .toOne(let index) = slot,
                let kind = try kind(
                    of: index, layout, entry, from: former.toOnes[index], to: local.toOnes[index],
                    isUpkeep: isUpkeep)
            else { return false }
            kinds.insert(kind)
            if kind == .release { released.append(slot) }
        }
        guard !kinds.isEmpty else { return false }
        if !released.isEmpty {
            var known = base
            known.fields.take(try mirror.mapping.fields(of: local, in: released, upon: base))
            try mirror.ledger.replaceBase(known, key: entry.key)
        }
        try mirror.ledger.leaveEnds(key: entry.key, areClaims: kinds.contains(.claim))
        try mirror.ledger.forgetRefusal(of: entry.recordName)
        try mirror.ledger.set(.oneToOneCheck, to: .integer(1))
        return true
    }

    /// From which record the end follows; nil where it is somebody's edit of this record.
    private func kind(
        of slot: Int, _ layout: EntityLayout, _ entry: RecordEntry, from former: NamedLink?,
        to present: NamedLink?, isUpkeep: Bool
    ) throws -> Kind? {
        let name = entry.recordName
        if let former, present == nil, try mirror.ledger.row(named: former.recordName) == nil {
            return try mirror.ledger.knowsDeletion(of: former.recordName) ? .release : nil
        }
        let relationship = layout.toOnes[slot]
        guard relationship.isOneToOne, let inverse = relationship.inverseRelationship?.name else {
            return nil
        }
        if let present {
            return try isUpkeep || says(present.recordName, inverse, to: name) ? .claim : nil
        }
        if isUpkeep { return try mirror.ledger.isRelease(key: entry.key) ? .release : .claim }
        guard let former, let place = try mirror.ledger.row(named: former.recordName) else {
            return nil
        }
        let rival = try target(of: place, inverse).flatMap { $0 == entry.row ? nil : $0 }
        let said = try link(of: former.recordName, inverse)
        guard said?.leads(to: name) == true else {
            return said == nil && rival != nil ? .claim : .release
        }
        guard let rival else { return nil }
        let rivalName = try mirror.ledger.recordName(for: rival)
        return try says(rivalName, relationship.name, to: former.recordName) ? .claim : nil
    }

    /// Whether the service has the link of `property` from one object to another.
    private func says(_ name: String, _ property: String, to other: String) throws -> Bool {
        try link(of: name, property)?.leads(to: other) == true
    }

    /// A link as the service has it.
    private func link(of name: String, _ property: String) throws -> NamedLink? {
        guard let entry = try mirror.ledger.entry(named: name), let base = entry.base,
            !base.deleted
        else { return nil }
        let layout = try mirror.layout(of: entry.row)
        return layout.toOneSlot(property).flatMap {
            mirror.mapping.link($0, of: layout, in: base)
        }
    }

    private func target(of row: RowID, _ property: String) throws -> RowID? {
        guard let slot = try mirror.layout(of: row).toOneSlot(property) else { return nil }
        return try mirror.store.row(row)?.toOnes[slot]?.target
    }

    // MARK: Deciding anew

    /// An end that was left by a claim.
    struct End {
        let row: RowID
        let key: Int64
        let slot: Int
        /// Where it led before it was taken back.
        let former: RowID?
    }

    /// Takes the ends back that were left by claims, to what the records say of them, so that the
    /// repair decides by those alone. Returns what they were.
    func takeBack() throws -> [End] {
        var ends: [End] = []
        var views: [(end: End, view: RowID?)] = []
        let entries = try mirror.ledger.entriesWithLeftEnds()
        let left = Set(entries.map(\.row))
        for entry in entries {
            guard let row = try mirror.store.row(entry.row) else { continue }
            let layout = try mirror.layout(of: row.id)
            for (slot, relationship) in layout.toOnes.enumerated() where relationship.isOneToOne {
                let said = try said(of: entry.row, relationship.name)
                let former = row.toOnes[slot]?.target
                guard said != former, let inverse = relationship.inverseRelationship?.name else {
                    continue
                }
                let end = End(row: row.id, key: entry.key, slot: slot, former: former)
                ends.append(end)
                guard let said else {
                    views.append((end, nil))
                    continue
                }
                let answer =
                    left.contains(said)
                    ? try self.said(of: said, inverse) : try target(of: said, inverse)
                if former == nil {
                    views.append((end, said))
                } else {
                    // Who is linked with another by now says that this end is outdone.
                    views.append((end, answer == nil || answer == row.id ? said : nil))
                }
            }
        }
        for (end, view) in views { try write(end, to: view) }
        return ends
    }

    private func said(of row: RowID, _ property: String) throws -> RowID? {
        guard let name = try mirror.ledger.knownName(of: row),
            let link = try link(of: name, property)
        else { return nil }
        return try mirror.ledger.row(named: link.recordName)
    }

    /// Leaves those ends again that became what they were: their records were offered so before.
    func leaveAgain(_ ends: [End]) throws {
        var changed: Set<Int64> = []
        for end in ends {
            guard try mirror.store.row(end.row)?.toOnes[end.slot]?.target != end.former else {
                continue
            }
            changed.insert(end.key)
        }
        for key in Set(ends.map(\.key)).subtracting(changed) {
            try mirror.ledger.leaveEnds(key: key, areClaims: true)
        }
    }

    private func write(_ end: End, to target: RowID?) throws {
        var changes = ChangeSet()
        changes.author = RecordNames.importAuthor
        var update = RowUpdate(id: end.row)
        update.toOnes = [(end.slot, target.map { Link($0) })]
        changes.updates = [update]
        _ = try mirror.store.apply(changes)
    }
}
