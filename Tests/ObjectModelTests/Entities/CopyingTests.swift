import Foundation
import Testing

@testable import ObjectModel

@Suite struct CopyingTests {
    @Test func aCopiedModelSharesNothing() throws {
        let original = BuildingTests.library()
        original.versionIdentifiers = ["1"]
        let hashes = original.entityVersionHashesByName
        let copy = try #require(original.copy() as? NSManagedObjectModel)
        #expect(copy.entityVersionHashesByName == hashes)
        #expect(copy.configurations == ["People"])
        #expect(copy.versionIdentifiers == ["1"])
        try copy.checkConsistency()
        for (old, new) in zip(original.entities, copy.entities) {
            #expect(old !== new && old.name == new.name)
            #expect(new.managedObjectModel === copy && old.managedObjectModel === original)
            for (before, after) in zip(old.declaredProperties, new.declaredProperties) {
                #expect(before !== after && after.entity === new)
            }
        }
        let book = try #require(copy.entitiesByName["Book"])
        #expect(book.indexes[0].elements[0].property === book.propertiesByName["title"])
        book.attributesByName["title"]?.isOptional = false
        book.subentities[0].name = "Poem"
        #expect(original.entityVersionHashesByName == hashes)
        #expect(copy.entityVersionHashesByName != hashes)
    }

    @Test func aCopyOfAFrozenModelMayBeChanged() throws {
        let original = BuildingTests.library()
        original.freeze()
        let copy = try #require(original.copy() as? NSManagedObjectModel)
        let book = try #require(copy.entitiesByName["Book"])
        let pages = NSAttributeDescription()
        pages.name = "pages"
        pages.attributeType = .integer32AttributeType
        book.properties.append(pages)
        #expect(book.attributesByName["pages"] === pages)
        #expect(copy.entitiesByName["Novel"]?.attributesByName["pages"] === pages)
    }

    @Test func everyKindOfPropertyKeepsItsFacts() throws {
        let derived = NSDerivedAttributeDescription()
        derived.name = "count"
        derived.attributeType = .integer64AttributeType
        derived.derivationExpressionText = "pages.@count"
        derived.validation.minimum = "1"
        let composite = NSCompositeAttributeDescription()
        composite.compositeName = "Place"
        composite.elements = [derived]
        let fetched = NSFetchedPropertyDescription()
        fetched.template = FetchRequestTemplate(name: "f", entityName: "E", predicateText: "a == 1")
        let first = try #require(composite.copy() as? NSCompositeAttributeDescription)
        #expect(first.compositeName == "Place")
        #expect(first.elements[0] !== derived)
        let element = try #require(first.elements[0] as? NSDerivedAttributeDescription)
        #expect(element.derivationExpressionText == "pages.@count")
        #expect(element.validation.minimum == "1")
        #expect(element.attributeType == .integer64AttributeType)
        let second = try #require(fetched.copy() as? NSFetchedPropertyDescription)
        #expect(second.template == fetched.template && second.isTransient)
    }

    @Test func anEntityIsCopiedWithItsDescendants() throws {
        let model = BuildingTests.library()
        let book = try #require(model.entitiesByName["Book"])
        let copy = try #require(book.copy() as? NSEntityDescription)
        #expect(copy.subentities.map(\.name) == ["Novel"])
        #expect(copy.subentities[0].superentity === copy)
        #expect(copy.managedObjectModel == nil)
        #expect(
            copy.relationshipsByName["author"]?.destinationEntity
                === model.entitiesByName["Author"])
        #expect(book.subentities[0].superentity === book)
    }
}
