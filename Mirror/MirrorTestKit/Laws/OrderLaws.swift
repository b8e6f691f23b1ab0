internal import MirrorEngine
internal import ObjectModel
internal import Stores

/// Ordered lists: no two members at one place, and of two that were put at one place the one with
/// the smaller name is first.
struct OrderLaws {
    let world: SimulatedWorld
    let image: DeviceImage

    func check() -> [String] {
        let lists = listsByOwner()
        var broken: [String] = []
        for (list, members) in lists.sorted(by: { $0.key < $1.key })
        where Set(members.values).count < members.count {
            broken.append("Two members of \(list.prefix(20)) are at one place.")
        }
        return broken + sharedPlaces(lists)
    }

    /// Members of each list with their places, by "list owner".
    private func listsByOwner() -> [String: [String: Int64]] {
        var lists: [String: [String: Int64]] = [:]
        for (name, state) in image.objects {
            guard let entity = world.editor.layout.entity(state.entity) else { continue }
            for (slot, link) in state.toOnes.enumerated() where entity.toOneIsOrdered[slot] {
                guard let link, let key = link.orderKey,
                    let list = entity.toOnes[slot].inverseRelationship?.name
                else { continue }
                lists["\(list) \(link.recordName)", default: [:]][name] = key
            }
        }
        return lists
    }

    private func sharedPlaces(_ lists: [String: [String: Int64]]) -> [String] {
        let moves = world.editor.memory.places.moves
        var broken: [String] = []
        for (list, places) in world.editor.memory.places.lists.sorted(by: { $0.key < $1.key }) {
            for (key, sharing) in Dictionary(grouping: places, by: \.key) {
                let members = Set(sharing.map(\.member)).sorted()
                guard members.count == 2, Set(sharing.map(\.device)).count == 2,
                    members.allSatisfy({ moves[$0] == 1 }),
                    world.editor.memory.takenBack.objects.isDisjoint(with: members),
                    !places.contains(where: { $0.key != key && abs($0.key - key) < Self.near })
                else { continue }
                world.statistics.count(.sharedPlace)
                guard !world.settings.faults.lostTime.isPossible, !world.overrulesWholeObjects,
                    let first = lists[list]?[members[0]], let second = lists[list]?[members[1]],
                    first > second
                else { continue }
                broken.append(
                    "\(members[0].suffix(6)) and \(members[1].suffix(6)) were put at one place of "
                        + "\(list.prefix(20)), and the smaller name is not first.")
            }
        }
        return broken.sorted()
    }

    /// Places as near as this may be pushed onto one another.
    private static let near: Int64 = 8
}
