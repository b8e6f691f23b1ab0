internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Names that were left to another user's device.
///
/// Two objects with one unique key are one here, and the name that gives way is another's to drop.
/// Until they do, its record lives, and may come to be no twin any more: it gets another key, or
/// the object that took it in goes, or gets another key itself. It is an object of its own then.
extension RecordImport {
    /// Lets the record that came under a left name be an object of its own where it has no unique
    /// key in common any more with the object that took it in. Returns whether it is.
    mutating func release(_ record: Record, _ layout: EntityLayout) throws -> Bool {
        let name = record.recordName
        guard try mirror.ledger.isLeft(name),
            let state = try? mirror.mapping.storedState(of: record, entity: layout)
        else { return false }
        if let place = try mirror.ledger.row(named: name), let row = try mirror.store.row(place) {
            let own = try mirror.ledger.recordName(for: place)
            let kept = try mirror.state(of: row, named: own)
            guard try !haveKeyInCommon(state, layout, kept, mirror.layout(of: place)) else {
                return false
            }
            try letLinksWait(from: place, to: [ExactName(name)])
        }
        try mirror.ledger.removeAlias(of: name)
        try takeBackPairs(of: name)
        return true
    }

    private func haveKeyInCommon(
        _ state: ObjectState, _ layout: EntityLayout, _ other: ObjectState,
        _ otherLayout: EntityLayout
    ) throws -> Bool {
        try layout.uniquenessConstraints.contains { constraint in
            guard let values = try key(of: state, layout, constraint.names) else { return false }
            return try key(of: other, otherLayout, constraint.names) == values
        }
    }

    /// To-ones that the service has under one of `names` lead to the object here that took the name
    /// in. They wait for the record instead: nobody moved them.
    mutating func letLinksWait(from row: RowID, to names: Set<ExactName>) throws {
        guard !names.isEmpty else { return }
        try flush()
        for (source, slot) in try mirror.store.referrers(of: row) where source != row {
            let layout = try mirror.layout(of: source)
            guard let name = try mirror.ledger.knownName(of: source),
                let base = try mirror.ledger.entry(named: name)?.base, !base.deleted,
                let link = mirror.mapping.link(slot, of: layout, in: base),
                names.contains(ExactName(link.recordName))
            else { continue }
            let property = layout.toOnes[slot].name
            try mirror.ledger.keepPending(
                PendingLink(recordName: name, property: property, target: link))
            var update = RowUpdate(id: source)
            update.toOnes = [(slot, nil)]
            changes.updates.append(update)
        }
        try flush()
    }
}

extension MirrorTransaction {
    /// An object that gets another unique key is no twin any more of the records that others still
    /// have under names which it took in. They were passed over when they came, so the zone is to
    /// be read anew.
    func noteKeyChange(
        of name: String, from former: ObjectState, to state: ObjectState, _ layout: EntityLayout
    ) throws {
        let keys = Set(layout.uniquenessConstraints.flatMap(\.names))
        guard !keys.isEmpty,
            state.changes(from: former).contains(where: { keys.contains($0.name(in: layout)) })
        else { return }
        try ledger.readAgainForNamesLeft(to: name)
    }

    /// The same for what this device has sent, upon the record that is in `entry` still.
    func noteKeySent(by entry: RecordEntry) throws {
        let name = entry.recordName
        guard try ledger.hasLeftNames(of: entry.key), let base = entry.base, !base.deleted,
            let row = try store.row(entry.row)
        else { return }
        let layout = try layout(of: row.id)
        let local = try state(of: row, named: name)
        try noteKeyChange(
            of: name, from: mapping.agreedState(of: base, entity: layout).adopting(local),
            to: local, layout)
    }
}
