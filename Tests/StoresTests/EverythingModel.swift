import Foundation
import ObjectModel

/// A model with every kind of attribute and relationship.
enum EverythingModel {
    static let types: [(name: String, type: NSAttributeType)] = [
        ("small", .integer16AttributeType), ("medium", .integer32AttributeType),
        ("large", .integer64AttributeType), ("price", .decimalAttributeType),
        ("ratio", .doubleAttributeType), ("weight", .floatAttributeType),
        ("title", .stringAttributeType), ("isOpen", .booleanAttributeType),
        ("born", .dateAttributeType), ("photo", .binaryDataAttributeType),
        ("token", .UUIDAttributeType), ("home", .URIAttributeType),
        ("colors", .transformableAttributeType),
    ]

    static func make() -> NSManagedObjectModel {
        let thing = entity("Thing", types.map { attribute($0.name, $0.type) })
        let special = entity("SpecialThing", [attribute("extra", .stringAttributeType)])
        thing.subentities = [special]
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [
            attribute("street", .stringAttributeType), attribute("number", .integer32AttributeType),
        ]
        let box = entity("Box", [attribute("title", .stringAttributeType), place])
        let label = entity("Label", [attribute("title", .stringAttributeType)])
        link(box, "things", .ordered, thing, "box", .one)
        link(thing, "parent", .one, thing, "children", .many)
        link(thing, "friends", .many, thing, "friends", .many)
        link(thing, "labels", .many, label, "things", .many)
        link(box, "ranking", .ordered, label, "boxes", .many)
        link(box, "lid", .one, label, "covers", .one)
        label.declaredProperties.append(relationship("marks", .many, to: box))
        box.declaredProperties.append(relationship("first", .one, to: thing))
        let model = NSManagedObjectModel()
        model.entities = [thing, special, box, label]
        return model
    }

    enum Side { case one, many, ordered }

    static func entity(
        _ name: String, _ properties: [NSPropertyDescription]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = properties
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    static func relationship(
        _ name: String, _ side: Side, to entity: NSEntityDescription
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = side == .one ? 1 : 0
        relationship.isOrdered = side == .ordered
        return relationship
    }

    static func link(
        _ first: NSEntityDescription, _ name: String, _ side: Side, _ second: NSEntityDescription,
        _ backName: String, _ backSide: Side
    ) {
        let forward = relationship(name, side, to: second)
        first.declaredProperties.append(forward)
        guard first !== second || name != backName else {
            forward.inverseRelationship = forward
            return
        }
        let backward = relationship(backName, backSide, to: first)
        second.declaredProperties.append(backward)
        forward.inverseRelationship = backward
        backward.inverseRelationship = forward
    }
}
