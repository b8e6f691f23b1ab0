internal import MirrorEngine
internal import Stores

/// Where time was lost, the oracle's memory is not what must be there; what the devices held when
/// faults ended is.
struct HeldLaws {
    let world: SimulatedWorld
    let image: DeviceImage

    func check() -> [String] {
        var names: Set<String> = []
        // What another user's device held alone may go with the share.
        for (device, held) in zip(world.devices, world.lostTime.heldImages)
        where device.user == nil {
            // What came back and nobody looked at gets its name by the next look.
            names.formUnion(held.objects.keys.filter { !DeviceImage.isUnnamed($0) })
        }
        var broken: [String] = []
        for name in names.sorted() {
            let states = world.lostTime.heldImages.compactMap { $0.objects[name] }
            guard let entity = states.first?.entity, !world.mayMerge(entity) else { continue }
            if let state = image.objects[name] {
                broken += valuesHold(name, states, state)
            } else if !world.editor.memory.dead.contains(name),
                !world.editor.memory.undone.contains(name)
            {
                broken.append(
                    "The object \(name.suffix(6)) was held by a device when faults ended, and is "
                        + "lost.")
            }
        }
        return broken + deletionsHold()
    }

    /// A value that all devices held who held the object is there, unless the service held another.
    private func valuesHold(
        _ name: String, _ states: [ObjectState], _ final: ObjectState
    ) -> [String] {
        guard let first = states.first, !world.overrulesWholeObjects,
            let entity = world.editor.layout.entity(first.entity)
        else { return [] }
        let service = world.lostTime.heldByService?.objects[name]
        return entity.attributes.indices.compactMap { slot in
            let value = first.attributes[slot]
            let isAgreed =
                states.allSatisfy { $0.attributes[slot] == value }
                && (service == nil || service?.attributes[slot] == value)
            let property = EditMemory.Property(
                recordName: name, name: entity.attributes[slot].name)
            // Who decided a conflict that waited may have chosen another.
            guard isAgreed, final.attributes[slot] != value,
                !world.editor.memory.decided.contains(property),
                !world.editor.counters.include(entity.attributes[slot], of: entity)
            else { return nil }
            return "\(entity.attributes[slot].name) of \(name.suffix(6)) was \(value.summary) on "
                + "all devices when faults ended, and is \(final.attributes[slot].summary)."
        }
    }

    /// An object that somebody deleted, and that no device held when faults ended, stays away.
    private func deletionsHold() -> [String] {
        guard world.settings.policy.deletion != .keepEdited, !world.share.wasRevoked else {
            return []
        }
        return world.editor.memory.dead.sorted().compactMap { name in
            guard image.objects[name] != nil,
                !world.lostTime.heldImages.contains(where: { $0.objects[name] != nil }),
                !world.network.revivals.contains(name), world.isKnownDead(name)
            else { return nil }
            return
                "The object \(name.suffix(6)), which no device held when faults ended, came back."
        }
    }
}

extension SimulatedWorld {
    /// Whether the devices' files still know of a deletion: none of them was put back or replaced.
    func isKnownDead(_ name: String) -> Bool {
        settings.faults.lostTime.storeRestorePercent + settings.faults.lostTime.storeCopyPercent
            == 0
    }
}
