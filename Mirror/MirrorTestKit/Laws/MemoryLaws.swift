internal import MirrorEngine
internal import ObjectModel
internal import Stores

/// What was saved is there, what was deleted is not, counters come to all counts, and a property
/// whose writers all saw what was there before has what was written last.
struct MemoryLaws {
    let world: SimulatedWorld
    let image: DeviceImage
    let log: ConflictLog

    private var memory: EditMemory { world.editor.memory }

    func check() throws -> [String] {
        var broken = try objectsHold() + undoneHold() + pairsHold()
        guard !world.overrulesWholeObjects else { return broken }
        for (name, state) in image.objects.sorted(by: { $0.key < $1.key })
        where memory.alive.contains(name) && !world.mayMerge(state.entity)
            && !log.waiting.contains(name)
        {
            broken += attributesHold(name, state)
        }
        return broken + log.entries.compactMap(falseConflict)
    }

    private func objectsHold() -> [String] {
        var broken: [String] = []
        for name in memory.alive.sorted()
        where image.objects[name] == nil && !log.endedObjects.contains(name) {
            guard let entity = memory.entities[name], !world.mayMerge(entity) else { continue }
            broken.append("The object \(name.suffix(6)) was saved and is lost.")
        }
        guard world.settings.policy.deletion != .keepEdited, !world.share.wasRevoked else {
            return broken
        }
        for name in memory.dead.sorted()
        where image.objects[name] != nil && !world.network.revivals.contains(name) {
            broken.append("The object \(name.suffix(6)) was deleted and came back.")
        }
        return broken
    }

    /// An object whose deletion was undone is there, unless another device deleted it too, or the
    /// same one once more.
    private func undoneHold() throws -> [String] {
        // Somebody deleted an object that goes on under another name.
        let areTold = memory.authors.deletions.keys.allSatisfy { memory.entities[$0] != nil }
        guard areTold, !world.share.wasRevoked else { return [] }
        return try world.undoneObjects().compactMap { deletion, name in
            let deletions = memory.authors.deletions[deletion.name]?.count ?? 0
            guard name == nil, deletions == 1, !world.mayMerge(deletion.row.id.entity),
                !memory.takenBack.objects.contains(deletion.name)
            else {
                return nil
            }
            return "The deletion of \(deletion.name.suffix(6)) was undone, and it is lost."
        }
    }

    /// Whether both objects of a pair were made by the world's own edits, so that it remembers who
    /// paired them; a store may have been filled before.
    private func wereMadeHere(_ pair: String) -> Bool {
        let ends = pair.split(separator: " ").filter { $0 != "→" }.suffix(2)
        return ends.allSatisfy { memory.entities[String($0)] != nil }
    }

    /// A pair that was added and never removed is there; one that nobody added is not, nor one that
    /// its only adder, or somebody else, removed for good.
    private func pairsHold() -> [String] {
        var broken: [String] = []
        for pair in image.pairs.sorted() where memory.pairs.histories[pair] == nil {
            // Pairs of objects that were merged stand under other names.
            guard !world.hasKeys, wereMadeHere(pair) else { continue }
            broken.append("Nobody added the pair \(pair).")
        }
        for (pair, history) in memory.pairs.histories.sorted(by: { $0.key < $1.key }) {
            let isWhole = history.ends.allSatisfy { name in
                guard let state = image.objects[name] else { return false }
                return !memory.dead.contains(name) && !memory.undone.contains(name)
                    && !memory.takenBack.objects.contains(name)
                    && !world.mayMerge(state.entity)
            }
            guard isWhole, !world.isOneWay(pair), !world.share.wasRevoked else { continue }
            let isThere = image.pairs.contains(pair)
            if history.removals == 0, !isThere {
                broken.append("The pair \(pair) was added and is lost.")
            }
            if history.adders.count == 1, history.removals > 0, isThere, wereMadeHere(pair),
                !world.network.revivals.contains(pairOf: history.ends)
            {
                broken.append("The pair \(pair) was removed and came back.")
            }
        }
        return broken
    }

    private func attributesHold(_ name: String, _ state: ObjectState) -> [String] {
        guard let entity = world.editor.layout.entity(state.entity) else { return [] }
        var broken: [String] = []
        for (slot, attribute) in entity.attributes.enumerated() {
            let value = state.attributes[slot]
            let property = EditMemory.Property(recordName: name, name: attribute.name)
            if world.editor.counters.include(attribute, of: entity) {
                guard let count = memory.counts[property], value != .integer(count),
                    !world.share.wasRevoked, !memory.decided.contains(property)
                else { continue }
                broken.append(
                    "Counter \(attribute.name) of \(name.suffix(6)) is \(value), not \(count).")
                continue
            }
            guard let last = memory.writes[property]?.last?.value, last != value,
                !log.endedProperties.contains(property)
            else { continue }
            if memory.isWrittenByOne(property) || memory.chain(of: property) != nil {
                broken.append(
                    "\(attribute.name) of \(name.suffix(6)) is \(value.summary), though its "
                        + "writers, each knowing the one before, left \(last.summary).")
            }
        }
        return broken
    }

    /// A property whose writers knew of each other is in no conflict log, unless its object was
    /// deleted.
    private func falseConflict(_ device: String, _ conflict: ConflictEntry) -> String? {
        let property = EditMemory.Property(
            recordName: conflict.recordName, name: conflict.property)
        guard DeletionRule(rawValue: conflict.rule) == nil, conflict.rule != "unique",
            conflict.rule != ShareLaws.endRule, !world.share.wasRevoked,
            !world.network.revivals.wasDeleted(conflict.recordName),
            let entity = memory.entities[conflict.recordName], !world.mayMerge(entity),
            memory.isWrittenByOne(property) || memory.chain(of: property) != nil
        else { return nil }
        return "\(device) logged a conflict of \(conflict.property) of "
            + "\(conflict.recordName.suffix(6)), whose writers knew of each other."
    }
}

extension SimulatedWorld {
    /// Whether the standard rule may discard what only one device wrote.
    var overrulesWholeObjects: Bool {
        [MergeRule.overwrite.name, MergeRule.rollback.name].contains(settings.policy.standard.name)
    }

    /// Whether objects of the entity may become one with others, so that one device's values meet
    /// another's of which the memory knows nothing.
    func mayMerge(_ entity: Int32) -> Bool { editor.layout.entity(entity)?.isKeyed ?? false }

    var hasKeys: Bool { editor.layout.entities.contains(where: \.isKeyed) }

    /// Whether a pair's text is of a to-many without inverse, where a member has one owner.
    func isOneWay(_ pair: String) -> Bool {
        editor.catalog.kinds.contains {
            $0.second == nil && pair.hasPrefix("\($0.relationshipNames): ")
        }
    }
}
