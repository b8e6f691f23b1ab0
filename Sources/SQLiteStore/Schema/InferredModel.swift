internal import ObjectModel
internal import SQLiteDriver

/// The model that a file's tables suggest, for a look into stores that keep no copy of their own.
///
/// Entities, inheritance and the types of columns are certain. Names are those of the columns, in
/// lower case, as the file keeps no other. A link's destination is where its column says so, or
/// where the names agree and every key is found there; else the column stays a number.
struct InferredModel {
    private struct Tree {
        let root: NSEntityDescription
        let table: TableColumns
    }

    private let connection: Connection
    private let tables: [String: TableColumns]
    private var entities: [Int64: NSEntityDescription] = [:]
    private var trees: [Tree] = []

    static func make(from connection: Connection) throws -> NSManagedObjectModel {
        var inferred = try InferredModel(connection)
        try inferred.addEntities()
        for tree in inferred.trees { try inferred.addProperties(of: tree) }
        for table in inferred.tables.values.sorted(by: { $0.name < $1.name }) {
            inferred.addJoin(table)
        }
        let model = NSManagedObjectModel()
        model.entities = inferred.entities.sorted { $0.key < $1.key }.map(\.value)
        return model
    }

    private init(_ connection: Connection) throws {
        self.connection = connection
        tables = try TableColumns.all(in: connection)
    }

    // MARK: Entities

    /// The entities whose table is there, each below its parent.
    private mutating func addEntities() throws {
        let rows = try connection.rows(
            "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY "
                + "WHERE Z_ENT < \(BookkeepingTables.systemNumbersStart) ORDER BY Z_ENT")
        var waiting = rows.compactMap { row -> (number: Int64, name: String, parent: Int64)? in
            guard let number = row[0].int64, let name = row[1].string else { return nil }
            return (number, name, row[2].int64 ?? 0)
        }
        var grown = true
        while grown {
            let before = waiting.count
            waiting = waiting.filter { !add($0.number, $0.name, below: $0.parent) }
            grown = waiting.count < before
        }
    }

    /// Whether the entity found its place.
    private mutating func add(_ number: Int64, _ name: String, below parent: Int64) -> Bool {
        let entity = NSEntityDescription()
        entity.name = name
        if parent == 0 {
            guard let table = tables["Z" + name.uppercased()], table.hasKey else { return false }
            trees.append(Tree(root: entity, table: table))
        } else {
            guard let above = entities[parent] else { return false }
            above.subentities.append(entity)
        }
        entities[number] = entity
        return true
    }

    // MARK: Properties

    /// Gives the root all that the table has: which subentity a column belongs to is not known.
    private func addProperties(of tree: Tree) throws {
        for column in tree.table.columns {
            guard let name = Self.propertyName(column.name) else {
                addOwned(column, tree)
                continue
            }
            let property =
                try link(column, tree.table).map { destination in
                    Self.relationship(name, to: destination, maxCount: 1)
                } ?? attribute(name, column, tree.table)
            Self.give(property, to: tree.root)
        }
    }

    /// `ZNAME` is called `name`. Nil for the store's own columns and those of other entities.
    private static func propertyName(_ column: String) -> String? {
        let stem = column.dropFirst()
        guard column.hasPrefix("Z"), let first = stem.first, first.isLetter else { return nil }
        return stem.lowercased()
    }

    private func attribute(
        _ name: String, _ column: TableColumns.Column, _ table: TableColumns
    ) throws -> NSPropertyDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.isOptional = true
        attribute.attributeType =
            switch column.type {
            case "INTEGER": .integer64AttributeType
            case "TIMESTAMP": .dateAttributeType
            case "FLOAT": .doubleAttributeType
            case "DECIMAL": .decimalAttributeType
            case "BLOB":
                try isUUID(column, table) ? .UUIDAttributeType : .binaryDataAttributeType
            default: .stringAttributeType
            }
        return attribute
    }

    /// Whether there are values, and each has a UUID's length.
    private func isUUID(_ column: TableColumns.Column, _ table: TableColumns) throws -> Bool {
        let lengths = try connection.rows(
            "SELECT min(length(\(column.quoted))), max(length(\(column.quoted))) "
                + "FROM \(table.quoted)")
        return lengths.first?[0].int64 == 16 && lengths.first?[1].int64 == 16
    }

    /// Adds a property unless the entity, or one above or below it, has its name.
    private static func give(_ property: NSPropertyDescription, to entity: NSEntityDescription) {
        guard isFree(property.name, in: entity) else { return }
        entity.declaredProperties.append(property)
    }

    private static func isFree(_ name: String, in entity: NSEntityDescription) -> Bool {
        var above: NSEntityDescription? = entity
        while let one = above {
            if one.declaredProperties.contains(where: { $0.name == name }) { return false }
            above = one.superentity
        }
        return entity.subentities.allSatisfy { isFree(name, in: $0) }
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, maxCount: Int
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.isOptional = true
        relationship.maxCount = maxCount
        relationship.destinationEntity = destination
        return relationship
    }

    // MARK: Links

    /// Where a column of keys leads; nil for a column that holds numbers.
    private func link(
        _ column: TableColumns.Column, _ table: TableColumns
    ) throws -> NSEntityDescription? {
        guard column.type == "INTEGER" else { return nil }
        if let number = table.companion(of: column.name) { return entities[number] }
        guard table.indexed.contains(column.name) else { return nil }
        // A destination with subentities would have its number in a column beside the key.
        let possible = trees.filter { $0.root.subentities.isEmpty }
        let named = Self.named(like: column, among: possible)
        if let named, try leads(column, of: table, into: named.table) { return named.root }
        guard try hasValues(column, table) else { return nil }
        let holding = try possible.filter { try leads(column, of: table, into: $0.table) }
        return holding.count == 1 ? holding[0].root : nil
    }

    /// The entity whose name a column ends with (`ZKEYASSET`: Asset), else the only one that ends
    /// with the column's (`ZASSET`: DigitalAsset).
    private static func named(like column: TableColumns.Column, among trees: [Tree]) -> Tree? {
        let stem = column.name.dropFirst()
        let names = trees.map { ($0.root.name ?? "").uppercased() }
        let longest = zip(trees, names).filter { stem.hasSuffix($0.1) }.max {
            $0.1.count < $1.1.count
        }
        if let longest { return longest.0 }
        let longer = zip(trees, names).filter { $0.1.hasSuffix(stem) }
        return longer.count == 1 ? longer[0].0 : nil
    }

    private func leads(
        _ column: TableColumns.Column, of table: TableColumns, into other: TableColumns
    ) throws -> Bool {
        let stray = try connection.value(
            "SELECT 1 FROM \(table.quoted) AS a WHERE a.\(column.quoted) IS NOT NULL "
                + "AND NOT EXISTS (SELECT 1 FROM \(other.quoted) AS b "
                + "WHERE b.Z_PK = a.\(column.quoted)) LIMIT 1"
        )
        return stray == nil
    }

    private func hasValues(_ column: TableColumns.Column, _ table: TableColumns) throws -> Bool {
        try connection.value(
            "SELECT 1 FROM \(table.quoted) WHERE \(column.quoted) IS NOT NULL LIMIT 1") != nil
    }

    /// `Z3PARTS` names the owner of a to-many without inverse by its number.
    private func addOwned(_ column: TableColumns.Column, _ tree: Tree) {
        guard let (number, name) = Self.numbered(column.name.dropFirst()), column.type == "INTEGER",
            name.first?.isLetter == true, let owner = entities[number]
        else { return }
        let parts = Self.relationship(name.lowercased(), to: tree.root, maxCount: 0)
        parts.isOrdered = tree.table.has("Z_FOK_\(column.name.dropFirst())")
        Self.give(parts, to: owner)
    }

    /// `Z_1TAGS (Z_1BOOKS, Z_2TAGS)`: the tags of entity 1 are of entity 2, their books of 1.
    private func addJoin(_ table: TableColumns) {
        let keys = table.columns.map(\.name).filter { !$0.hasPrefix("Z_FOK_") }
        guard table.name.hasPrefix("Z_"), keys.count == 2,
            let (here, members) = Self.numbered(table.name.dropFirst(2)),
            let (first, owners) = Self.numbered(keys[0].dropFirst(2)),
            let (there, second) = Self.numbered(keys[1].dropFirst(2)),
            here == first, members == second, members != owners,
            let owner = entities[here], let member = entities[there],
            Self.isFree(members.lowercased(), in: owner),
            Self.isFree(owners.lowercased(), in: member)
        else { return }
        let forth = Self.relationship(members.lowercased(), to: member, maxCount: 0)
        let back = Self.relationship(owners.lowercased(), to: owner, maxCount: 0)
        forth.isOrdered = table.has("Z_FOK_\(keys[1].dropFirst(2))")
        back.isOrdered = table.has("Z_FOK_\(keys[0].dropFirst(2))")
        (forth.inverseRelationship, back.inverseRelationship) = (back, forth)
        Self.give(forth, to: owner)
        Self.give(back, to: member)
    }

    /// `3PARTS` is entity 3's PARTS.
    private static func numbered(_ text: Substring) -> (Int64, String)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), digits.count < text.count else { return nil }
        return (number, String(text.dropFirst(digits.count)))
    }
}
