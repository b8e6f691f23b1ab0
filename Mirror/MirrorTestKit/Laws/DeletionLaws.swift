internal import MirrorEngine
internal import RecordWire
internal import Stores

/// A deletion meets an edit only where somebody edited: what it cuts itself is nobody's edit.
/// Nothing else brings an object back under `keepEdited`, and nothing else is in a log.
struct DeletionLaws {
    let world: SimulatedWorld
    let image: DeviceImage
    let log: ConflictLog

    private var memory: EditMemory { world.editor.memory }

    func check() -> [String] {
        guard !world.share.wasRevoked else { return [] }
        return comebacks() + log.entries.compactMap(falseMeeting)
    }

    private func comebacks() -> [String] {
        guard world.settings.policy.deletion == .keepEdited else { return [] }
        return memory.dead.sorted().compactMap { name in
            guard let state = image.objects[name], !world.mayMerge(state.entity),
                !world.network.revivals.contains(name), !memory.authors.mayMeetDeletion(name),
                !wasLetGo(name)
            else { return nil }
            return "The object \(name.suffix(6)) was deleted, and nobody else's edit keeps it."
        }
    }

    /// Whether a device let go of its partner, which another object has: that is an edit to all who
    /// see it.
    private func wasLetGo(_ name: String) -> Bool {
        log.entries.contains { _, entry in
            entry.rule == "oneToOne" && entry.recordName == name
        }
    }

    private func falseMeeting(_ device: String, _ conflict: ConflictEntry) -> String? {
        let name = conflict.recordName
        guard DeletionRule(rawValue: conflict.rule) != nil, !isDroppedLink(conflict),
            let number = memory.entities[name],
            !world.mayMerge(number), let entity = world.editor.layout.entity(number),
            entity.attributeSlot(conflict.property) != nil
                || entity.toOneSlot(conflict.property) != nil
        else { return nil }
        // A link is lost with its target, too.
        let targets = [conflict.base, conflict.local, conflict.remote].compactMap(\.?.linkedName)
        let ends = [name] + targets
        let property = EditMemory.Property(recordName: name, name: conflict.property)
        guard ends.allSatisfy({ isPlain($0) }),
            !memory.authors.mayMeet(property, deletionsOf: ends),
            !wasOverwritten(conflict), !wasKept(conflict, device)
        else { return nil }
        return "\(device) logged a deletion that met \(conflict.property) of \(name.suffix(6)), "
            + "which nobody else had edited."
    }

    /// Whether a device wrote its whole object over the property, though its user edited others of
    /// it: that is an edit to all who see it, also where somebody looked at the line since and left
    /// it so.
    private func wasOverwritten(_ conflict: ConflictEntry) -> Bool {
        log.entries.contains { _, entry in
            [MergeRule.overwrite.name, ConflictEntry.handRule].contains(entry.rule)
                && entry.winner == "local"
                && entry.recordName == conflict.recordName && entry.property == conflict.property
        }
    }

    /// Whether the device had kept the object from another's deletion before it was deleted there,
    /// too: then nothing was agreed on any more, and all counts that another keeper sent.
    private func wasKept(_ conflict: ConflictEntry, _ device: String) -> Bool {
        conflict.base == nil
            && log.entries.contains { other, entry in
                other == device && entry.rule == DeletionRule.keepEdited.rawValue
                    && entry.winner == "local" && entry.recordName == conflict.recordName
            }
    }

    /// Whether the line tells of a link that came with its object and leads to what is gone.
    private func isDroppedLink(_ conflict: ConflictEntry) -> Bool {
        conflict.base == nil && conflict.local == nil && conflict.winner == "local"
    }

    /// Whether the memory knows all that befell an object.
    private func isPlain(_ name: String) -> Bool {
        guard let entity = memory.entities[name], !world.mayMerge(entity) else { return false }
        return !memory.undone.contains(name) && !world.network.revivals.contains(name)
    }
}

extension FieldValue {
    /// The record that a logged link leads to.
    fileprivate var linkedName: String? {
        switch self {
        case .string(let name): name
        case .reference(let reference): reference.recordName
        default: nil
        }
    }
}
