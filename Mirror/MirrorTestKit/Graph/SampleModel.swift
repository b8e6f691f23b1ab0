public import ObjectModel

/// A small model with every kind of relationship, for worlds that bring none of their own.
public enum SampleModel {
    /// Folder 1—n Note (ordered), Note n—m Tag, Note 1—1 Cover, Note n—m Note (itself), Tag → Note
    /// without inverse, TodoNote inherits from Note; attributes of all types.
    ///
    /// With `uniqueLabels`, the label of a tag is unique among all tags.
    ///
    /// With `orderedTags`, the tags of a note are in order.
    ///
    /// With `sealed`, the title, the price and the date of a note and the image of a cover are
    /// sealed, and a tag has a sealed secret.
    public static func make(
        uniqueLabels: Bool = false, orderedTags: Bool = false, sealed: Bool = false
    ) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities(
            uniqueLabels: uniqueLabels, orderedTags: orderedTags, sealed: sealed)
        return model
    }

    static func entities(
        uniqueLabels: Bool, orderedTags: Bool, sealed: Bool
    ) -> [NSEntityDescription] {
        let folder = entity("Folder", [attribute("name", .stringAttributeType)])
        let note = entity("Note", noteAttributes())
        let todo = entity("TodoNote", [attribute("isDone", .booleanAttributeType)])
        let tag = entity("Tag", [attribute("label", .stringAttributeType)])
        let cover = entity("Cover", [attribute("image", .binaryDataAttributeType)])
        note.subentities = [todo]
        connect(folder, "notes", many: true, ordered: true, note, "folder", many: false)
        connect(note, "tags", many: true, ordered: orderedTags, tag, "notes", many: true)
        connect(note, "cover", many: false, cover, "note", many: false)
        connect(note, "linksTo", many: true, note, "linkedFrom", many: true)
        pin(note, to: tag)
        if uniqueLabels { tag.uniquenessConstraints = [["label"]] }
        if sealed {
            tag.properties += [attribute("secret", .stringAttributeType)]
            seal(["title", "price", "edited", "image", "secret"], in: [note, cover, tag])
        }
        return [folder, note, todo, tag, cover]
    }

    /// Whether a model is a sample, by the entities and properties that selections name.
    static func isMade(_ model: NSManagedObjectModel) -> Bool {
        let known = model.entitiesByName.mapValues { Set($0.propertiesByName.keys) }
        let wanted: [String: Set<String>] = [
            "Folder": ["name"], "Note": ["views", "folder"], "TodoNote": [], "Tag": ["label"],
            "Cover": [],
        ]
        return wanted.allSatisfy { name, properties in
            known[name]?.isSuperset(of: properties) ?? false
        }
    }

    static func seal(_ names: [String], in entities: [NSEntityDescription]) {
        for entity in entities {
            for name in names { entity.attributesByName[name]?.allowsCloudEncryption = true }
        }
    }

    /// A to-many relationship that nothing leads back from.
    private static func pin(_ note: NSEntityDescription, to tag: NSEntityDescription) {
        let relationship = NSRelationshipDescription()
        relationship.name = "pinned"
        relationship.destinationEntity = note
        tag.properties += [relationship]
    }

    private static func noteAttributes() -> [NSAttributeDescription] {
        let views = attribute("views", .integer64AttributeType)
        views.userInfo = ["MirrorMerge": "counter"]
        return [
            attribute("title", .stringAttributeType), views,
            attribute("rating", .doubleAttributeType), attribute("price", .decimalAttributeType),
            attribute("edited", .dateAttributeType), attribute("token", .UUIDAttributeType),
            attribute("link", .URIAttributeType),
        ]
    }

    /// Makes an entity that declares `properties`.
    public static func entity(
        _ name: String, _ properties: [NSPropertyDescription]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    /// Makes an optional attribute.
    public static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription
    {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    /// Adds a relationship and its inverse.
    public static func connect(
        _ one: NSEntityDescription, _ name: String, many: Bool, ordered: Bool = false,
        _ other: NSEntityDescription, _ inverseName: String, many inverseMany: Bool
    ) {
        let relationship = NSRelationshipDescription()
        let inverse = NSRelationshipDescription()
        relationship.name = name
        relationship.maxCount = many ? 0 : 1
        relationship.isOrdered = ordered
        relationship.destinationEntity = other
        inverse.name = inverseName
        inverse.maxCount = inverseMany ? 0 : 1
        inverse.destinationEntity = one
        one.properties += [relationship]
        other.properties += [inverse]
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
    }
}
