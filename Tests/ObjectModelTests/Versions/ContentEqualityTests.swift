import Foundation
import ObjectModel
import Testing

/// Models, entities and properties are equal by what they say.
@Suite struct ContentEqualityTests {
    private func model(_ change: (NSEntityDescription, NSAttributeDescription) -> Void)
        -> NSManagedObjectModel
    {
        let attribute = NSAttributeDescription()
        attribute.name = "title"
        attribute.attributeType = .stringAttributeType
        let entity = NSEntityDescription()
        entity.name = "Book"
        entity.properties = [attribute]
        change(entity, attribute)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @Test func everyFactCounts() {
        let plain = model { _, _ in }
        #expect(plain == model { _, _ in })
        #expect(plain.hash == model { _, _ in }.hash)
        let changes: [(NSEntityDescription, NSAttributeDescription) -> Void] = [
            { entity, _ in entity.name = "Tome" },
            { entity, _ in entity.managedObjectClassName = "Book" },
            { entity, _ in entity.isAbstract = true },
            { entity, _ in entity.userInfo = ["a": "b"] },
            { entity, _ in entity.uniquenessConstraints = [["title"]] },
            { _, attribute in attribute.isOptional = false },
            { _, attribute in attribute.defaultValue = "x" },
            { _, attribute in attribute.attributeType = .dateAttributeType },
            { _, attribute in attribute.renamingIdentifier = "name" },
            { _, attribute in attribute.validation.maximum = "3" },
            { _, attribute in attribute.isTransient = true },
        ]
        for change in changes { #expect(plain != model(change)) }
    }

    @Test func descriptionsAreInApplesForm() {
        let entity = model { _, _ in }.entities[0]
        #expect(entity.description.contains(") name Book, managedObjectClassName NSManagedObject,"))
        let text = entity.properties[0].description
        #expect(text.hasPrefix("(<NSAttributeDescription: 0x"))
        #expect(text.contains("name title, isOptional 1, isTransient 0, entity Book,"))
        #expect(text.contains("attributeType 700, attributeValueClassName NSString"))
    }
}
