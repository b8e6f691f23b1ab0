internal import ObjectModel
internal import Stores

/// One column to be: what it holds, and what decides its place in the table.
private struct Seed {
    enum Content {
        case attribute(slot: String, kind: ColumnKind, isDerived: Bool)
        case link(NSRelationshipDescription)
        case owned(NSRelationshipDescription, owner: EntityLayout)
    }

    /// Storage group, place of the entity in its tree, kind within the group.
    var rank: [Int]
    /// The property's name orders the columns of one rank; elements of a composite keep their
    /// order.
    var name: String
    var element = 0
    var base: String
    var entity: EntityLayout
    var content: Content

    func precedes(_ other: Seed) -> Bool {
        if rank != other.rank { return rank.lexicographicallyPrecedes(other.rank) }
        if name != other.name { return name.utf8.lexicographicallyPrecedes(other.name.utf8) }
        return element < other.element
    }
}

/// Gives each name once: a name that is taken gets the next number.
struct NameRegister {
    // A table has few names: looking through them takes less than a set of them.
    private var taken: [LiteralText]
    private var last: [LiteralText: Int] = [:]

    init(taken: Set<String> = []) { self.taken = taken.map { LiteralText($0) } }

    mutating func claim(_ name: String) -> String {
        var candidate = LiteralText(name)
        while taken.contains(candidate) {
            last[LiteralText(name), default: 0] += 1
            candidate = LiteralText("\(name)\(last[LiteralText(name)] ?? 0)")
        }
        taken.append(candidate)
        return candidate.text
    }
}

extension SchemaBuilder {
    /// The table of a tree; notes where each property went.
    mutating func table(of tree: [EntityLayout]) throws -> TableSchema {
        let seeds = try self.seeds(of: tree).sorted { $0.precedes($1) }
        var names = NameRegister(taken: ["Z_PK", "Z_ENT", "Z_OPT"])
        var table = TableSchema(name: tableName(of: tree[0]), columns: TableSchema.head)
        var orders: [TableSchema.Column] = []
        for seed in seeds {
            let name = names.claim("Z" + seed.base)
            if seed.rank[0] > 1, !orders.isEmpty {
                table.columns += orders
                orders = []
            }
            switch seed.content {
            case .attribute(let slot, let kind, let isDerived):
                table.columns.append(.init(name: name, type: kind.declaration))
                attributes[seed.entity.number, default: [:]][slot] = AttributeColumn(
                    name: name, kind: kind, isDerived: isDerived)
            case .link(let relationship):
                let link = self.link(relationship, key: name)
                table.columns += [link.key, link.companion].compactMap { $0.map(Self.integer) }
                orders += [link.order].compactMap { $0.map(Self.integer) }
                links[seed.entity.number, default: [:]][relationship.name] = link
            case .owned(let relationship, let owner):
                let order = relationship.isOrdered ? "Z_FOK_" + name.dropFirst() : nil
                table.columns += [name, order].compactMap { $0.map(Self.integer) }
                owned[owner.number, default: [:]][relationship.name] = MemberColumns(
                    table: table.name, key: name, companion: nil, order: order,
                    member: seed.entity.number, inverseSlot: nil)
            }
        }
        table.columns += orders
        for entity in tree { inherit(entity) }
        return table
    }

    /// Copies what the parent knows; parents come before their subentities.
    private mutating func inherit(_ entity: EntityLayout) {
        guard let parent = Self.parent(of: entity, in: layout) else { return }
        attributes[entity.number, default: [:]].merge(attributes[parent.number] ?? [:]) { own, _ in
            own
        }
        links[entity.number, default: [:]].merge(links[parent.number] ?? [:]) { own, _ in own }
    }

    private static func integer(_ name: String) -> TableSchema.Column {
        .init(name: name, type: "INTEGER")
    }

    private func link(_ relationship: NSRelationshipDescription, key: String) -> LinkColumns {
        let destination = destination(of: relationship)
        let isOrdered =
            relationship.inverseRelationship.map { $0.isToMany && $0.isOrdered } ?? false
        let stem = key.dropFirst()
        var link = LinkColumns(key: key, destination: destination?.number ?? 0)
        link.destinationTable = destination.map(tableName)
        link.order = isOrdered ? "Z_FOK_\(stem)" : nil
        if let destination, hasSubentities(destination) {
            link.companion = "Z\(destination.number)_\(stem)"
        }
        return link
    }

    // MARK: Seeds

    private func seeds(of tree: [EntityLayout]) throws -> [Seed] {
        var seeds: [Seed] = []
        for (place, entity) in tree.enumerated() {
            let isOwn = ownNames(of: entity)
            for (element, slot) in entity.attributes.enumerated() {
                let path = slot.name.split(separator: ".").map(String.init)
                guard let property = path.first, let last = path.last, isOwn(property) else {
                    continue
                }
                let kind = try ColumnKind(of: slot.attribute)
                let derived = slot.attribute is NSDerivedAttributeDescription
                seeds.append(
                    Seed(
                        rank: [kind.storageGroup, place, 0], name: property, element: element,
                        base: last.uppercased(), entity: entity,
                        content: .attribute(slot: slot.name, kind: kind, isDerived: derived)))
            }
            for relationship in entity.toOnes where isOwn(relationship.name) {
                seeds.append(
                    Seed(
                        rank: [1, place, 1], name: relationship.name,
                        base: relationship.name.uppercased(), entity: entity,
                        content: .link(relationship)))
            }
            seeds += ownedSeeds(in: entity, place: place)
        }
        return seeds
    }

    /// To-manys without inverse, of any entity, whose members are of `entity`.
    private func ownedSeeds(in entity: EntityLayout, place: Int) -> [Seed] {
        (ownedBy[entity.number] ?? []).map { owner, relationship in
            Seed(
                rank: [1, place, 2, Int(owner.number)], name: relationship.name,
                base: "\(owner.number)\(relationship.name.uppercased())", entity: entity,
                content: .owned(relationship, owner: owner))
        }
    }
}
