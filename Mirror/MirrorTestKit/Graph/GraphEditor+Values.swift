internal import ObjectModel
internal import Persistence
internal import SQLiteStore
internal import Stores

/// Objects that are made and changed.
extension GraphEditor {
    mutating func insert(
        _ entities: [EntityLayout], on device: SimulatedDevice
    ) throws -> String? {
        guard let entity = randomness.pick(entities),
            let key = try device.store.reserveKeys(entity: entity.number, count: 1).first
        else { return nil }
        var row = Row(id: RowID(entity: entity.number, key: key), layout: entity)
        // Who sees nothing of what is sealed rarely fills it in.
        let leavesSealed = hidesSealed && randomness.chance(percent: 75)
        row.attributes = entity.attributes.map { slot in
            slot.attribute is NSDerivedAttributeDescription
                || leavesSealed && slot.attribute.allowsCloudEncryption
                ? .null : values.value(for: slot.attribute)
        }
        let name = try edit(row.id, on: device) { _ in
            var changes = ChangeSet()
            changes.inserts = [row]
            return changes
        }
        var remembered = Row(id: row.id, layout: versions.last(entity))
        remembered.attributes = zip(
            versions.lastValues(of: row, entity), versions.last(entity).attributes
        ).map { $0 ?? $1.attribute.storedDefault }
        memory.created(
            name, entity: versions.last(entity), row: remembered, versions.last.counters,
            by: device.name, at: try time(on: device))
        for key in keys(of: row, entity) {
            memory.keys.made(name, with: key, byGuest: device.user != nil)
        }
        return "makes \(entity.name) \(name.suffix(6))"
    }

    mutating func change(on device: SimulatedDevice) throws -> String? {
        guard let row = try anyRow(on: device, where: { !$0.attributes.isEmpty }),
            let entity = layout.entity(row.id.entity)
        else { return nil }
        let slot = randomness.below(entity.attributes.count)
        let attribute = entity.attributes[slot].attribute
        guard !counters.include(entity.attributes[slot], of: entity),
            !(attribute is NSDerivedAttributeDescription)
        else { return nil }
        var value = values.value(for: attribute)
        if let bytes = bytesOfNextText, case .text = value {
            value = .text(String(repeating: "x", count: bytes + 1))
            bytesOfNextText = nil
        }
        return try change(row, entity, slot, to: value, on: device)
    }

    private mutating func change(
        _ row: Row, _ entity: EntityLayout, _ slot: Int, to value: AttributeValue,
        on device: SimulatedDevice
    ) throws -> String {
        let property = entity.attributes[slot].name
        var update = RowUpdate(id: row.id, expectedVersion: row.version)
        update.attributes = [(slot, value)]
        let wasHidden = try isHidden(slot, of: row, entity, on: device)
        let name = try save(update, on: device)
        memory.changed(
            name, versions.lastName(of: property),
            EditMemory.Write(
                device: device.name, value: value, previous: row.attributes[slot],
                wasHidden: wasHidden, time: try time(on: device)))
        var changed = row
        changed.attributes[slot] = value
        for key in keys(of: row, entity) + keys(of: changed, entity)
        where key.property == property { memory.keys.spoil(key) }
        for key in keys(of: changed, entity) { memory.keys.took(name, key) }
        return "sets \(property) of \(name.suffix(6)) to \(value.summary)"
    }

    /// Whether a device may show nothing there where others see a value.
    private func isHidden(
        _ slot: Int, of row: Row, _ entity: EntityLayout, on device: SimulatedDevice
    ) throws -> Bool {
        try row.attributes[slot].isNull
            && entity.attributes[slot].attribute.allowsCloudEncryption
            && (hidesSealed || device.waitsForUnlocking())
    }

    /// Adds to one of an object's counters.
    mutating func count(on device: SimulatedDevice) throws -> String? {
        let rules = counters
        let found = try anyRow(on: device) { entity in
            entity.attributes.contains { rules.include($0, of: entity) }
        }
        guard let row = found, let entity = layout.entity(row.id.entity),
            let (slot, counter) = randomness.pick(
                entity.attributes.enumerated().filter { rules.include($0.element, of: entity) })
        else { return nil }
        let (before, added) = (row.attributes[slot], Int64(1 + randomness.below(3)))
        guard let amount = StoryValue.number(added, counter.attribute.attributeType),
            let sum = StoryValue.sum(before, amount)
        else { return nil }
        var update = RowUpdate(id: row.id, expectedVersion: row.version)
        update.attributes = [(slot, sum)]
        let name = try save(update, on: device)
        if case .integer(let added) = amount {
            memory.counted(name, versions.lastName(of: counter.name), added, by: device.name)
        }
        return "counts \(counter.name) of \(name.suffix(6)) from \(before) by \(added)"
    }

    /// Shortens all texts of more than `bytes`, as a user does who is told that they are too large.
    mutating func shortenTexts(on device: SimulatedDevice, above bytes: Int) throws {
        rollbackPercent = 0
        turn(to: device)
        defer { turnToLast() }
        for entity in layout.entities where !entity.entity.isAbstract {
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            for row in try device.store.rows(matching: query) {
                for (slot, value) in row.attributes.enumerated() {
                    guard case .text(let text) = value, text.utf8.count > bytes else { continue }
                    let short = AttributeValue.text("short \(randomness.next())")
                    // It may have been shortened before in another place.
                    let now = try device.store.row(row.id) ?? row
                    _ = try change(now, entity, slot, to: short, on: device)
                }
            }
        }
    }

    /// The unique keys of one attribute that a row holds.
    func keys(of row: Row, _ layout: EntityLayout) -> [KeyMemory.Key] {
        var keys: [KeyMemory.Key] = []
        var entity: NSEntityDescription? = layout.entity
        while let current = entity {
            for names in current.uniquenessConstraintNames where names.count == 1 {
                guard let slot = layout.attributeSlot(names[0]), !row.attributes[slot].isNull else {
                    continue
                }
                keys.append(
                    KeyMemory.Key(
                        entity: current.name ?? "", property: names[0],
                        value: row.attributes[slot]))
            }
            entity = current.superentity
        }
        return keys
    }
}

extension AttributeValue {
    /// The value for a story, where it is not too long to be read.
    var summary: String {
        if case .text(let text) = self, text.utf8.count > 80 {
            "a text of \(text.utf8.count) bytes"
        } else {
            "\(self)"
        }
    }
}
