internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Platform
internal import SQLiteStore
internal import Stores

/// Makes random edits of a device's objects as an app would, with inverses kept, and remembers what
/// was saved: the memory is what the laws are checked against.
struct GraphEditor {
    let randomness: SeededRandomness
    let values: ValueGenerator
    let layout: ModelLayout
    private(set) var memory = EditMemory()

    init(randomness: SeededRandomness, model: NSManagedObjectModel) {
        self.randomness = randomness
        values = ValueGenerator(randomness: randomness)
        layout = ModelLayout(model: model)
    }

    /// Makes one edit on `device`. Returns what was done in words; nil when there was nothing to
    /// do.
    mutating func edit(_ device: SimulatedDevice) throws -> String? {
        do {
            switch randomness.below(100) {
            case ..<30: return try insert(on: device)
            case ..<60: return try change(on: device)
            case ..<70: return try count(on: device)
            case ..<82: return try relink(on: device)
            case ..<92: return try pair(on: device)
            default: return try delete(on: device)
            }
        } catch is UniquenessViolation {
            return nil
        }
    }

    // MARK: Picking

    private func anyRow(
        on device: SimulatedDevice, where isFit: (EntityLayout) -> Bool = { _ in true }
    ) throws -> Row? {
        let fit = layout.entities.filter { !$0.entity.isAbstract && isFit($0) }
        guard let entity = randomness.pick(fit) else { return nil }
        return try anyRow(of: entity, on: device)
    }

    private func anyRow(of entity: EntityLayout, on device: SimulatedDevice) throws -> Row? {
        let ids = try device.store.ids(matching: RowQuery(entity: entity.number)).sorted()
        return try randomness.pick(ids).flatMap { try device.store.row($0) }
    }

    private func destination(of relationship: NSRelationshipDescription) -> EntityLayout? {
        relationship.destinationEntity?.name.flatMap { layout.entity(named: $0) }
    }

    // MARK: Edits

    private mutating func insert(on device: SimulatedDevice) throws -> String? {
        let concrete = layout.entities.filter { !$0.entity.isAbstract }
        guard let entity = randomness.pick(concrete),
            let key = try device.store.reserveKeys(entity: entity.number, count: 1).first
        else { return nil }
        var row = Row(id: RowID(entity: entity.number, key: key), layout: entity)
        row.attributes = entity.attributes.map { slot in
            slot.attribute is NSDerivedAttributeDescription
                ? .null : values.value(for: slot.attribute)
        }
        let name = try edit(row.id, on: device) { _ in
            var changes = ChangeSet()
            changes.inserts = [row]
            return changes
        }
        memory.created(name, entity: entity, row: row, by: device.name)
        return "makes \(entity.name) \(name.prefix(6))"
    }

    private mutating func change(on device: SimulatedDevice) throws -> String? {
        guard let row = try anyRow(on: device, where: { !$0.attributes.isEmpty }),
            let entity = layout.entity(row.id.entity)
        else { return nil }
        let slot = randomness.below(entity.attributes.count)
        let attribute = entity.attributes[slot].attribute
        guard !EditMemory.isCounter(attribute), !(attribute is NSDerivedAttributeDescription) else {
            return nil
        }
        let value = values.value(for: entity.attributes[slot].attribute)
        var update = RowUpdate(id: row.id, expectedVersion: row.version)
        update.attributes = [(slot, value)]
        let name = try save(update, on: device)
        memory.changed(name, entity.attributes[slot].name, to: value, by: device.name)
        return "sets \(entity.attributes[slot].name) of \(name.prefix(6)) to \(value)"
    }

    /// Adds to a counter.
    private mutating func count(on device: SimulatedDevice) throws -> String? {
        let isCounter = { (slot: EntityLayout.AttributeSlot) in EditMemory.isCounter(slot.attribute)
        }
        guard let row = try anyRow(on: device, where: { $0.attributes.contains(where: isCounter) }),
            let slot = layout.entity(row.id.entity)?.attributes.firstIndex(where: isCounter)
        else { return nil }
        let before = if case .integer(let value) = row.attributes[slot] { value } else { Int64(0) }
        let added = Int64(1 + randomness.below(3))
        var update = RowUpdate(id: row.id, expectedVersion: row.version)
        update.attributes = [(slot, .integer(before + added))]
        let name = try save(update, on: device)
        memory.counted(name, added)
        return "counts \(name.prefix(6)) from \(before) by \(added)"
    }

    private mutating func relink(on device: SimulatedDevice) throws -> String? {
        guard let row = try anyRow(on: device, where: { !$0.toOnes.isEmpty }),
            let entity = layout.entity(row.id.entity)
        else { return nil }
        let slot = randomness.below(entity.toOnes.count)
        let relationship = entity.toOnes[slot]
        guard let destination = destination(of: relationship) else { return nil }
        let target = randomness.chance(percent: 20) ? nil : try anyRow(of: destination, on: device)
        guard target?.id != row.id else { return nil }
        let name = try edit(row.id, on: device) { store in
            try LinkEdit(layout: layout, store: store).link(row, slot: slot, to: target)
        }
        return "links \(relationship.name) of \(name.prefix(6))"
    }

    private mutating func pair(on device: SimulatedDevice) throws -> String? {
        let catalog = PairCatalog(layout: layout)
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
        let name = try edit(row.id, on: device) { store in
            try LinkEdit(layout: layout, store: store)
                .pair(row.id, slot: end.slot, with: other, isAdding: isAdding)
        }
        return "\(isAdding ? "adds to" : "removes from") \(relationship.name) of \(name.prefix(6))"
    }

    private mutating func delete(on device: SimulatedDevice) throws -> String? {
        guard let row = try anyRow(on: device) else { return nil }
        let name = try edit(row.id, on: device) {
            try LinkEdit(layout: layout, store: $0).delete(row)
        }
        memory.deleted(name)
        return "deletes \(name.prefix(6))"
    }

    private func save(_ update: RowUpdate, on device: SimulatedDevice) throws -> String {
        try edit(update.id, on: device) { _ in
            var changes = ChangeSet()
            changes.updates = [update]
            return changes
        }
    }

    /// Saves an edit of one row and returns the row's record name. A kill undoes both, so that the
    /// memory never lacks what was saved.
    private func edit(
        _ row: RowID, on device: SimulatedDevice, _ body: (StoreTransaction) throws -> ChangeSet
    ) throws -> String {
        var name = ""
        try device.edit { store in
            name = try device.recordName(of: row, in: store)
            return try body(store)
        }
        return name
    }
}
