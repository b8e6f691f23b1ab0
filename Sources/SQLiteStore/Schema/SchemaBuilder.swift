internal import ObjectModel
internal import Stores

/// Makes the schema of a layout, step by step: columns of each tree, join tables, indexes,
/// triggers.
struct SchemaBuilder {
    let layout: ModelLayout
    /// The inheritance trees, each from its root depth first.
    let trees: [[EntityLayout]]
    var schema = SchemaContent()
    /// By entity number and property name, inherited properties included.
    var attributes: [Int32: [String: AttributeColumn]] = [:]
    var links: [Int32: [String: LinkColumns]] = [:]
    /// By the number of the entity that declares the relationship, and its name.
    var owned: [Int32: [String: MemberColumns]] = [:]
    var joins: [Int32: [String: JoinSide]] = [:]
    var joinTables: [Int32: [TableSchema]] = [:]
    /// What derived attributes are computed from, by entity number and name.
    var derivations: [Int32: [String: Derivation]] = [:]
    /// To-manys without inverse, with their owners, by the number of their members' entity.
    private(set) var ownedBy: [Int32: [(owner: EntityLayout, NSRelationshipDescription)]] = [:]
    /// The table of each tree, by the number of its root.
    private(set) var treeTables: [Int32: TableSchema] = [:]
    /// Each entity's root, and how many entities its tree has.
    private var roots: [Int32: (entity: EntityLayout, familySize: Int)] = [:]

    static func schema(of layout: ModelLayout) throws -> StoreSchema {
        var builder = SchemaBuilder(layout: layout)
        try builder.buildColumns()
        builder.buildAround()
        return StoreSchema(layout, builder.schema)
    }

    /// Where the slots of one entity are, without what else its tables need.
    static func columns(of entity: Int32, in layout: ModelLayout) throws -> EntityColumns? {
        var builder = SchemaBuilder(layout: layout)
        try builder.buildColumns()
        return builder.schema.columnsByNumber[entity]
    }

    private init(layout: ModelLayout) {
        self.layout = layout
        var trees: [Int32: [EntityLayout]] = [:]
        for entity in layout.entities {
            var root = entity
            while let parent = Self.parent(of: root, in: layout) { root = parent }
            trees[root.number, default: []].append(entity)
            roots[entity.number] = (root, 0)
        }
        for tree in trees.values {
            for entity in tree { roots[entity.number]?.familySize = tree.count }
        }
        self.trees = trees.values.sorted { $0[0].number < $1[0].number }
    }

    /// The tables, and where each slot is in them.
    private mutating func buildColumns() throws {
        try checkNames()
        readDerivations()
        findOwned()
        for tree in trees { treeTables[tree[0].number] = try table(of: tree) }
        buildJoins()
        for tree in trees {
            if let table = treeTables[tree[0].number] { schema.tables.append(table) }
            for entity in tree { schema.tables += joinTables[entity.number] ?? [] }
        }
        for entity in layout.entities {
            schema.columnsByNumber[entity.number] = columns(of: entity)
            let preserved = entity.preservedSlots
            if !preserved.isEmpty { schema.preservedSlots[entity.number] = preserved }
        }
    }

    /// What stands around the tables.
    private mutating func buildAround() {
        for tree in trees { buildIndexes(of: tree) }
        dropEqualIndexes()
        for tree in trees { buildTriggers(of: tree) }
    }

    private mutating func findOwned() {
        for owner in layout.entities {
            for relationship in owner.toManys where relationship.inverseRelationship == nil {
                guard let member = destination(of: relationship),
                    ownNames(of: owner)(relationship.name)
                else { continue }
                ownedBy[member.number, default: []].append((owner, relationship))
            }
        }
    }

    /// An old flag and a fetch index can ask for one index under one name.
    private mutating func dropEqualIndexes() {
        var names: Set<String> = []
        schema.indexes = schema.indexes.filter {
            names.insert(String(Self.beforeTable($0))).inserted
        }
    }

    /// What stands before " ON ", which is the index's name.
    private static func beforeTable(_ statement: String) -> Substring {
        let bytes = statement.utf8
        let mark = " ON ".utf8
        var place = bytes.startIndex
        while place < bytes.endIndex {
            if bytes[place] == UInt8(ascii: " "), bytes[place...].starts(with: mark) {
                return statement[..<place]
            }
            bytes.formIndex(after: &place)
        }
        return statement[...]
    }

    // MARK: Facts about entities

    static func parent(of entity: EntityLayout, in layout: ModelLayout) -> EntityLayout? {
        entity.entity.superentity?.name.flatMap { layout.entity(named: $0) }
    }

    func root(of entity: EntityLayout) -> EntityLayout { roots[entity.number]?.entity ?? entity }

    func tableName(of entity: EntityLayout) -> String { "Z" + root(of: entity).name.uppercased() }

    /// The destination's layout; nil when the store does not hold it.
    func destination(of relationship: NSRelationshipDescription) -> EntityLayout? {
        relationship.destinationEntity?.name.flatMap { layout.entity(named: $0) }
    }

    func hasSubentities(_ entity: EntityLayout) -> Bool { !entity.entity.subentities.isEmpty }

    /// The names of the properties the store sees first in this entity: its own, and those of
    /// ancestors that the store does not hold.
    func ownNames(of entity: EntityLayout) -> (String) -> Bool {
        let inherited =
            Self.parent(of: entity, in: layout).map { $0.entity.propertiesByName } ?? [:]
        return { inherited[$0] == nil }
    }

    /// The entity in which the store sees the property first.
    func declaring(_ name: String, seenFrom entity: EntityLayout) -> EntityLayout {
        var found = entity
        while let parent = Self.parent(of: found, in: layout),
            parent.entity.propertiesByName[name] != nil
        {
            found = parent
        }
        return found
    }

    // MARK: Names

    /// Names become part of SQL text, so only letters, digits and underscores are let through.
    private func checkNames() throws {
        for entity in layout.entities {
            try Self.check(entity.name, entity: entity.name)
            for slot in entity.attributes {
                for part in slot.name.split(separator: ".", omittingEmptySubsequences: false) {
                    try Self.check(String(part), entity: entity.name)
                }
            }
            for relationship in entity.toOnes + entity.toManys {
                try Self.check(relationship.name, entity: entity.name)
            }
        }
    }

    private static func check(_ name: String, entity: String) throws {
        let isIdentifier = name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
        }
        if isIdentifier && !name.isEmpty { return }
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || scalar.properties.generalCategory == .nonspacingMark
        }
        guard !name.isEmpty, isPlain else {
            throw StoreError(
                .unsupported,
                "A name in the model has characters that no column can have; rename it.",
                fields: ["entity": entity, "name": name])
        }
    }

    // MARK: Slots

    private func columns(of entity: EntityLayout) -> EntityColumns {
        let found = entity.attributes.compactMap { attributes[entity.number]?[$0.name] }
        return EntityColumns(
            number: entity.number, root: root(of: entity).number, table: tableName(of: entity),
            isAlone: roots[entity.number]?.familySize == 1,
            attributes: found,
            toOnes: entity.toOnes.compactMap { links[entity.number]?[$0.name] },
            toManys: entity.toManys.map { place(of: $0, entity) },
            written: written(in: entity))
    }

    private func written(in entity: EntityLayout) -> [WrittenDerivation] {
        let derivations = derivations[entity.number] ?? [:]
        return entity.attributes.enumerated().compactMap { slot, attribute in
            derivations[attribute.name].flatMap {
                WrittenDerivation(slot: slot, of: entity, $0)
            }
        }
    }

    func place(
        of relationship: NSRelationshipDescription, _ entity: EntityLayout
    ) -> ToManyPlace {
        guard let destination = destination(of: relationship) else { return .absent }
        let owner = declaring(relationship.name, seenFrom: entity)
        guard let inverse = relationship.inverseRelationship else {
            return owned[owner.number]?[relationship.name].map(ToManyPlace.owned) ?? .absent
        }
        if inverse.isToMany {
            return joins[owner.number]?[relationship.name].map(ToManyPlace.join) ?? .absent
        }
        guard let link = links[destination.number]?[inverse.name] else { return .absent }
        return .inverse(
            MemberColumns(
                table: tableName(of: destination), key: link.key, companion: link.companion,
                order: link.order, member: destination.number,
                inverseSlot: destination.toOneSlot(inverse.name)))
    }
}
