internal import ObjectModel
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// Gives the members of ordered lists the places that were agreed on, after a migration that made a
/// new file and numbered them anew. A list in which anything has moved keeps its new places.
struct PlaceRestoring {
    let mirror: MirrorTransaction
    private var changes = ChangeSet()

    init(mirror: MirrorTransaction) {
        self.mirror = mirror
        changes.author = RecordNames.importAuthor
    }

    mutating func run() throws {
        for entity in mirror.mapping.layout.entities where !entity.entity.isAbstract {
            let slots = entity.toManys.indices.filter { entity.toManys[$0].isOrdered }
            guard !slots.isEmpty else { continue }
            var query = RowQuery(entity: entity.number)
            query.includesSubentities = false
            for owner in try mirror.store.ids(matching: query) {
                for slot in slots { try restore(entity, slot, of: owner) }
            }
        }
        if !changes.isEmpty { _ = try mirror.store.apply(changes) }
    }

    private mutating func restore(
        _ entity: EntityLayout, _ slot: Int, of owner: RowID
    ) throws {
        guard let name = try mirror.ledger.knownName(of: owner) else { return }
        let members = try mirror.store.members(of: owner, toMany: slot)
        let relationship = entity.toManys[slot]
        let agreed =
            relationship.ordersToOnes
            ? try members.map { try place(of: $0.target, in: relationship, owner: name) }
            : try places(of: members, owner: name, owner, slot)
        let places = agreed.compactMap { $0 }
        guard places.count == members.count, Self.isRising(places),
            Self.isRising(members.compactMap(\.orderKey))
        else { return }
        var change = ToManyChange(owner: owner, slot: slot)
        for (member, place) in zip(members, places) where member.orderKey != place {
            let link = Link(member.target, orderKey: place)
            guard relationship.ordersToOnes else {
                change.added.append(link)
                continue
            }
            var update = RowUpdate(id: member.target)
            if let inverse = relationship.inverseRelationship?.name,
                let toOne = try mirror.layout(of: member.target).toOneSlot(inverse)
            {
                update.toOnes = [(toOne, Link(owner, orderKey: place))]
                changes.updates.append(update)
            }
        }
        if !change.added.isEmpty { changes.toManys.append(change) }
    }

    private static func isRising(_ places: [Int64]) -> Bool {
        zip(places, places.dropFirst()).allSatisfy { $0 < $1 }
    }

    /// The place of a member whose row keeps its link to the list's owner.
    private func place(
        of member: RowID, in relationship: NSRelationshipDescription, owner: String
    ) throws -> Int64? {
        guard let inverse = relationship.inverseRelationship?.name,
            let base = try mirror.ledger.entry(for: member)?.base, !base.deleted
        else { return nil }
        let layout = try mirror.layout(of: member)
        guard let slot = layout.toOneSlot(inverse),
            let link = mirror.mapping.link(slot, of: layout, in: base), link.leads(to: owner)
        else { return nil }
        return link.orderKey
    }

    /// The places of members that are in pairs with the owner.
    private func places(
        of members: [Link], owner name: String, _ owner: RowID, _ slot: Int
    ) throws -> [Int64?] {
        guard let end = mirror.pairs.ends(of: owner.entity).first(where: { $0.slot == slot }) else {
            return []
        }
        var known: [String: Int64] = [:]
        for entry in try mirror.ledger.pairs(of: name, isFirst: end.isFirst, kind: end.kind)
        where !entry.needsDelete {
            let other = end.isFirst ? entry.pair.second : entry.pair.first
            known[other] = end.isFirst ? entry.pair.firstOrder : entry.pair.secondOrder
        }
        return try members.map { try mirror.ledger.knownName(of: $0.target).flatMap { known[$0] } }
    }
}
