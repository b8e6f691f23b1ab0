internal import MirrorEngine
internal import ObjectModel
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// The laws of MERGE.md, checked on a world that came to rest. Each finding is one sentence.
struct WorldLaws {
    let world: SimulatedWorld

    func check() throws -> [String] {
        let images = try world.devices.map { (name: $0.name, image: try DeviceImage($0)) }
        guard let first = images.first else { return [] }
        var broken: [String] = []
        for other in images.dropFirst() where other.image != first.image {
            broken.append(
                "Devices \(first.name) and \(other.name) differ: "
                    + first.image.differences(from: other.image).joined(separator: "; "))
        }
        broken += try serviceAgrees(with: first.image)
        for (name, image) in images where !image.dangling.isEmpty {
            broken.append("\(name) has links to nothing: \(image.dangling.joined(separator: ", "))")
        }
        let oneSided = first.image.oneSidedLinks(world.editor.layout)
        if !oneSided.isEmpty {
            broken.append("One-to-one links are not answered: \(oneSided.joined(separator: ", "))")
        }
        broken += try world.devices.flatMap(queueIsEmpty)
        broken += memoryHolds(in: first.image)
        broken += try world.devices.flatMap(noFalseConflict)
        return broken
    }

    private func serviceAgrees(with image: DeviceImage) throws -> [String] {
        guard let device = world.devices.first else { return [] }
        let zone = device.mirrored.settings.zoneName
        let records = try world.service.records(inZone: zone)
        let service = try DeviceImage(records: records, mapping: device.mirrored.settings.mapping)
        guard service != image else { return [] }
        return [
            "The service differs from \(device.name): "
                + service.differences(from: image).joined(separator: "; ")
        ]
    }

    private func queueIsEmpty(_ device: SimulatedDevice) throws -> [String] {
        let status = try device.mirrored.status()
        var broken: [String] = []
        if let pending = status?.pending, pending.total != 0 {
            broken.append("\(device.name)'s export queue is not empty: \(pending)")
        }
        if let refusals = status?.refusals, !refusals.isEmpty {
            broken.append("\(device.name) was refused records: \(refusals.map(\.reason))")
        }
        let check = try device.store.read { try $0.connection.pragma("integrity_check") }
        if check != "ok" {
            broken.append("\(device.name)'s file is damaged: \(String(describing: check))")
        }
        return broken
    }

    /// Whether objects with the same unique key become one, so that one device's values may meet
    /// another's of which the memory knows nothing.
    private var merges: Bool {
        world.editor.layout.entities.contains { !$0.entity.uniquenessConstraints.isEmpty }
    }

    /// What was saved is there, what was deleted is not, counters come to all counts, and a
    /// property that one device alone wrote has what it wrote last.
    private func memoryHolds(in image: DeviceImage) -> [String] {
        let memory = world.editor.memory
        var broken: [String] = []
        let keepsEdited = world.settings.policy.deletion == .keepEdited
        if !merges {
            for name in memory.alive.sorted() where image.objects[name] == nil {
                broken.append("The object \(name.prefix(6)) was saved and is lost.")
            }
        }
        if !keepsEdited {
            for name in memory.dead.sorted() where image.objects[name] != nil {
                broken.append("The object \(name.prefix(6)) was deleted and came back.")
            }
        }
        guard !merges, !overrulesWholeObjects else { return broken }
        for (name, state) in image.objects where memory.alive.contains(name) {
            broken += attributesHold(name, state, memory)
        }
        return broken.sorted()
    }

    /// Whether the standard rule may discard what only one device wrote.
    private var overrulesWholeObjects: Bool {
        [MergeRule.overwrite.name, MergeRule.rollback.name].contains(
            world.settings.policy.standard.name)
    }

    private func attributesHold(
        _ name: String, _ state: ObjectState, _ memory: EditMemory
    ) -> [String] {
        guard let entity = world.editor.layout.entity(state.entity) else { return [] }
        var broken: [String] = []
        for (slot, attribute) in entity.attributes.enumerated() {
            let value = state.attributes[slot]
            if EditMemory.isCounter(attribute.attribute) {
                guard let count = memory.counts[name], value != .integer(count) else { continue }
                broken.append(
                    "Counter \(attribute.name) of \(name.prefix(6)) is \(value), not \(count).")
            } else {
                let key = EditMemory.Property(recordName: name, name: attribute.name)
                guard memory.writers[key]?.count == 1, let last = memory.lastValue[key],
                    last != value
                else { continue }
                broken.append(
                    "\(attribute.name) of \(name.prefix(6)) is \(value), though its only writer "
                        + "left \(last)."
                )
            }
        }
        return broken
    }

    /// A property that one device alone wrote is in no conflict log, unless its object was deleted.
    private func noFalseConflict(_ device: SimulatedDevice) throws -> [String] {
        guard !merges, !overrulesWholeObjects else { return [] }
        let memory = world.editor.memory
        return try device.mirrored.conflicts().compactMap { conflict in
            let key = EditMemory.Property(recordName: conflict.recordName, name: conflict.property)
            guard DeletionRule(rawValue: conflict.rule) == nil, conflict.rule != "unique",
                memory.writers[key]?.count == 1
            else {
                return nil
            }
            return "\(device.name) logged a conflict of \(conflict.property) of "
                + "\(conflict.recordName.prefix(6)), which only one device ever wrote."
        }
    }
}
