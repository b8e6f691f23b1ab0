import Foundation
import Testing

@testable import ObjectModel

@Suite struct ConsistencyTests {
    private func contradiction(
        _ break: (NSManagedObjectModel) -> Void
    ) -> ModelConsistencyError? {
        let model = BuildingTests.library()
        `break`(model)
        return #expect(throws: ModelConsistencyError.self) { try model.checkConsistency() }
    }

    private func entity(_ model: NSManagedObjectModel, _ name: String) -> NSEntityDescription {
        model.entitiesByName[name] ?? NSEntityDescription()
    }

    @Test func aSoundModelPasses() throws {
        try BuildingTests.library().checkConsistency()
        try NSManagedObjectModel().checkConsistency()
    }

    @Test func namesMustBeThereAndDiffer() {
        #expect(contradiction { $0.entities[0].name = nil }?.code == .missingName)
        #expect(contradiction { $0.entities[0].name = "Book" }?.code == .duplicateName)
        #expect(
            contradiction { entity($0, "Book").declaredProperties[1].name = "title" }?.code
                == .duplicateName)
        #expect(
            contradiction { entity($0, "Book").declaredProperties[1].name = "" }?.code
                == .missingName)
    }

    @Test func inheritanceMustEnd() {
        let found = contradiction { model in
            entity(model, "Novel").subentities = [entity(model, "Book")]
        }
        #expect(found?.code == .inheritanceCircle)
    }

    /// Whatever asks an entity for what it inherits comes to an end, and so does a copy.
    @Test func aCircleOfEntitiesIsNoneToWalk() {
        let (first, second) = (NSEntityDescription(), NSEntityDescription())
        (first.name, second.name) = ("First", "Second")
        first.declaredProperties = [NSAttributeDescription()]
        first.subentities = [second]
        second.subentities = [first]
        #expect(second.isKindOf(entity: first) && !first.isKindOf(entity: second))
        #expect(second.properties.count == 1 && second.rootEntity === first)
        #expect((first.copy() as? NSEntityDescription)?.subentities.count == 1)
        let alone = NSEntityDescription()
        alone.subentities = [alone]
        #expect(alone.superentity == nil && alone.propertiesByName.isEmpty)
        let model = NSManagedObjectModel()
        model.entities = [first, second]
        #expect(model.entityVersionHashesByName.count == 2)
        let error = #expect(throws: ModelConsistencyError.self) { try model.checkCircles() }
        #expect(error?.code == .inheritanceCircle)
        // Put right, it is a model like any other.
        second.subentities = []
        first.subentities = []
        second.subentities = [first]
        #expect(throws: Never.self) { try model.checkCircles() }
    }

    @Test func aCompositeCannotHoldItself() {
        let (outer, inner) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
        (outer.name, inner.name) = ("outer", "inner")
        outer.elements = [inner]
        inner.elements = [outer]
        let entity = NSEntityDescription()
        entity.name = "Place"
        entity.properties = [outer]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        #expect(model.entityVersionHashesByName.count == 1)
        for one in [model, model.copy() as? NSManagedObjectModel] {
            let error = #expect(throws: ModelConsistencyError.self) { try one?.checkConsistency() }
            #expect(error?.code == .compositeCircle)
        }
        inner.elements = []
        #expect(throws: Never.self) { try model.checkConsistency() }
    }

    @Test func attributesNeedATypeUnlessTransient() throws {
        let found = contradiction { model in
            entity(model, "Novel").attributesByName["genre"]?.attributeType =
                .undefinedAttributeType
        }
        #expect(found?.code == .missingType)
        #expect(found?.message.contains("“Novel.genre”") == true)
        let model = BuildingTests.library()
        let genre = entity(model, "Novel").attributesByName["genre"]
        genre?.attributeType = .undefinedAttributeType
        genre?.isTransient = true
        try model.checkConsistency()
    }

    @Test func relationshipsMustLeadSomewhereInTheModel() {
        let nowhere = contradiction { model in
            entity(model, "Author").relationshipsByName["books"]?.destinationEntity = nil
        }
        #expect(nowhere?.code == .missingDestination)
        #expect(nowhere?.fields == ["entity": "Author", "property": "books"])
        let outside = contradiction { $0.entities.removeAll { $0.name == "Author" } }
        #expect(outside?.code == .strangerDestination || outside?.code == .missingDestination)
        let stranger = NSEntityDescription()
        stranger.name = "Stranger"
        let foreign = contradiction { model in
            entity(model, "Author").relationshipsByName["books"]?.destinationEntity = stranger
        }
        #expect(foreign?.code == .strangerDestination)
    }

    @Test func inversesMustPointBack() {
        let oneWay = contradiction { model in
            entity(model, "Book").relationshipsByName["author"]?.inverseRelationship = nil
        }
        #expect(oneWay?.code == .brokenInverse)
        #expect(oneWay?.message.contains("whose own inverse is nothing") == true)
        let awaited = contradiction { model in
            let author = entity(model, "Book").relationshipsByName["author"]
            author?.inverseRelationship = nil
            author?.inverseRelationshipName = "writings"
            entity(model, "Author").relationshipsByName["books"]?.inverseRelationship = nil
        }
        #expect(awaited?.code == .brokenInverse)
        #expect(awaited?.message.contains("“writings”") == true)
        let elsewhere = contradiction { model in
            entity(model, "Author").relationshipsByName["books"]?.destinationEntity =
                entity(model, "Author")
        }
        #expect(elsewhere?.code == .brokenInverse)
    }

    @Test func twoRelationshipsMayShareAnInverseAsShippedModelsDo() throws {
        let model = BuildingTests.library()
        let books = try #require(entity(model, "Author").relationshipsByName["books"])
        let editor = NSRelationshipDescription()
        editor.name = "editor"
        editor.maxCount = 1
        editor.destinationEntity = entity(model, "Author")
        editor.inverseRelationship = books
        entity(model, "Book").properties.append(editor)
        try model.checkConsistency()
    }

    @Test func countsMustLeaveRoom() {
        let found = contradiction { model in
            let books = entity(model, "Author").relationshipsByName["books"]
            books?.minCount = 5
            books?.maxCount = 3
        }
        #expect(found?.code == .wrongCounts)
    }

    @Test func constraintsAndIndexesMustNameProperties() {
        let constraint = contradiction { entity($0, "Book").uniquenessConstraints = [["isbn"]] }
        #expect(constraint?.code == .unknownProperty)
        #expect(constraint?.fields["property"] == "isbn")
        let index = contradiction { model in
            let element = NSFetchIndexElementDescription(
                propertyName: "isbn", collationType: .binary)
            entity(model, "Book").indexes = [
                NSFetchIndexDescription(name: "i", elements: [element])
            ]
        }
        #expect(index?.code == .unknownProperty)
        #expect(index?.message.contains("The index “i” of entity “Book”") == true)
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
    func realModelsAreConsistent() throws {
        for file in Corpus.files("xcdatamodel", endingIn: ".xcdatamodel/contents") {
            let model = try NSManagedObjectModel.load(from: file)
            #expect(throws: Never.self, "\(file.path)") { try model.checkConsistency() }
        }
    }
}
