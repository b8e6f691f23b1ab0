internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// The members of one object's ordered relationship.
struct OrderedList: Hashable {
    var owner: RowID
    var slot: Int
}

extension RecordImport {
    /// Notes that a row entered, through its to-one at `slot`, the ordered list of `target`.
    mutating func noteList(of source: RowID, slot: Int, target: RowID) {
        guard let layout = mirror.mapping.layout.entity(source.entity), layout.toOneIsOrdered[slot],
            let inverse = layout.toOnes[slot].inverseRelationship,
            let position = mirror.mapping.layout.entity(target.entity)?.toManySlot(inverse.name)
        else { return }
        touched.lists.insert(OrderedList(owner: target, slot: position))
    }

    /// Two devices may have put different objects at the same place. The one with the larger name
    /// moves behind the other: every device computes the same, so all lists come to the same order.
    mutating func repairOrder() throws {
        for list in touched.lists.sorted(by: { ($0.owner, $0.slot) < ($1.owner, $1.slot) }) {
            try repair(list)
        }
        touched.lists = []
    }

    private mutating func repair(_ list: OrderedList) throws {
        var members: [(name: String, link: Link, key: Int64)] = []
        for link in try mirror.store.members(of: list.owner, toMany: list.slot) {
            guard let key = link.orderKey else { continue }
            members.append((try mirror.ledger.recordName(for: link.target), link, key))
        }
        members.sort { ($0.key, $0.name) < ($1.key, $1.name) }
        for (member, key) in zip(members, Self.distinct(members.map(\.key)))
        where member.key != key {
            try move(member.link.target, to: key, in: list)
        }
    }

    /// The keys, sorted, each larger than the one before; all given anew where the numbers end.
    static func distinct(_ keys: [Int64]) -> [Int64] {
        var distinct: [Int64] = []
        for key in keys {
            guard let last = distinct.last, key <= last else {
                distinct.append(key)
                continue
            }
            guard last < .max else { return keys.indices.map { 2048 + Int64($0) * 1024 } }
            distinct.append(last + 1)
        }
        return distinct
    }

    private mutating func move(_ member: RowID, to key: Int64, in list: OrderedList) throws {
        let relationship = try mirror.layout(of: list.owner).toManys[list.slot]
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            guard let slot = try mirror.layout(of: member).toOneSlot(inverse.name) else { return }
            var update = RowUpdate(id: member)
            update.toOnes = [(slot, Link(list.owner, orderKey: key))]
            changes.updates.append(update)
            try mirror.enqueueUpload(member)
        } else {
            var change = ToManyChange(owner: list.owner, slot: list.slot)
            change.added = [Link(member, orderKey: key)]
            changes.toManys.append(change)
            try flush()
            try mirror.comparePairs(of: list.owner)
        }
    }
}
