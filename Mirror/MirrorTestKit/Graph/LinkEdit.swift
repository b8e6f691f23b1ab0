internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Changes of links as a managed object context would save them: both ends move together.
struct LinkEdit {
    let layout: ModelLayout
    let store: StoreTransaction

    /// Points a to-one at another row, or at none.
    func link(_ row: Row, slot: Int, to target: Row?) throws -> ChangeSet {
        var changes = ChangeSet()
        guard let entity = layout.entity(row.id.entity) else { return changes }
        let inverse = entity.toOnes[slot].inverseRelationship
        var update = RowUpdate(id: row.id, expectedVersion: row.version)
        var link = target.map { Link($0.id) }
        if let inverse, inverse.isToMany, inverse.isOrdered, let target {
            link?.orderKey = try nextPlace(in: target.id, inverse.name)
        }
        update.toOnes = [(slot, link)]
        changes.updates = [update]
        if let inverse, !inverse.isToMany {
            changes.updates += try partners(of: row, slot: slot, target: target, inverse)
        }
        return changes
    }

    /// The other ends of a one-to-one: the former partner lets go, and so does the new partner's
    /// former one.
    private func partners(
        of row: Row, slot: Int, target: Row?, _ inverse: NSRelationshipDescription
    ) throws -> [RowUpdate] {
        var updates: [RowUpdate] = []
        if let former = row.toOnes[slot]?.target, former != target?.id {
            updates.append(try clear(former, inverse.name))
        }
        guard let target, let position = layout.entity(target.id.entity)?.toOneSlot(inverse.name)
        else {
            return updates
        }
        if let rival = target.toOnes[position]?.target, rival != row.id {
            var update = RowUpdate(id: rival)
            update.toOnes = [(slot, nil)]
            updates.append(update)
        }
        var update = RowUpdate(id: target.id)
        update.toOnes = [(position, Link(row.id))]
        updates.append(update)
        return updates
    }

    private func clear(_ row: RowID, _ property: String) throws -> RowUpdate {
        var update = RowUpdate(id: row)
        if let slot = layout.entity(row.entity)?.toOneSlot(property) {
            update.toOnes = [(slot, nil)]
        }
        return update
    }

    private func nextPlace(in owner: RowID, _ property: String) throws -> Int64 {
        guard let slot = layout.entity(owner.entity)?.toManySlot(property) else { return 2048 }
        let keys = try store.members(of: owner, toMany: slot).compactMap(\.orderKey)
        return (keys.max() ?? 1024) + 1024
    }

    /// Adds or removes one member of a many-to-many relationship.
    func pair(_ owner: RowID, slot: Int, with other: RowID, isAdding: Bool) throws -> ChangeSet {
        var changes = ChangeSet()
        var change = ToManyChange(owner: owner, slot: slot)
        let isOrdered = layout.entity(owner.entity)?.toManys[slot].isOrdered == true
        if isAdding {
            let keys = try store.members(of: owner, toMany: slot).compactMap(\.orderKey)
            let place = isOrdered ? (keys.max() ?? 1024) + 1024 : nil
            change.added = [Link(other, orderKey: place)]
        } else {
            change.removed = [other]
        }
        changes.toManys = [change]
        changes.updates = [mark(owner, slot)]
        let inverse = layout.entity(owner.entity)?.toManys[slot].inverseRelationship
        if let inverse, let position = layout.entity(other.entity)?.toManySlot(inverse.name) {
            changes.updates.append(mark(other, position))
        }
        return changes
    }

    private func mark(_ row: RowID, _ slot: Int) -> RowUpdate {
        var update = RowUpdate(id: row)
        update.changedToManys = [slot]
        return update
    }

    /// Deletes rows; what pointed at them lets go.
    func delete(_ rows: [Row]) throws -> ChangeSet {
        let gone = Set(rows.map(\.id))
        var changes = ChangeSet()
        for row in rows {
            for (source, slot) in try store.referrers(of: row.id) where !gone.contains(source) {
                var update = RowUpdate(id: source)
                update.toOnes = [(slot, nil)]
                changes.updates.append(update)
            }
            changes.deletes.append(RowDelete(id: row.id))
        }
        return changes
    }
}
