internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// An object that went by a deletion, with the links to and from it that were made here and that
/// the service never had.
struct Orphan {
    enum Link {
        case pair(JoinRecord, LostMember)
        /// A to-one, with its place where the inverse is ordered, and what the log says of it.
        case referrer(RowID, Int, Int64?, PropertyConflict)
    }

    let row: RowID
    let name: String
    /// As it was here.
    let state: ObjectState
    let links: [Link]
    let stamp: RecordStamp?
}

/// What was linked here with an object that another device let become one with a second one.
///
/// That device deletes the name that gives way, and the object that stays comes in the same page
/// with the key of both. Nobody says that it was absorbed; but who has its unique key by the end of
/// the page is what the user linked with, and the links lead there. Without such an heir they are
/// lost, and in the log.
extension RecordImport {
    /// Whether the object has a unique key, which another may have when all of the page is here.
    func mayHaveHeir(_ orphan: Orphan) throws -> Bool {
        guard deletionsAhead.names.contains(ExactName(orphan.name)),
            let layout = mirror.mapping.layout.entity(orphan.row.entity)
        else { return false }
        return try layout.uniquenessConstraints.contains {
            try key(of: orphan.state, layout, $0.names) != nil
        }
    }

    /// Lets the links of what was deleted lead to whoever has its key now; logs the others.
    mutating func settleOrphans() throws {
        let orphans = deletionsAhead.orphans
        deletionsAhead.orphans = []
        guard !orphans.isEmpty else { return }
        try flush()
        for orphan in orphans {
            let layout = try mirror.layout(of: orphan.row)
            let heir = try holder(of: orphan.state, layout)?.row
            for link in orphan.links {
                if let heir, try make(link, of: orphan, to: heir) { continue }
                try logLost(link, by: orphan.stamp)
            }
        }
    }

    /// Returns whether the heir could take the link.
    private mutating func make(
        _ link: Orphan.Link, of orphan: Orphan, to heir: RowID
    ) throws -> Bool {
        switch link {
        case .pair(let pair, _): try make(pair, of: orphan, to: heir)
        case .referrer(let source, let slot, let place, _):
            try lead(source, slot, to: heir, at: place)
        }
    }

    private mutating func lead(
        _ source: RowID, _ slot: Int, to heir: RowID, at place: Int64?
    ) throws -> Bool {
        let heirName = try mirror.ledger.recordName(for: heir)
        // An object that goes too has lost nothing.
        guard let row = try mirror.store.row(source) else { return true }
        let relationship = try mirror.layout(of: source).toOnes[slot]
        let target = try mirror.layout(of: heir)
        guard row.toOnes[slot] == nil, target.entity.fits(relationship) else { return false }
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            guard let end = target.toOneSlot(inverse.name), source != heir,
                try mirror.store.row(heir)?.toOnes[end] == nil
            else { return false }
            var update = RowUpdate(id: heir)
            update.toOnes = [(end, Link(source))]
            changes.updates.append(update)
            try mirror.enqueueUpload(heir)
        }
        guard try makeRoom(for: NamedLink(heirName), of: row, slot) else { return true }
        var update = RowUpdate(id: source)
        update.toOnes = [(slot, Link(heir, orderKey: place))]
        changes.updates.append(update)
        noteList(of: source, slot: slot, target: heir)
        try mirror.enqueueUpload(source)
        try flush()
        return true
    }

    private mutating func make(_ pair: JoinRecord, of orphan: Orphan, to heir: RowID) throws -> Bool
    {
        let heirName = try mirror.ledger.recordName(for: heir)
        var pair = pair
        if pair.first.isExactly(orphan.name) { pair.first = heirName }
        if pair.second.isExactly(orphan.name) { pair.second = heirName }
        guard let kind = kind(of: pair), let first = try mirror.ledger.row(named: pair.first),
            let second = try mirror.ledger.row(named: pair.second),
            try mirror.store.row(first) != nil, try mirror.store.row(second) != nil,
            let slot = try slot(of: kind, from: first, to: second),
            try kind.second != nil || mirror.ledger.rivals(of: pair, kind: kind).isEmpty
        else { return false }
        var change = ToManyChange(owner: first, slot: slot)
        change.added = [Link(second, orderKey: pair.firstOrder)]
        changes.toManys.append(change)
        if kind.first.isOrdered { touched.lists.insert(OrderedList(owner: first, slot: slot)) }
        try connectInverse(pair, kind, first: first, second: second)
        try flush()
        try mirror.comparePairs(of: first)
        return true
    }
}
