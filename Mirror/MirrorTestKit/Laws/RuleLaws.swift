internal import MirrorEngine
internal import Stores

/// What the rules that need no knowledge of merging come to: the smallest name keeps a unique key,
/// and under `latest` the later edit stays, by the clocks of the devices.
struct RuleLaws {
    let world: SimulatedWorld
    let image: DeviceImage
    let log: ConflictLog

    private var memory: EditMemory { world.editor.memory }

    func check() -> [String] {
        smallestNameSurvives() + latest()
    }

    private func isLatest(_ property: String, of entity: String) -> Bool {
        world.settings.policy.rule(entity: entity, property: property).name == "latest"
    }

    private func smallestNameSurvives() -> [String] {
        let keys = memory.keys.makers.filter { key, names in
            !memory.keys.spoiled.contains(key) && names.isDisjoint(with: log.endedObjects)
                && names.isDisjoint(with: memory.takenBack.objects)
                && !joinsOthers(names)
        }
        world.statistics.count(
            .keyCollision, times: memory.keys.makers.values.count { $0.count > 1 })
        world.statistics.count(.keyChain, times: memory.keys.makers.values.count { $0.count > 2 })
        world.statistics.count(.twinPair, times: memory.pairs.twins)
        return keys.compactMap { key, names -> String? in
            guard let smallest = names.min() else { return nil }
            let others = names.filter { $0 != smallest && image.objects[$0] != nil }
            if image.objects[smallest] != nil && others.isEmpty { return nil }
            if let own = smallestOfOwner(names), others == [own], image.objects[smallest] == nil {
                return nil
            }
            return "Of \(names.count) objects with one key of \(key.entity), "
                + "\(smallest.suffix(6)) has the smallest name, and there "
                + (image.objects[smallest] == nil ? "it is not" : "are others")
                + ": \(others.sorted().map { String($0.suffix(6)) })."
        }.sorted()
    }

    /// Of objects that both users made, the smallest of the owner's: outside of the share it takes
    /// the guest's in, whichever name is smaller (docs/MERGE.md §15).
    private func smallestOfOwner(_ names: Set<String>) -> String? {
        let own = names.subtracting(memory.keys.guests)
        return own.count < names.count ? own.min() : nil
    }

    /// Whether one of these objects has another key in common with an object that is none of them:
    /// the two become one by that key, whose survivor may have another name.
    private func joinsOthers(_ names: Set<String>) -> Bool {
        memory.keys.makers.values.contains { others in
            !others.isDisjoint(with: names) && !others.isSubset(of: names)
        }
    }

    /// Of edits that differ in time and whose devices had seen nothing later, the latest stays.
    private func latest() -> [String] {
        var broken: [String] = []
        for (name, state) in image.objects.sorted(by: { $0.key < $1.key })
        where !world.mayMerge(state.entity) && !memory.dead.contains(name)
            && !log.waiting.contains(name)
        {
            guard let entity = world.editor.layout.entity(state.entity) else { continue }
            for (slot, attribute) in entity.attributes.enumerated()
            where isLatest(attribute.name, of: entity.name) {
                let property = EditMemory.Property(recordName: name, name: attribute.name)
                guard !log.endedProperties.contains(property),
                    let winner = latestWrite(of: property),
                    state.attributes[slot] != winner.value
                else { continue }
                broken.append(
                    "\(attribute.name) of \(name.suffix(6)) is \(state.attributes[slot].summary), "
                        + "though \(winner.device) wrote \(winner.value.summary) latest.")
            }
        }
        return broken
    }

    private func latestWrite(of property: EditMemory.Property) -> EditMemory.Write? {
        guard let writes = memory.writes[property], writes.count > 1,
            Set(writes.map(\.value)).count == writes.count, writes.allSatisfy(\.time.isByClock),
            !memory.savedAgain.contains(property), !memory.decided.contains(property)
        else { return nil }
        let byTime = writes.sorted { $0.time.milliseconds < $1.time.milliseconds }
        let (last, second) = (byTime[byTime.count - 1], byTime[byTime.count - 2])
        let margin = last.time.milliseconds - second.time.milliseconds
        return margin > Self.marginMilliseconds ? last : nil
    }

    /// Edits this close may be in another order: a device gives the edits of one moment times of
    /// their own.
    private static let marginMilliseconds: Int64 = 100
}
