import Foundation
import ObjectModel
import Stores

/// Models made in code for the tests.
enum TestModel {
    static func attribute(
        _ name: String, _ type: NSAttributeType,
        _ change: (NSAttributeDescription) -> Void = { _ in }
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        change(attribute)
        return attribute
    }

    static func entity(
        _ name: String, _ properties: [NSPropertyDescription],
        _ change: (NSEntityDescription) -> Void = { _ in }
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.declaredProperties = properties
        change(entity)
        return entity
    }

    static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    /// Links two entities; an empty name makes no relationship on that side.
    static func relate(
        _ source: NSEntityDescription, _ name: String, toMany: Bool = false, ordered: Bool = false,
        _ destination: NSEntityDescription, inverse: String = "", inverseToMany: Bool = false,
        inverseOrdered: Bool = false
    ) {
        func end(
            _ name: String, _ toMany: Bool, _ ordered: Bool, _ target: NSEntityDescription
        ) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.maxCount = toMany ? 0 : 1
            relationship.isOrdered = ordered
            relationship.destinationEntity = target
            return relationship
        }
        let here = end(name, toMany, ordered, destination)
        source.declaredProperties.append(here)
        guard !inverse.isEmpty else { return }
        if source === destination, inverse == name {
            here.inverseRelationship = here
            return
        }
        let there = end(inverse, inverseToMany, inverseOrdered, source)
        destination.declaredProperties.append(there)
        here.inverseRelationship = there
        there.inverseRelationship = here
    }

    /// One entity with an attribute of every kind.
    static func kinds() -> NSManagedObjectModel {
        let types: [(String, NSAttributeType)] = [
            ("int16", .integer16AttributeType), ("int32", .integer32AttributeType),
            ("int64", .integer64AttributeType), ("flag", .booleanAttributeType),
            ("real", .doubleAttributeType), ("single", .floatAttributeType),
            ("amount", .decimalAttributeType), ("text", .stringAttributeType),
            ("when", .dateAttributeType), ("uuid", .UUIDAttributeType), ("uri", .URIAttributeType),
            ("bytes", .binaryDataAttributeType), ("thing", .transformableAttributeType),
        ]
        let large = attribute("large", .binaryDataAttributeType) {
            $0.allowsExternalBinaryDataStorage = true
        }
        let point = NSCompositeAttributeDescription()
        point.name = "point"
        point.elements = [
            attribute("x", .doubleAttributeType), attribute("y", .doubleAttributeType),
        ]
        return model([entity("Kinds", types.map { attribute($0.0, $0.1) } + [large, point])])
    }

    /// People, what they own and where they live: every kind of relationship.
    static func society() -> NSManagedObjectModel {
        let person = entity(
            "Person",
            [
                attribute("name", .stringAttributeType), attribute("age", .integer64AttributeType),
                attribute("born", .dateAttributeType),
                attribute("email", .stringAttributeType) {
                    $0.preservesValueInHistoryOnDeletion = true
                },
            ]
        ) { $0.uniquenessConstraints = [["email"]] }
        let employee = entity("Employee", [attribute("salary", .doubleAttributeType)])
        let manager = entity("Manager", [attribute("level", .integer16AttributeType)])
        person.subentities = [employee]
        employee.subentities = [manager]
        let place = entity("Place", [attribute("name", .stringAttributeType)])
        let tag = entity(
            "Tag",
            [attribute("name", .stringAttributeType), attribute("rank", .integer32AttributeType)])
        let note = entity("Note", [attribute("text", .stringAttributeType)])
        relate(person, "home", place, inverse: "residents", inverseToMany: true)
        relate(
            employee, "boss", person, inverse: "reports", inverseToMany: true, inverseOrdered: true)
        relate(person, "tags", toMany: true, tag, inverse: "people", inverseToMany: true)
        relate(
            person, "favorites", toMany: true, ordered: true, tag, inverse: "fans",
            inverseToMany: true)
        relate(person, "friends", toMany: true, person, inverse: "friends", inverseToMany: true)
        relate(person, "notes", toMany: true, ordered: true, note)
        relate(place, "mayor", person)
        return model([person, employee, manager, place, tag, note])
    }

    /// Books that count their pages and know their author's name.
    static func library() -> NSManagedObjectModel {
        let count = NSDerivedAttributeDescription()
        count.name = "pageCount"
        count.attributeType = .integer64AttributeType
        count.derivationExpressionText = "pages.@count"
        let authorName = NSDerivedAttributeDescription()
        authorName.name = "authorName"
        authorName.attributeType = .stringAttributeType
        authorName.derivationExpressionText = "author.name"
        func derived(
            _ name: String, _ type: NSAttributeType, _ text: String
        ) -> NSDerivedAttributeDescription {
            let attribute = NSDerivedAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.derivationExpressionText = text
            return attribute
        }
        let book = entity(
            "Book",
            [
                attribute("title", .stringAttributeType), count, authorName,
                derived("searchTitle", .stringAttributeType, "canonical:(title)"),
                derived("upperTitle", .stringAttributeType, "uppercase:(title)"),
                derived("lowerTitle", .stringAttributeType, "lowercase:(title)"),
                derived("changed", .dateAttributeType, "now()"),
                derived("wordSum", .integer64AttributeType, "pages.words.@sum"),
                derived("longest", .integer64AttributeType, "max:(pages.words)"),
            ])
        let page = entity(
            "Page",
            [
                attribute("number", .integer32AttributeType),
                attribute("words", .integer32AttributeType),
            ])
        let author = entity("Author", [attribute("name", .stringAttributeType)])
        relate(book, "pages", toMany: true, page, inverse: "book")
        relate(book, "author", author, inverse: "books", inverseToMany: true)
        return model([book, page, author])
    }
}
