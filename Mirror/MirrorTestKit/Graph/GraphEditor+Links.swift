internal import MirrorEngine
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Links, pairs and places in ordered lists.
extension GraphEditor {
    mutating func relink(on device: SimulatedDevice) throws -> String? {
        guard let row = try anyRow(on: device, where: { !$0.toOnes.isEmpty }),
            let entity = layout.entity(row.id.entity)
        else { return nil }
        let slot = randomness.below(entity.toOnes.count)
        let relationship = entity.toOnes[slot]
        guard let destination = destination(of: relationship) else { return nil }
        let target = randomness.chance(percent: 20) ? nil : try anyRow(of: destination, on: device)
        guard target?.id != row.id else { return nil }
        var changes = ChangeSet()
        let name = try edit(row.id, on: device) { store in
            changes = try LinkEdit(layout: layout, store: store).link(row, slot: slot, to: target)
            return changes
        }
        try noteLinks(changes, on: device)
        let link = changes.updates.first?.toOnes.first?.link
        try noteplace(name, entity, slot, link, on: device)
        return "links \(relationship.name) of \(name.suffix(6))"
    }

    /// Remembers who changed the links of each row.
    mutating func noteLinks(_ changes: ChangeSet, on device: SimulatedDevice) throws {
        for update in changes.updates {
            guard let entity = layout.entity(update.id.entity) else { continue }
            let name = try device.recordName(of: update.id)
            for (slot, _) in update.toOnes {
                let property = versions.lastName(of: entity.toOnes[slot].name)
                memory.authors.edited(name, property, by: device.name)
                if !isOneOfMany(slot, of: update.id) {
                    // Whoever hears of one end of a one-to-one answers it at the other.
                    memory.authors.edited(name, property, by: AuthorMemory.anyMirror)
                }
            }
        }
    }

    private mutating func noteplace(
        _ name: String, _ entity: EntityLayout, _ slot: Int, _ link: Link?,
        on device: SimulatedDevice
    ) throws {
        guard entity.toOneIsOrdered[slot], let link, let key = link.orderKey,
            // An owner may have several lists whose members call it by one name.
            let list = entity.toOnes[slot].inverseRelationship?.name
        else { return }
        let owner = try device.recordName(of: link.target)
        memory.places.put(
            name, in: "\(versions.lastName(of: list)) \(owner)", at: key, by: device.name)
    }

    mutating func pair(on device: SimulatedDevice) throws -> String? {
        guard let row = try anyRow(on: device, where: { !catalog.ends(of: $0.number).isEmpty }),
            let end = randomness.pick(catalog.ends(of: row.id.entity)),
            let relationship = layout.entity(row.id.entity)?.toManys[end.slot],
            let destination = destination(of: relationship)
        else { return nil }
        let members = try device.store.members(of: row.id, toMany: end.slot)
        let isAdding = members.isEmpty || randomness.chance(percent: 65)
        let other =
            isAdding
            ? try anyRow(of: destination, on: device)?.id : randomness.pick(members)?.target
        guard let other, other != row.id else { return nil }
        let wasMember = members.contains { $0.target == other }
        let name = try edit(row.id, on: device) { store in
            try LinkEdit(layout: layout, store: store)
                .pair(row.id, slot: end.slot, with: other, isAdding: isAdding)
        }
        if wasMember != isAdding {
            let ends = [name, try device.recordName(of: other)]
            memory.pairs.changed(
                end.pairText(ends[0], ends[1]), ends: ends, isAdding: isAdding, by: device.name)
        }
        return "\(isAdding ? "adds to" : "removes from") \(relationship.name) of \(name.suffix(6))"
    }

    /// Puts a member of an ordered list between two others, or before all.
    mutating func move(on device: SimulatedDevice) throws -> String? {
        let isOrdered = { (entity: EntityLayout) in entity.toOneIsOrdered.contains(true) }
        guard let row = try anyRow(on: device, where: isOrdered),
            let entity = layout.entity(row.id.entity),
            let slot = entity.toOneIsOrdered.firstIndex(of: true), let link = row.toOnes[slot],
            let inverse = entity.toOnes[slot].inverseRelationship,
            let list = layout.entity(link.target.entity)?.toManySlot(inverse.name)
        else { return nil }
        let members = try device.store.members(of: link.target, toMany: list)
        let others = members.filter { $0.target != row.id }.compactMap(\.orderKey)
        guard !others.isEmpty else { return nil }
        let place = randomness.below(others.count)
        let before = place == 0 ? others[0] - 2_048 : others[place - 1]
        let moved = Link(link.target, orderKey: before + (others[place] - before) / 2)
        var update = RowUpdate(id: row.id, expectedVersion: row.version)
        update.toOnes = [(slot, moved)]
        let name = try save(update, on: device)
        memory.authors.edited(
            name, versions.lastName(of: entity.toOnes[slot].name), by: device.name)
        try noteplace(name, entity, slot, moved, on: device)
        return "moves \(name.suffix(6)) to \(moved.orderKey ?? 0)"
    }
}

extension PairCatalog.End {
    /// The pair of two record names, seen from this end, as a `DeviceImage` spells it.
    func pairText(_ name: String, _ other: String) -> String {
        var ends = isFirst ? [name, other] : [other, name]
        if kind.isReflexive { ends.sort() }
        return "\(kind.relationshipNames): \(ends[0]) → \(ends[1])"
    }
}
