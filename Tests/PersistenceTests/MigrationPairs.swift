import CoreData
import Foundation

/// Two versions of a model by a seed, the second an edit of the first, with objects of the first,
/// and what plain dictionaries say becomes of them.
struct MigrationPair {
    struct Attribute {
        var name: String
        var identifier: String
        var isNumber: Bool
        var isOptional = true
        var fallback: Int?
    }

    struct Link {
        var name: String
        var identifier: String
        var back: String
        var owner: Int
        var member: Int
        var side: TestModel.Side
        var backSide: TestModel.Side
        /// Without an inverse.
        var isLone = false
    }

    struct Entity {
        var name: String
        var identifier: String
        var parent: Int?
        var attributes: [Attribute]
    }

    /// One version; entities are known by their place in the list, in both versions.
    struct Version {
        var entities: [Entity?] = []
        var links: [Link] = []

        /// An entity and its ancestors, itself first.
        func line(_ index: Int) -> [Entity] {
            guard let entity = entities[index] else { return [] }
            return [entity] + (entity.parent.map(line) ?? [])
        }

        /// Whether an entity is another, or inherits from it.
        func isKind(_ index: Int, of other: Int) -> Bool {
            guard let entity = entities[index] else { return false }
            return index == other || (entity.parent.map { isKind($0, of: other) } ?? false)
        }

        var model: NSManagedObjectModel {
            VersionDraft.model { draft in
                for entity in entities.compactMap({ $0 }) {
                    draft.entity(
                        entity.name, entity.attributes.map(Version.description),
                        below: entity.parent.flatMap { entities[$0]?.name },
                        from: entity.identifier)
                }
                for link in links {
                    guard let owner = entities[link.owner], let member = entities[link.member]
                    else { continue }
                    if link.isLone {
                        draft.link(owner.name, link.name, link.side, member.name)
                    } else {
                        draft.link(
                            owner.name, link.name, link.side, member.name, link.back,
                            link.backSide)
                    }
                    draft.rename(owner.name, link.name, from: link.identifier)
                }
            }
        }

        private static func description(_ attribute: Attribute) -> NSAttributeDescription {
            let made =
                attribute.isNumber
                ? number(attribute.name, .integer64AttributeType) : text(attribute.name)
            made.renamingIdentifier = attribute.identifier
            made.isOptional = attribute.isOptional
            made.defaultValue = attribute.fallback
            return made
        }
    }

    private var dice: Dice
    private(set) var old = Version()
    private(set) var new = Version()

    init(seed: UInt64) {
        dice = Dice(seed)
        begin()
        new = old
        for _ in 0...dice.below(6) { edit() }
        for _ in 0..<dice.below(4) { descend() }
        for place in old.links.indices where dice.hits(25) { isolate(place) }
    }

    // MARK: The versions

    private mutating func begin() {
        for index in 0..<(2 + dice.below(4)) {
            let name = ["Kiwi", "Apple", "Zebra", "Melon", "Bread", "Olive"][index]
            var entity = Entity(
                name: name, identifier: name, parent: nil, attributes: [Self.naming])
            if index > 0, dice.hits(33) {
                entity.parent = dice.below(index)
                entity.attributes = []
            }
            for place in 0..<dice.below(4) {
                let name = "a\(index)\(place)"
                entity.attributes.append(
                    Attribute(name: name, identifier: name, isNumber: dice.hits(50)))
            }
            old.entities.append(entity)
        }
        for index in 0..<dice.below(4) {
            old.links.append(
                Link(
                    name: "l\(index)", identifier: "l\(index)", back: "b\(index)",
                    owner: dice.below(old.entities.count), member: dice.below(old.entities.count),
                    side: dice.pick([.one, .many, .ordered]) ?? .one,
                    backSide: dice.pick([.one, .many, .ordered]) ?? .one))
        }
    }

    /// Every object is known by its name.
    private static let naming = Attribute(name: "name", identifier: "name", isNumber: false)

    private mutating func edit() {
        let index = dice.below(new.entities.count)
        guard let entity = new.entities[index] else { return }
        switch dice.below(10) {
        case 0: new.entities[index]?.name = "New\(index)"
        case 1: add(to: index)
        case 2:
            if let place = ownPlace(entity) { new.entities[index]?.attributes.remove(at: place) }
        case 3:
            if let place = ownPlace(entity) {
                new.entities[index]?.attributes[place].name = "r\(dice.below(1_000_000))"
            }
        case 4, 5:
            if !new.links.isEmpty {
                new.links[dice.below(new.links.count)].side =
                    dice.pick([.one, .many, .ordered]) ?? .many
            }
        case 6: if !new.links.isEmpty { new.links.remove(at: dice.below(new.links.count)) }
        case 7: moveBelow(index)
        case 8: raise(index)
        default: remove(index)
        }
    }

    private mutating func ownPlace(_ entity: Entity) -> Int? {
        dice.pick(entity.attributes.indices.filter { entity.attributes[$0].name != "name" })
    }

    private mutating func add(to index: Int) {
        let name = "x\(dice.below(1_000_000))"
        new.entities[index]?.attributes.append(
            Attribute(
                name: name, identifier: name, isNumber: true, isOptional: false, fallback: 5))
    }

    /// Another parent, or none: trees become one, or part.
    private mutating func moveBelow(_ index: Int) {
        if new.entities[index]?.parent != nil {
            new.entities[index]?.parent = nil
            new.entities[index]?.attributes.append(Self.naming)
        } else if index > 0, new.entities[dice.below(index)] != nil {
            let parents = (0..<index).filter { new.entities[$0] != nil }
            new.entities[index]?.parent = dice.pick(parents)
            new.entities[index]?.attributes.removeAll { $0.name == "name" }
        }
    }

    /// An attribute moves up to the parent.
    private mutating func raise(_ index: Int) {
        guard let entity = new.entities[index], let parent = entity.parent,
            let place = ownPlace(entity)
        else { return }
        new.entities[index]?.attributes.remove(at: place)
        new.entities[parent]?.attributes.append(entity.attributes[place])
    }

    /// An attribute, or an end of a link, moves down to an entity that inherits.
    private mutating func descend() {
        let index = dice.below(new.entities.count)
        let below = new.entities.indices.filter { new.entities[$0]?.parent == index }
        guard let entity = new.entities[index], let child = dice.pick(below) else { return }
        if dice.hits(50), let place = ownPlace(entity) {
            new.entities[index]?.attributes.remove(at: place)
            new.entities[child]?.attributes.append(entity.attributes[place])
            return
        }
        for place in new.links.indices where dice.hits(50) {
            if new.links[place].owner == index { new.links[place].owner = child }
            if new.links[place].member == index, dice.hits(50) { new.links[place].member = child }
        }
    }

    /// A link has no inverse, in both versions.
    private mutating func isolate(_ place: Int) {
        old.links[place].isLone = true
        for other in new.links.indices
        where new.links[other].identifier == old.links[place].identifier {
            new.links[other].isLone = true
        }
    }

    /// An entity that nobody inherits from may go.
    private mutating func remove(_ index: Int) {
        guard new.entities.compactMap({ $0 }).count > 1,
            !new.entities.contains(where: { $0?.parent == index })
        else { return }
        new.entities[index] = nil
        new.links.removeAll { $0.owner == index || $0.member == index }
    }

    // MARK: The objects

    mutating func fill(_ context: NSManagedObjectContext) {
        var objects: [Int: [NSManagedObject]] = [:]
        for (index, entity) in old.entities.enumerated() {
            guard let entity else { continue }
            for number in 0..<(1 + dice.below(6)) {
                let object = context.make(entity.name, ["name": "\(index)-\(number)"])
                for attribute in old.line(index).flatMap(\.attributes)
                where attribute.name != "name" && dice.hits(75) {
                    let value = dice.below(1000)
                    object.setValue(
                        attribute.isNumber ? value as Any : "v\(value)", forKey: attribute.name)
                }
                objects[index, default: []].append(object)
            }
        }
        for link in old.links {
            let (owners, others) = (all(of: link.owner, objects), all(of: link.member, objects))
            // Who has no inverse is a member of one owner.
            var free = Set(others)
            for owner in owners where dice.hits(66) {
                var members = others.filter { _ in dice.hits(50) }
                if link.isLone, link.side != .one {
                    members.removeAll { free.remove($0) == nil }
                }
                guard let one = members.first else { continue }
                switch link.side {
                case .one: owner.setValue(one, forKey: link.name)
                case .many: owner.setValue(Set(members), forKey: link.name)
                case .ordered: owner.setValue(NSOrderedSet(array: members), forKey: link.name)
                }
            }
        }
    }

    /// The objects of an old entity and of those that inherit from it.
    private func all(of entity: Int, _ objects: [Int: [NSManagedObject]]) -> [NSManagedObject] {
        old.entities.indices.filter { old.isKind($0, of: entity) }.flatMap { objects[$0] ?? [] }
    }

    /// An object as plain values: by the identifiers of what it has.
    struct Plain: Hashable {
        var entity: String
        var name: String
        var values: [String: String] = [:]
        /// The names at the other ends.
        var links: [String: Set<String>] = [:]
        /// The same in their order, where both versions know one.
        var orders: [String: [String]] = [:]

        var description: String {
            let values = values.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
            let links = links.sorted { $0.key < $1.key }.map { "\($0)=\($1.sorted())" }
            let orders = orders.sorted { $0.key < $1.key }.map { "\($0) in order=\($1)" }
            let all = values + links + orders
            return "\(name) of \(entity): \(all.joined(separator: " "))"
        }
    }

    /// What a store of a version holds.
    func image(
        of version: Version, _ context: NSManagedObjectContext
    ) throws -> [String: Plain] {
        var image: [String: Plain] = [:]
        for (index, entity) in version.entities.enumerated() {
            guard let entity else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
            request.includesSubentities = false
            for object in try context.fetch(request) {
                var plain = Plain(entity: "\(index)", name: object.string("name") ?? "")
                for attribute in version.line(index).flatMap(\.attributes) {
                    let value = object.value(forKey: attribute.name)
                    plain.values[attribute.identifier] = value.map { "\($0)" } ?? "nil"
                }
                for end in version.links.flatMap(ends) where version.isKind(index, of: end.owner) {
                    plain.links[end.key] = Set(object.names(end.name))
                    if end.isOrdered { plain.orders[end.key] = object.names(end.name) }
                }
                image[plain.name] = plain
            }
        }
        return image
    }

    /// What becomes of an image of the old version: values keep their identifiers, what is new gets
    /// its default, and links end where an object is gone, or of no entity that the link knows. Of
    /// several members where one may stay, nothing is said.
    func expected(_ image: [String: Plain]) -> [String: Plain] {
        let staying = image.filter { _, plain in
            Int(plain.entity).map { new.entities[$0] != nil } ?? false
        }
        return staying.mapValues { plain in
            let index = Int(plain.entity) ?? 0
            var made = Plain(entity: plain.entity, name: plain.name)
            for attribute in new.line(index).flatMap(\.attributes) {
                made.values[attribute.identifier] =
                    plain.values[attribute.identifier] ?? attribute.fallback.map { "\($0)" }
                    ?? "nil"
            }
            for end in new.links.filter({ !isNarrowed($0) }).flatMap(ends)
            where new.isKind(index, of: end.owner) {
                func stays(_ name: String) -> Bool {
                    guard let entity = staying[name].flatMap({ Int($0.entity) }) else {
                        return false
                    }
                    return new.isKind(entity, of: end.member)
                }
                made.links[end.key] = (plain.links[end.key] ?? []).filter(stays)
                if end.isOrdered {
                    made.orders[end.key] = (plain.orders[end.key] ?? []).filter(stays)
                }
            }
            return made
        }
    }

    /// A link seen from one of its ends.
    private struct End {
        var key: String
        var name: String
        var owner: Int
        var member: Int
        /// In both versions.
        var isOrdered: Bool
    }

    private func ends(_ link: Link) -> [End] {
        let (key, back) = (link.identifier, "back " + link.identifier)
        let ends = [
            End(
                key: key, name: link.name, owner: link.owner, member: link.member,
                isOrdered: keepsOrder(key, \.side)),
            End(
                key: back, name: link.back, owner: link.member, member: link.owner,
                isOrdered: keepsOrder(key, \.backSide)),
        ]
        return link.isLone ? [ends[0]] : ends
    }

    /// Whether a side of a link is ordered in both versions.
    private func keepsOrder(
        _ identifier: String, _ side: KeyPath<Link, TestModel.Side>
    ) -> Bool {
        [old, new].allSatisfy { version in
            version.links.contains {
                $0.identifier == identifier && $0[keyPath: side] == .ordered
            }
        }
    }

    /// Whether a link had many members and has one now, or many owners that share a member.
    private func isNarrowed(_ link: Link) -> Bool {
        guard let former = old.links.first(where: { $0.identifier == link.identifier }) else {
            return false
        }
        if link.isLone, former.side == .one, link.side != .one { return true }
        return link.side == .one && former.side != .one
    }

    /// An image without what the oracle says nothing about.
    func comparable(_ image: [String: Plain]) -> [String: Plain] {
        let narrowed = Set(
            new.links.filter(isNarrowed).flatMap { [$0.identifier, "back " + $0.identifier] })
        return image.mapValues { plain in
            var plain = plain
            plain.links = plain.links.filter { !narrowed.contains($0.key) }
            plain.orders = plain.orders.filter { !narrowed.contains($0.key) }
            return plain
        }
    }
}
