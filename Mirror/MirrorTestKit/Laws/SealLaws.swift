internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import Stores

/// A sealed value of an object that became one with others, perhaps where nobody could read it, is
/// one of theirs, or in somebody's log.
struct SealLaws {
    let world: SimulatedWorld
    let image: DeviceImage
    let log: ConflictLog

    private struct Value: Hashable {
        let property: String
        let value: FieldValue?
    }

    private var memory: EditMemory { world.editor.memory }

    func check() -> [String] {
        guard world.settings.faults.devices.sealing != nil, !world.overrulesWholeObjects else {
            return []
        }
        var known: Set<Value> = []
        for (_, entry) in log.entries {
            for value in [entry.local, entry.remote] {
                known.insert(Value(property: entry.property, value: value))
            }
        }
        for state in image.objects.values {
            guard let entity = world.editor.layout.entity(state.entity) else { continue }
            for (slot, attribute) in entity.attributes.enumerated() {
                known.insert(Value(property: attribute.name, value: state.attributes[slot].plain))
            }
        }
        // Replaced by somebody who saw it, under whatever name the object had by then.
        for (property, writes) in memory.writes {
            for write in writes {
                guard let previous = write.previous else { continue }
                known.insert(Value(property: property.name, value: previous.plain))
            }
        }
        for (property, values) in memory.takenBack.replaced {
            for value in values { known.insert(Value(property: property, value: value.plain)) }
        }
        return memory.writes.keys.flatMap { lost($0, known) }.sorted()
    }

    /// Whether an object was deleted that this one may have become one with.
    private func mayBeDeleted(_ name: String) -> Bool {
        memory.dead.contains(name)
            || memory.keys.holders.contains { _, names in
                names.contains(name) && !memory.dead.isDisjoint(with: names)
            }
    }

    /// What of a property is nowhere, where nobody deleted an object that may have had it.
    private func lost(_ property: EditMemory.Property, _ known: Set<Value>) -> [String] {
        guard let number = memory.entities[property.recordName], world.mayMerge(number),
            let entity = world.editor.layout.entity(number),
            let slot = entity.attributeSlot(property.name),
            entity.attributes[slot].attribute.allowsCloudEncryption,
            !memory.decided.contains(property), !mayBeDeleted(property.recordName),
            !log.waiting.contains(property.recordName)
        else { return [] }
        return memory.heads(of: property).compactMap { value in
            guard !value.isNull,
                !known.contains(Value(property: property.name, value: value.plain))
            else { return nil }
            return "\(value.summary) was sealed as \(property.name) of "
                + "\(property.recordName.suffix(6)), and is nowhere."
        }
    }
}
