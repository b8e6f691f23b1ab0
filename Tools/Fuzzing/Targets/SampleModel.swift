public import ObjectModel

/// The model of the stores that the fuzzer opens: every kind of attribute and relationship, small.
public enum SampleModel {
    private static let types: [(name: String, type: NSAttributeType)] = [
        ("small", .integer16AttributeType), ("medium", .integer32AttributeType),
        ("large", .integer64AttributeType), ("price", .decimalAttributeType),
        ("ratio", .doubleAttributeType), ("weight", .floatAttributeType),
        ("title", .stringAttributeType), ("isOpen", .booleanAttributeType),
        ("born", .dateAttributeType), ("photo", .binaryDataAttributeType),
        ("token", .UUIDAttributeType), ("home", .URIAttributeType),
        ("colors", .transformableAttributeType),
    ]

    public static func make() -> NSManagedObjectModel {
        let thing = entity("Thing", types.map { attribute($0.name, $0.type) })
        let special = entity("SpecialThing", [attribute("extra", .stringAttributeType)])
        thing.subentities = [special]
        let box = entity("Box", [attribute("title", .stringAttributeType)])
        link(box, "things", isOrdered: true, to: thing, "box", isToMany: false)
        link(thing, "boxes", isOrdered: false, to: box, "content", isToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [thing, special, box]
        return model
    }

    private static func entity(
        _ name: String, _ properties: [NSPropertyDescription]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.allowsExternalBinaryDataStorage = type == .binaryDataAttributeType
        return attribute
    }

    /// A to-many relationship and its inverse.
    private static func link(
        _ first: NSEntityDescription, _ name: String, isOrdered: Bool,
        to second: NSEntityDescription, _ backName: String, isToMany: Bool
    ) {
        let forward = NSRelationshipDescription()
        forward.name = name
        forward.destinationEntity = second
        forward.maxCount = 0
        forward.isOrdered = isOrdered
        let backward = NSRelationshipDescription()
        backward.name = backName
        backward.destinationEntity = first
        backward.maxCount = isToMany ? 0 : 1
        forward.inverseRelationship = backward
        backward.inverseRelationship = forward
        first.declaredProperties.append(forward)
        second.declaredProperties.append(backward)
    }
}
