internal import ObjectModel

/// The members of every to-many relationship, kept from both ends.
struct MemoryLinks {
    /// One owner's relationship.
    private struct Collection: Hashable {
        var owner: RowID
        var slot: Int
    }

    /// A to-one link whose order key is to be set.
    struct Place {
        var member: RowID
        var slot: Int
        var orderKey: Int64?
    }

    /// Who is in a collection, each with its order key where the relationship is ordered.
    private struct Members {
        private(set) var keys: [RowID: Int64?] = [:]
        private var highest: Int64 = 0

        /// A key behind all others.
        var nextKey: Int64 { highest + 2048 }

        subscript(member: RowID) -> Int64?? { keys[member] }

        mutating func put(_ member: RowID, at key: Int64?) {
            keys.updateValue(key, forKey: member)
            highest = max(highest, key ?? 0)
        }

        mutating func remove(_ member: RowID) { keys[member] = nil }
    }

    /// A member of a relationship without inverse: it has one owner, as in a SQLite store.
    private struct OneWay: Hashable {
        var relationship: ObjectIdentifier
        var member: RowID
    }

    private var collections: [Collection: Members] = [:]
    private var owners: [OneWay: Collection] = [:]
    private let oneWays: Set<ObjectIdentifier>
    private let layout: ModelLayout

    init(layout: ModelLayout) {
        self.layout = layout
        let toManys = layout.entities.flatMap(\.toManys)
        oneWays = Set(
            toManys.filter { $0.inverseRelationship == nil }.map(ObjectIdentifier.init))
    }

    func members(of owner: RowID, slot: Int) -> [Link] {
        guard let members = collections[Collection(owner: owner, slot: slot)] else { return [] }
        return members.keys.map { Link($0.key, orderKey: $0.value) }.sorted {
            ($0.orderKey ?? .max, $0.target) < ($1.orderKey ?? .max, $1.target)
        }
    }

    /// Follows the row's to-one links: it leaves the collections of the former, enters those of the
    /// new.
    mutating func relink(_ row: Row, former: Row?) {
        guard let entity = layout.entity(row.id.entity) else { return }
        for (slot, link) in row.toOnes.enumerated() where former?.toOnes[slot] != link {
            if let old = former?.toOnes[slot],
                let back = inverse(entity.toOnes[slot], at: old.target)
            {
                collections[back]?.remove(row.id)
            }
            if let link, let back = inverse(entity.toOnes[slot], at: link.target) {
                let key = entity.toOneIsOrdered[slot] ? link.orderKey ?? nextKey(in: back) : nil
                collections[back, default: Members()].put(row.id, at: key)
            }
        }
    }

    /// Removes a deleted row from all collections, and its own pairs. Links of other rows to it
    /// stay, and make them its members again where it comes back.
    mutating func unlink(_ row: Row) {
        guard let entity = layout.entity(row.id.entity) else { return }
        for (slot, link) in row.toOnes.enumerated() {
            guard let link, let back = inverse(entity.toOnes[slot], at: link.target) else {
                continue
            }
            collections[back]?.remove(row.id)
        }
        for (slot, relationship) in entity.toManys.enumerated()
        where relationship.inverseRelationship?.isToMany != false {
            let own = collections.removeValue(forKey: Collection(owner: row.id, slot: slot))
            for member in (own?.keys ?? [:]).keys {
                owners[OneWay(relationship: ObjectIdentifier(relationship), member: member)] = nil
                guard let back = inverse(relationship, at: member) else { continue }
                collections[back]?.remove(row.id)
            }
        }
        removeFromOneWayCollections(row.id)
    }

    /// Applies a change; returns the order keys that belong into the members' own links.
    mutating func apply(_ change: ToManyChange) -> [Place] {
        guard let entity = layout.entity(change.owner.entity) else { return [] }
        let relationship = entity.toManys[change.slot]
        let collection = Collection(owner: change.owner, slot: change.slot)
        let isOneToMany = relationship.inverseRelationship.map { !$0.isToMany } ?? false
        if !isOneToMany {
            for member in change.removed {
                collections[collection]?.remove(member)
                let place = OneWay(relationship: ObjectIdentifier(relationship), member: member)
                if owners[place] == collection { owners[place] = nil }
                if let back = inverse(relationship, at: member) {
                    collections[back]?.remove(change.owner)
                }
            }
            for link in change.added { add(link, to: collection, along: relationship) }
        }
        guard let order = change.order else { return [] }
        return reorder(collection, order, along: relationship)
    }

    private mutating func add(
        _ link: Link, to collection: Collection, along relationship: NSRelationshipDescription
    ) {
        if relationship.inverseRelationship == nil {
            own(link.target, by: collection, relationship)
        }
        if collections[collection]?[link.target] == nil || link.orderKey != nil {
            let key = relationship.isOrdered ? link.orderKey ?? nextKey(in: collection) : nil
            collections[collection, default: Members()].put(link.target, at: key)
        }
        guard let back = inverse(relationship, at: link.target),
            collections[back]?[collection.owner] == nil
        else { return }
        let isOrdered = relationship.inverseRelationship?.isOrdered ?? false
        let key = isOrdered ? nextKey(in: back) : nil
        collections[back, default: Members()].put(collection.owner, at: key)
    }

    /// Takes a member of a one-way relationship from its former owner.
    private mutating func own(
        _ member: RowID, by collection: Collection, _ relationship: NSRelationshipDescription
    ) {
        let place = OneWay(relationship: ObjectIdentifier(relationship), member: member)
        if let former = owners.updateValue(collection, forKey: place), former != collection {
            collections[former]?.remove(member)
        }
    }

    private mutating func reorder(
        _ collection: Collection, _ order: [RowID], along relationship: NSRelationshipDescription
    ) -> [Place] {
        let back = relationship.inverseRelationship.flatMap { $0.isToMany ? nil : $0.name }
        var places: [Place] = []
        for (index, member) in order.enumerated() where collections[collection]?[member] != nil {
            let key = Int64(index + 1) * 2048
            collections[collection]?.put(member, at: key)
            if let back, let slot = layout.entity(member.entity)?.toOneSlot(back) {
                places.append(Place(member: member, slot: slot, orderKey: key))
            }
        }
        return places
    }

    /// Gives the members that came their places at the end, in the order of the change; returns the
    /// order keys that belong into their own links. Called once all members are there.
    mutating func arrange(_ change: ToManyChange) -> [Place] {
        guard let entity = layout.entity(change.owner.entity) else { return [] }
        let relationship = entity.toManys[change.slot]
        let collection = Collection(owner: change.owner, slot: change.slot)
        let members = change.appended.filter { collections[collection]?[$0] != nil }
        let keys = members.map { (collections[collection]?[$0] ?? nil) ?? .max }
        guard zip(keys, keys.dropFirst()).contains(where: >=) else { return [] }
        let back = relationship.inverseRelationship.flatMap { $0.isToMany ? nil : $0.name }
        return members.compactMap { member in
            let key = nextKey(in: collection)
            collections[collection]?.put(member, at: key)
            return back.flatMap { layout.entity(member.entity)?.toOneSlot($0) }
                .map { Place(member: member, slot: $0, orderKey: key) }
        }
    }

    private func nextKey(in collection: Collection) -> Int64 {
        collections[collection, default: Members()].nextKey
    }

    private func inverse(
        _ relationship: NSRelationshipDescription, at target: RowID
    ) -> Collection? {
        guard let back = relationship.inverseRelationship, back.isToMany else { return nil }
        guard let slot = layout.entity(target.entity)?.toManySlot(back.name) else { return nil }
        return Collection(owner: target, slot: slot)
    }

    private mutating func removeFromOneWayCollections(_ id: RowID) {
        for relationship in oneWays {
            let place = OneWay(relationship: relationship, member: id)
            if let owner = owners.removeValue(forKey: place) { collections[owner]?.remove(id) }
        }
    }
}
