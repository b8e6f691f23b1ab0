import Foundation
import Testing

@testable import ObjectModel

/// Models built in code.
@Suite struct BuildingTests {
    @Test func whatLeadsToAnEntityDoesNotHoldIt() {
        let relationship = NSRelationshipDescription()
        let child = NSEntityDescription()
        let index = NSFetchIndexDescription(name: "byName", elements: [])
        do {
            let entity = NSEntityDescription()
            relationship.destinationEntity = entity
            entity.subentities = [child]
            entity.indexes = [index]
            #expect(relationship.destinationEntity === entity)
            #expect(child.superentity === entity && index.entity === entity)
        }
        #expect(relationship.destinationEntity == nil)
        #expect(child.superentity == nil && index.entity == nil)
    }

    /// Authors and books, a novel being a book.
    static func library() -> NSManagedObjectModel {
        let author = NSEntityDescription()
        author.name = "Author"
        let book = NSEntityDescription()
        book.name = "Book"
        let novel = NSEntityDescription()
        novel.name = "Novel"
        let title = NSAttributeDescription()
        title.name = "title"
        title.type = .string
        title.defaultValue = "Untitled"
        let books = NSRelationshipDescription()
        books.name = "books"
        books.destinationEntityName = "Book"
        books.inverseRelationshipName = "author"
        let writer = NSRelationshipDescription()
        writer.name = "author"
        writer.maxCount = 1
        writer.destinationEntityName = "Author"
        writer.inverseRelationshipName = "books"
        let genre = NSAttributeDescription()
        genre.name = "genre"
        genre.attributeType = .stringAttributeType
        author.properties = [books]
        book.properties = [title, writer]
        book.subentities = [novel]
        novel.properties = [genre]
        book.indexes = [
            NSFetchIndexDescription(
                name: "byTitle",
                elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        ]
        book.uniquenessConstraints = [["title"], [title, writer]]
        let model = NSManagedObjectModel()
        model.entities = [author, book, novel]
        model.setEntities([author], forConfigurationName: "People")
        return model
    }

    private func entity(_ model: NSManagedObjectModel, _ name: String) throws -> NSEntityDescription
    {
        try #require(model.entitiesByName[name])
    }

    @Test func endsGivenByNameAreFoundWhenTheEntitiesAreSet() throws {
        let model = Self.library()
        let books = try #require(try entity(model, "Author").relationshipsByName["books"])
        let author = try #require(try entity(model, "Book").relationshipsByName["author"])
        #expect(books.destinationEntity === model.entitiesByName["Book"])
        #expect(books.inverseRelationship === author && author.inverseRelationship === books)
        try model.checkConsistency()
    }

    @Test func endsAreFoundWhenTheirEntityComesLater() throws {
        let full = Self.library()
        let entities = full.entities
        full.entities = []
        let model = NSManagedObjectModel()
        for entity in entities { model.entities.append(entity) }
        try model.checkConsistency()
        #expect(entities.allSatisfy { $0.managedObjectModel === model })
    }

    @Test func settingAllPropertiesKeepsInheritedOnesWhereTheyAre() throws {
        let model = Self.library()
        let novel = try entity(model, "Novel")
        novel.properties = novel.properties.filter { $0.name != "genre" }
        #expect(novel.declaredProperties.isEmpty)
        #expect(novel.properties.map(\.name) == ["title", "author"])
        #expect(novel.properties[0].entity === model.entitiesByName["Book"])
    }

    @Test func aRedeclaredPropertyHidesTheInheritedOne() throws {
        let model = Self.library()
        let novel = try entity(model, "Novel")
        let own = NSAttributeDescription()
        own.name = "title"
        own.attributeType = .dateAttributeType
        novel.properties.append(own)
        #expect(novel.properties.filter { $0.name == "title" } == [own])
        #expect(novel.attributesByName["title"] === own)
        #expect(novel.superentity?.attributesByName["title"] !== own)
    }

    @Test func constraintsMayNameOrHoldAttributes() throws {
        let book = try entity(Self.library(), "Book")
        #expect(book.uniquenessConstraintNames == [["title"], ["title", "author"]])
    }

    @Test func aFrozenModelAnswersAsBefore() throws {
        let model = Self.library()
        let before = model.entities.map { Set($0.propertiesByName.keys) }
        model.freeze()
        model.freeze()
        #expect(model.entities.map { Set($0.propertiesByName.keys) } == before)
        #expect(model.entitiesByName.count == 3)
        #expect(model.entities[1].attributesByName.keys.sorted() == ["title"])
        #expect(model.entities[1].relationshipsByName.keys.sorted() == ["author"])
        #expect(model.entities[1].subentitiesByName.keys.sorted() == ["Novel"])
    }

    @Test func freezingFromManyThreadsIsSafe() async {
        let model = Self.library()
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    model.freeze()
                    return model.entities.reduce(0) { $0 + $1.propertiesByName.count }
                }
            }
            for await count in group { #expect(count == 6) }
        }
    }

    @Test func propertiesOutliveTheirEntityWithoutHarm() {
        var entity: NSEntityDescription? = NSEntityDescription()
        let attribute = NSAttributeDescription()
        entity?.name = "Short"
        entity?.properties = [attribute]
        #expect(attribute.entity.name == "Short")
        entity = nil
        #expect(attribute.entity.name == nil)
    }

    @Test func bothSpellingsOfATypeAgree() {
        let attribute = NSAttributeDescription()
        #expect(attribute.type == .undefined)
        attribute.type = .uuid
        #expect(attribute.attributeType == .UUIDAttributeType)
        attribute.attributeType = .binaryDataAttributeType
        #expect(attribute.type == .binaryData)
        attribute.type = .init(rawValue: 12345)
        #expect(attribute.attributeType == .undefinedAttributeType)
    }
}
