import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// What a file's tables tell of a model that is not at hand.
@Suite struct InferredModelTests {
    private func inferred(_ statements: [String]) throws -> NSManagedObjectModel {
        let connection = try Connection(path: ":memory:")
        for statement in BookkeepingTables.statements + statements {
            try connection.script(statement)
        }
        return try InferredModel.make(from: connection)
    }

    @Test func aStoreOfOursIsRecognised() throws {
        let scratch = try Scratch()
        let fixture = try StoreFixture(TestModel.society(), url: scratch.url("s.sqlite"))
        let place = try fixture.insert("Place", ["name": .text("here")])
        try fixture.insert("Employee", ["name": .text("Ada")], ["home": place])
        let model = try SQLiteRowStore.inferredModel(at: scratch.url("s.sqlite"))
        let original = TestModel.society()
        #expect(Set(model.entitiesByName.keys) == Set(original.entitiesByName.keys))
        for (name, entity) in model.entitiesByName {
            #expect(entity.superentity?.name == original.entitiesByName[name]?.superentity?.name)
        }
        let home = try #require(model.entitiesByName["Person"]?.relationshipsByName["home"])
        #expect(home.destinationEntity?.name == "Place" && !home.isToMany)
        let tags = try #require(model.entitiesByName["Person"]?.relationshipsByName["tags"])
        #expect(tags.destinationEntity?.name == "Tag" && tags.isToMany)
        #expect(tags.inverseRelationship?.destinationEntity?.name == "Person")
        let name = model.entitiesByName["Person"]?.attributesByName["name"]
        #expect(name?.attributeType == .stringAttributeType)
        let born = model.entitiesByName["Person"]?.attributesByName["born"]
        #expect(born?.attributeType == .dateAttributeType)
    }

    @Test func whatIsNotCertainStaysANumber() throws {
        let model = try inferred([
            "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                + "ZOTHER INTEGER, ZB INTEGER, ZCOUNT INTEGER)",
            "CREATE TABLE ZB (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)",
            "CREATE TABLE ZC (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)",
            "CREATE INDEX ZA_ZOTHER_INDEX ON ZA (ZOTHER)",
            "CREATE INDEX ZA_ZB_INDEX ON ZA (ZB)",
            "INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 0, 1), (2, 'B', 0, 1), (3, 'C', 0, 1)",
            "INSERT INTO ZA VALUES (1, 1, 1, 1, 7, 1)", "INSERT INTO ZB VALUES (1, 2, 1)",
            "INSERT INTO ZC VALUES (1, 3, 1)",
        ])
        let entity = try #require(model.entitiesByName["A"])
        // Both B and C have the other's key; no B has the key 7; a count has no index.
        #expect(entity.relationshipsByName.isEmpty)
        #expect(Set(entity.attributesByName.keys) == ["other", "b", "count"])
    }

    @Test func entitiesThatGoInCirclesOrHaveNoTableAreLeftOut() throws {
        let model = try inferred([
            "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)",
            "INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 0, 1), (2, 'B', 3, 0), (3, 'C', 2, 0)",
            "INSERT INTO Z_PRIMARYKEY VALUES (4, 'D', 0, 1), (16001, 'CHANGE', 0, 0)",
        ])
        #expect(model.entities.map(\.name) == ["A"])
    }
}
