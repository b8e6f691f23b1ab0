internal import ObjectModel

/// Turns the rows of a store into the objects of a file: objects by key, properties by name.
struct GraphDrawing<Format: GraphFormat> {
    private let tables: MemoryTables
    private let keys: FileKeys?
    /// The head of each property of an entity, spelled as in the file.
    private var templates: [Int32: Template] = [:]

    private struct Template {
        var entity: String
        var attributes: [(name: String, type: String)]
        /// Derived attributes are not kept: whoever opens the file computes them.
        var derived: [Bool]
        var toOnes: [StoredRelationship]
        var toManys: [StoredRelationship]
        var orders: [Bool]
    }

    init(_ tables: MemoryTables, layout: ModelLayout, keys: FileKeys? = nil) {
        self.tables = tables
        self.keys = keys
        for entity in layout.entities { templates[entity.number] = Self.template(entity) }
    }

    private static func template(_ entity: EntityLayout) -> Template {
        Template(
            entity: Format.entityName(entity.name),
            attributes: entity.attributes.map {
                (Format.propertyName($0.name), StoredType(of: $0.attribute).rawValue)
            },
            derived: entity.attributes.map { $0.attribute is NSDerivedAttributeDescription },
            toOnes: entity.toOnes.map(head), toManys: entity.toManys.map(head),
            orders: entity.toManys.map(\.isOrdered))
    }

    private static func head(_ relationship: NSRelationshipDescription) -> StoredRelationship {
        let least = relationship.isToMany ? relationship.minCount : 1
        return StoredRelationship(
            name: Format.propertyName(relationship.name),
            minCount: relationship.isOptional ? 0 : least, maxCount: relationship.maxCount,
            destination: Format.entityName(relationship.destinationEntity?.name ?? ""))
    }

    var objects: [StoredObject] {
        let objects = tables.rows(of: Array(templates.keys)).compactMap(object)
        return keys == nil ? objects : objects.sorted { $0.key < $1.key }
    }

    private func key(of row: RowID) -> Int64 { keys?.key(of: row) ?? row.key }

    private func object(_ row: Row) -> StoredObject? {
        guard let template = templates[row.id.entity] else { return nil }
        var object = StoredObject(entity: template.entity, key: key(of: row.id))
        for (slot, value) in row.attributes.enumerated()
        where !value.isNull && !template.derived[slot] {
            let (name, type) = template.attributes[slot]
            object.attributes.append(StoredAttribute(name: name, type: type, value: value))
        }
        for (slot, link) in row.toOnes.enumerated() {
            var relationship = template.toOnes[slot]
            // A link to a row that was deleted leads nowhere; it ends with the save.
            if let link, tables.row(link.target) != nil {
                relationship.targets = [key(of: link.target)]
            }
            object.relationships.append(relationship)
        }
        for slot in template.toManys.indices {
            var relationship = template.toManys[slot]
            let members = tables.links.members(of: row.id, slot: slot).map(\.target)
                .filter { tables.row($0) != nil }.map(key)
            relationship.targets = template.orders[slot] ? members : members.sorted()
            object.relationships.append(relationship)
        }
        return object
    }
}
