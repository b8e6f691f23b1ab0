internal import Foundation
internal import ObjectModel
internal import Stores

extension SchemaBuilder {
    /// The indexes of one tree's table and of the join tables its entities name, in Apple's order.
    mutating func buildIndexes(of tree: [EntityLayout]) {
        let table = tableName(of: tree[0])
        for column in foreignKeys(of: tree) {
            schema.indexes.append("CREATE INDEX \(table)_\(column)_INDEX ON \(table) (\(column))")
        }
        if tree.count > 1 {
            schema.indexes.append("CREATE INDEX \(table)_Z_ENT_INDEX ON \(table) (Z_ENT)")
        }
        for join in tree.flatMap({ joinTables[$0.number] ?? [] }) {
            let (first, second) = (join.primaryKey[0], join.primaryKey[1])
            schema.indexes.append(
                "CREATE INDEX \(join.name)_\(second)_INDEX ON \(join.name) (\(second), \(first))")
        }
        for entity in tree {
            buildLegacyIndexes(of: entity, table: table)
            buildFetchIndexes(of: entity, table: table)
            buildPlaces(of: entity, table: table)
            buildConstraints(of: entity, table: table)
        }
    }

    private func foreignKeys(of tree: [EntityLayout]) -> [String] {
        let keys = Set(
            tree.flatMap { (links[$0.number] ?? [:]).values.map(\.key) }
                + owned.values.flatMap(\.values).map(\.key))
        return (treeTables[tree[0].number]?.columns ?? []).map(\.name).filter { keys.contains($0) }
    }

    /// The old flag of single attributes, and the old groups of several. Xcode's compiler makes an
    /// index with the attribute's name for each ascending fetch index of one attribute, so a model
    /// read from its source gets it too; one read from an archive has it there. The flag counts
    /// where no fetch index names the attribute.
    private mutating func buildLegacyIndexes(of entity: EntityLayout, table: String) {
        let isOwn = ownNames(of: entity)
        let isSource = !layout.model.documentFacts.isEmpty
        let alone = Set(
            entity.entity.indexes
                .filter { isSource && $0.elements.count == 1 && $0.elements[0].isAscending }
                .compactMap { $0.elements[0].property?.name ?? $0.elements[0].propertyName })
        let named = Set(entity.entity.indexes.flatMap { $0.elements.map(Self.name(of:)) })
        for slot in entity.attributes
        where isOwn(slot.name)
            && (slot.attribute.isIndexed && !named.contains(slot.name) || alone.contains(slot.name))
        {
            guard let column = attributes[entity.number]?[slot.name]?.name else { continue }
            let name = sqlName("Z_\(entity.name)_\(slot.name)")
            schema.indexes.append(
                "CREATE INDEX \(name) ON \(table) (\(column) COLLATE BINARY ASC)")
        }
        for group in compoundIndexes(of: entity) {
            let columns = group.compactMap { column(of: $0, in: entity) }
            guard columns.count == group.count, columns.count > 1 else { continue }
            let name = sqlName("Z_\(entity.name)_\(group.joined(separator: "_"))")
            let list = columns.map { "\($0) COLLATE BINARY ASC" }.joined(separator: ", ")
            schema.indexes.append("CREATE INDEX \(name) ON \(table) (\(list))")
        }
    }

    /// The old groups that no fetch index has replaced and no ancestor made.
    private func compoundIndexes(of entity: EntityLayout) -> [[String]] {
        func names(_ groups: [[Any]]) -> [[String]] {
            groups.map { group in
                group.map { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name ?? "" }
            }
        }
        func columns(_ group: [String]) -> [String?] { group.map { column(of: $0, in: entity) } }
        let replaced = entity.entity.indexes.map { columns($0.elements.map(Self.name(of:))) }
        let inherited = names(entity.entity.superentity?.compoundIndexes ?? [])
        return names(entity.entity.compoundIndexes).filter {
            !replaced.contains(columns($0)) && !inherited.contains($0)
        }
    }

    /// The property an element names, or the expression it is: `self` and `entity` are the key's
    /// and the entity's columns.
    private static func name(of element: NSFetchIndexElementDescription) -> String {
        element.property?.name ?? element.propertyName ?? element.expressionText ?? ""
    }

    // MARK: Fetch indexes

    /// The entity's own fetch indexes. Those of its ancestors serve its rows too.
    private mutating func buildFetchIndexes(of entity: EntityLayout, table: String) {
        var built: Set<String> = []
        for index in entity.entity.indexes where built.insert(index.name).inserted {
            build(index, for: entity, table: table)
        }
    }

    private mutating func build(
        _ index: NSFetchIndexDescription, for entity: EntityLayout, table: String
    ) {
        let properties = index.elements.map { Self.name(of: $0) }
        // A foreign key has an index of its own, and so has a join table.
        if properties.count == 1, entity.entity.relationshipsByName[properties[0]] != nil { return }
        let columns = properties.compactMap { column(of: $0, in: entity) }
        guard !columns.isEmpty, columns.count == properties.count else {
            return note(
                entity, index.name, "A property of this index has no column; it is not made.")
        }
        if index.elements.contains(where: { $0.collationType == .rTree }) {
            return buildTree(index.name, columns: columns, for: entity, table: table)
        }
        let list = zip(columns, index.elements).map {
            "\($0) COLLATE BINARY \($1.isAscending ? "ASC" : "DESC")"
        }
        guard let condition = condition(of: index, in: entity) else { return }
        let name = sqlName("Z_\(entity.name)_\(index.name)")
        schema.indexes.append(
            "CREATE INDEX \(name) ON \(table) (\(list.joined(separator: ", ")))\(condition)")
    }

    func column(of property: String, in entity: EntityLayout) -> String? {
        if property == "self" || property == "SELF" || property == "objectID" { return "Z_PK" }
        if property == "entity", entity.entity.propertiesByName[property] == nil { return "Z_ENT" }
        return attributes[entity.number]?[property]?.name ?? links[entity.number]?[property]?.key
    }

    /// The WHERE of a partial index; empty where there is none; nil where it has no SQL.
    private mutating func condition(
        of index: NSFetchIndexDescription, in entity: EntityLayout
    ) -> String? {
        guard let text = index.partialIndexPredicateText, !text.isEmpty else { return "" }
        let builder = self
        let condition = PartialCondition { builder.column(of: $0, in: entity) }
        if let sql = condition.text(of: text) { return " WHERE \(sql)" }
        note(
            entity, index.name,
            "The condition \(text) of this partial index has no SQL here; the index is not made.")
        return nil
    }

    /// A transient attribute whose note in the model names the parts of a place has an R-tree over
    /// them. Source: the stores of Photos.
    private mutating func buildPlaces(of entity: EntityLayout, table: String) {
        let isOwn = ownNames(of: entity)
        for property in entity.entity.properties.sorted(by: { $0.name < $1.name })
        where property.isTransient && isOwn(property.name) {
            let parts = Self.parts(
                ofPlace: property.userInfo?["_NSLocationAttributeDerivedComponents"])
            let columns = parts.compactMap { column(of: $0, in: entity) }
            guard !columns.isEmpty, columns.count == parts.count else { continue }
            buildTree(property.name, columns: columns, for: entity, table: table)
        }
    }

    /// The names in such a note: a text with commas between them, or a list.
    private static func parts(ofPlace note: Any?) -> [String] {
        let list = (note as? [Any])?.compactMap { $0 as? String }
        let parts = list ?? (note as? String)?.split(separator: ",").map(String.init) ?? []
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// An R-tree and the triggers that keep it equal to its table.
    private mutating func buildTree(
        _ index: String, columns: [String], for entity: EntityLayout, table: String
    ) {
        let plain = "Z_RT_\(entity.name)_\(index)"
        schema.placeTables.insert(table)
        let name = sqlName(plain)
        let bounds = columns.flatMap { ["\($0)_MIN", "\($0)_MAX"] }
        let declared = bounds.map { "\($0) FLOAT" }.joined(separator: ", ")
        schema.tables.append(
            TableSchema(
                name: name, columns: [],
                virtual: "USING RTREE (Z_PK INTEGER PRIMARY KEY, \(declared))"))
        let target = "INTO \(name) (Z_PK, \(bounds.joined(separator: ", ")))"
        // The space before the first comma is Apple's.
        let values = columns.enumerated().map { place, column in
            "NEW.\(column)\(place == 0 ? " ," : ", ")NEW.\(column)"
        }.joined(separator: ", ")
        let drop = "DELETE FROM \(name) WHERE Z_PK ="
        func trigger(_ event: String, _ body: String) {
            schema.triggers.append(
                "CREATE TRIGGER \(sqlName("\(plain)_\(event)")) AFTER \(event) ON \(table) "
                    + "FOR EACH ROW BEGIN \(body) ; END")
        }
        trigger("INSERT", "INSERT OR REPLACE \(target) VALUES (NEW.Z_PK, \(values))")
        trigger("UPDATE", "\(drop) NEW.Z_PK ; INSERT \(target) VALUES (NEW.Z_PK, \(values))")
        trigger("DELETE", "\(drop) OLD.Z_PK")
    }

    // MARK: Constraints

    private mutating func buildConstraints(of entity: EntityLayout, table: String) {
        for constraint in entity.entity.uniquenessConstraints {
            let names = constraint.compactMap {
                ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name
            }
            let columns = names.compactMap { column(of: $0, in: entity) }
            guard !columns.isEmpty, columns.count == constraint.count else {
                let subject = names.joined(separator: ", ")
                note(
                    entity, subject, "A property of this constraint has no column; it is not kept.")
                continue
            }
            let index = "Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))"
            schema.constraints.append(
                UniqueConstraint(
                    entity: entity.number, table: table, properties: names, columns: columns,
                    indexName: index))
            let list = columns.map { "\($0) COLLATE BINARY ASC" }.joined(separator: ", ")
            schema.indexes.append("CREATE UNIQUE INDEX \(sqlName(index)) ON \(table) (\(list))")
        }
    }

    mutating func note(_ entity: EntityLayout, _ subject: String, _ text: String) {
        schema.notes.append(SchemaNote(entity: entity.name, subject: subject, text: text))
    }
}

/// The name as it stands in SQL text: quoted where it is not a plain identifier.
func sqlName(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || byte >= 128
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
    }
    return isPlain ? name : "\"\(name.replacing("\"", with: "\"\""))\""
}
