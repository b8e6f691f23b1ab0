import Foundation
import Testing

@testable import ObjectModel

@Suite struct MergingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private let animal =
        "<entity name=\"Animal\"><attribute name=\"name\" attributeType=\"String\"/></entity>"

    @Test func modelsAreJoinedByEntityName() throws {
        let first = try scratch.model(
            animal + "<entity name=\"Cat\" parentEntity=\"Animal\"/>"
                + "<configuration name=\"Pets\"><memberEntity name=\"Cat\"/></configuration>")
        let second = try scratch.model(
            """
            \(animal)<entity name="Dog" parentEntity="Animal">
                <relationship name="prey" toMany="YES" destinationEntity="Animal"/>
            </entity>
            <configuration name="Pets"><memberEntity name="Dog"/></configuration>
            """)
        let merged = try #require(NSManagedObjectModel(byMerging: [first, second]))
        #expect(merged.entities.map(\.name) == ["Animal", "Cat", "Dog"])
        let joint = try #require(merged.entitiesByName["Animal"])
        #expect(joint.subentities.map(\.name) == ["Cat", "Dog"])
        #expect(
            merged.entitiesByName["Dog"]?.relationshipsByName["prey"]?.destinationEntity === joint)
        #expect(merged.configurationMembers == ["Pets": ["Cat", "Dog"]])
        try merged.checkConsistency()
        for model in [first, second] {
            for (name, hash) in model.entityVersionHashesByName {
                #expect(merged.entityVersionHashesByName[name] == hash)
            }
            #expect(model.entities.allSatisfy { $0.managedObjectModel === model })
        }
    }

    @Test func contradictingModelsDoNotMerge() throws {
        let first = try scratch.model(animal)
        let second = try scratch.model("<entity name=\"Animal\"/>")
        #expect(NSManagedObjectModel(byMerging: [first, second]) == nil)
        #expect(NSManagedObjectModel(byMerging: nil) == nil)
        #expect(NSManagedObjectModel(byMerging: []) == nil)
    }

    @Test func aStorePicksTheEntitiesItWasMadeFor() throws {
        let old = try scratch.model(animal + "<entity name=\"Cage\"/>")
        let new = try scratch.model("<entity name=\"Animal\"/><entity name=\"Yard\"/>")
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": old.entityVersionHashesByName]
        let merged = NSManagedObjectModel(byMerging: [new, old], forStoreMetadata: metadata)
        #expect(merged?.entityVersionHashesByName == old.entityVersionHashesByName)
        #expect(NSManagedObjectModel(byMerging: [new], forStoreMetadata: metadata) == nil)
        #expect(NSManagedObjectModel(byMerging: [old], forStoreMetadata: [:]) == nil)
    }

    @Test func modelsAreFoundAmongABundlesResources() throws {
        try scratch.write(
            "<model>\(animal)</model>", to: "App.bundle/Zoo.xcdatamodeld/Zoo.xcdatamodel/contents")
        try scratch.write(
            "<model><entity name=\"Cage\"/></model>", to: "App.bundle/Parts.xcdatamodel/contents")
        let bundle = try #require(Bundle(path: scratch.folder.path + "/App.bundle"))
        let model = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
        #expect(Set(model.entitiesByName.keys) == ["Animal", "Cage"])
        let cages = model.entityVersionHashesByName.filter { $0.key == "Cage" }
        let part = NSManagedObjectModel.mergedModel(
            from: [bundle], forStoreMetadata: ["NSStoreModelVersionHashes": cages])
        #expect(part?.entities.map(\.name) == ["Cage"])
    }
}
