internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// The same natural key made on two devices becomes one object on all: the smaller record name
/// keeps its identity, relationships move to it, and the service drops the larger name. Every
/// device computes alike.
extension RecordImport {
    /// Merges a record whose unique key an object here has already. Returns false when there is
    /// none.
    mutating func settleTwin(_ arrival: Arrival) throws -> Bool {
        guard let holder = try holder(of: arrival.state, arrival.layout),
            let row = try mirror.store.row(holder), holder.entity == arrival.layout.number
        else { return false }
        let ownName = try mirror.ledger.recordName(for: holder)
        guard let twin = try mirror.ledger.entry(named: ownName) else { return false }
        let local = try mirror.state(of: row, named: ownName)
        let result = ObjectMerge(policy: mirror.settings.policy, entity: arrival.layout)
            .merge(base: nil, local: local, remote: arrival.state)
        outcome.merged += 1
        for conflict in result.conflicts {
            try log(conflict, arrival.layout, min(ownName, arrival.record.recordName))
        }
        try mirror.ledger.removeEntry(arrival.entry)
        if arrival.record.recordName < ownName {
            try adopt(arrival, by: twin)
            try mirror.ledger.setNeedsUpload(result.merged != arrival.state, key: twin.key)
        } else {
            try mirror.ledger.keepReceipt(
                forDropping: arrival.record.recordName, mergedInto: twin.key)
            try mirror.markForExport(holder)
        }
        let name = min(ownName, arrival.record.recordName)
        try change(holder, from: local, to: result.merged, arrival.layout, named: name)
        arrived += [ownName, arrival.record.recordName]
        return true
    }

    /// Gives the object here the identity of the record that arrived, whose name is smaller.
    private mutating func adopt(_ arrival: Arrival, by twin: RecordEntry) throws {
        let mayBeKnown = try twin.base != nil || mirror.ledger.lastSent(twin.recordName) != nil
        for pair in try mirror.ledger.pairs(of: twin.recordName) {
            try mirror.ledger.retirePair(pair)
        }
        try mirror.ledger.forgetSent(twin.recordName)
        try mirror.ledger.repoint(
            key: twin.key, to: twin.row, named: arrival.record.recordName)
        try mirror.ledger.setBase(arrival.record, key: twin.key)
        if mayBeKnown {
            try mirror.ledger.keepReceipt(forDropping: twin.recordName, mergedInto: twin.key)
        }
        for (source, _) in try mirror.store.referrers(of: twin.row) {
            try mirror.markForExport(source)
        }
        try mirror.comparePairs(of: twin.row)
    }

    /// Absorbs one of two objects here when an edit from the service gives them the same unique
    /// key. Returns true when the arriving object was the one absorbed, or was dealt with here.
    mutating func settleClash(
        _ merged: ObjectState, row: Row, _ arrival: Arrival
    ) throws -> Bool {
        guard let holder = try holder(of: merged, arrival.layout), holder != row.id,
            holder.entity == row.id.entity
        else { return false }
        let otherName = try mirror.ledger.recordName(for: holder)
        guard let other = try mirror.ledger.entry(named: otherName) else { return false }
        if arrival.record.recordName < otherName {
            try absorb(other, into: arrival.entry, arrival.layout)
            return false
        }
        try mirror.ledger.setBase(arrival.record, key: arrival.entry.key)
        try absorb(arrival.entry, into: other, arrival.layout)
        return true
    }

    /// Moves what points at the loser to the survivor and removes the loser; its values are logged.
    private mutating func absorb(
        _ loser: RecordEntry, into survivor: RecordEntry, _ layout: EntityLayout
    ) throws {
        try logAbsorbed(loser, into: survivor, layout)
        for (source, slot) in try mirror.store.referrers(of: loser.row) where source != loser.row {
            let orderKey = try mirror.store.row(source)?.toOnes[slot]?.orderKey
            var update = RowUpdate(id: source)
            update.toOnes = [(slot, Link(survivor.row, orderKey: orderKey))]
            changes.updates.append(update)
            noteList(of: source, slot: slot, target: survivor.row)
            try mirror.markForExport(source)
        }
        for (slot, other) in try mirror.store.pairs(of: loser.row) {
            var change = ToManyChange(owner: survivor.row, slot: slot)
            change.added = [Link(other)]
            changes.toManys.append(change)
        }
        for end in mirror.pairs.ends(of: loser.row.entity) where end.kind.second == nil {
            var change = ToManyChange(owner: survivor.row, slot: end.slot)
            change.added = try mirror.store.members(of: loser.row, toMany: end.slot)
                .map { Link($0.target) }
            changes.toManys.append(change)
        }
        for pair in try mirror.ledger.pairs(of: loser.recordName) {
            try mirror.ledger.retirePair(pair)
        }
        changes.deletes.append(RowDelete(id: loser.row))
        try flush()
        try mirror.ledger.removeEntry(loser)
        try mirror.ledger.keepReceipt(forDropping: loser.recordName, mergedInto: survivor.key)
        try mirror.comparePairs(of: survivor.row)
        outcome.merged += 1
    }

    private mutating func logAbsorbed(
        _ loser: RecordEntry, into survivor: RecordEntry, _ layout: EntityLayout
    ) throws {
        guard let lost = try mirror.store.row(loser.row),
            let kept = try mirror.store.row(survivor.row)
        else { return }
        let lostState = try mirror.state(of: lost, named: loser.recordName)
        let keptState = try mirror.state(of: kept, named: survivor.recordName)
        for slot in lostState.changes(from: keptState) {
            var conflict = PropertyConflict(
                slot: slot, property: slot.name(in: layout), rule: "unique",
                base: keptState.value(slot), local: keptState.value(slot),
                remote: lostState.value(slot))
            conflict.take(.local)
            try log(conflict, layout, survivor.recordName)
        }
    }

    /// The row that has one of the unique keys of `state` already.
    private func holder(of state: ObjectState, _ layout: EntityLayout) throws -> RowID? {
        guard layout.hasUniquenessConstraints else { return nil }
        for constraint in layout.uniquenessConstraints {
            let slots = constraint.compactMap { layout.attributeSlot($0) }
            guard slots.count == constraint.count else { continue }
            let values = slots.map { state.attributes[$0] }
            guard !values.contains(.null) else { continue }
            let row = try mirror.store.holder(of: constraint, values: values, in: layout.number)
            if let row { return row }
        }
        return nil
    }
}

extension EntityLayout {
    /// The names of each uniqueness constraint, inherited ones included.
    var uniquenessConstraints: [[String]] {
        var constraints: [[String]] = []
        var entity: NSEntityDescription? = self.entity
        while let current = entity {
            constraints += current.uniquenessConstraints.map { $0.compactMap(Self.name(of:)) }
            entity = current.superentity
        }
        return constraints.filter { !$0.isEmpty }
    }

    var hasUniquenessConstraints: Bool { !uniquenessConstraints.isEmpty }

    private static func name(of element: Any) -> String? {
        (element as? String) ?? (element as? NSPropertyDescription)?.name
    }
}
