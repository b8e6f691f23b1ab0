import CoreData
import Foundation
import Testing

/// Several mapping models for one step, and migrations that change the type of the store, too.
@Suite struct MigrationPartsTests {
    private static let names = ["Person", "Place", "Thing"]

    private func version(_ type: NSAttributeType) -> NSManagedObjectModel {
        VersionDraft.model { draft in
            for name in Self.names { draft.entity(name, [text("name"), number("size", type)]) }
        }
    }
    private var old: NSManagedObjectModel { version(.stringAttributeType) }
    private var new: NSManagedObjectModel { version(.integer64AttributeType) }

    /// One entity for each mapping model.
    private func mappings() -> [NSMappingModel] {
        Self.names.map { name in
            let model = NSMappingModel()
            model.entityMappings = [
                .transforming(
                    name, name,
                    ["name": "$source.name", "size": "CAST($source.size, 'NSNumber')"],
                    from: old, to: new)
            ]
            return model
        }
    }

    private func fill(_ bench: MigrationBench, _ model: NSManagedObjectModel) throws {
        try bench.fill(model) { context in
            for name in Self.names {
                for place in 0..<30 {
                    _ = context.make(name, ["name": "\(name) \(place)", "size": "\(place)"])
                }
            }
        }
    }

    private func versions(_ mappings: [NSMappingModel]) -> ModelVersions {
        ModelVersions(
            [.init(name: "1", model: old), .init(name: "2", model: new)], mappings: mappings)
    }

    @Test(arguments: LightweightMigrationTests.files)
    func oneEntityAfterTheOtherIsMigrated(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try fill(bench, old)
        let migration = ProgressiveMigration(
            storeAt: bench.url, type: .init(rawValue: kind.type), versions: versions(mappings()))
        #expect(try migration.path().map(\.mappings.count) == [3])
        var shares: [Float] = []
        try migration.run { shares.append($0.share) }
        #expect(shares == shares.sorted() && shares.last == 1)
        #expect(bench.names == ["store.\(kind.rawValue)"])
        try bench.open(new, options: [:]) { context throws in
            for name in Self.names {
                #expect(try context.all(name).count == 30)
                #expect(try context.one(name, "\(name) 7").int("size") == 7)
            }
        }
    }

    /// Entities with links between them, each in a mapping model of its own; in the second test
    /// under one name, so that they cannot be followed as one.
    @Test(arguments: LightweightMigrationTests.files, [true, false])
    func linksBetweenPartsStay(_ kind: StoreKind, _ hasOwnNames: Bool) throws {
        func version(_ extra: [NSPropertyDescription]) -> NSManagedObjectModel {
            VersionDraft.model { draft in
                draft.entity("Person", [text("name")] + extra)
                draft.entity("Team", [text("name")])
                draft.link("Person", "team", .one, "Team", "people", .many)
            }
        }
        let (old, new) = (version([]), version([text("note")]))
        func link(_ property: String, _ mapping: String) -> [String: String] {
            [
                property: "FUNCTION($manager, "
                    + "'destinationInstancesForEntityMappingNamed:sourceInstances:', "
                    + "'\(mapping)', $source.\(property))"
            ]
        }
        let parts = [
            ("Person", link("team", "TeamToTeam")), ("Team", link("people", "PersonToPerson")),
        ]
        .map { name, links in
            let model = NSMappingModel()
            model.entityMappings = [
                .transforming(
                    name, name, named: hasOwnNames ? nil : "One", ["name": "$source.name"],
                    relationships: links, from: old, to: new)
            ]
            return model
        }
        let bench = try MigrationBench(kind)
        try bench.fill(old) { context in
            let team = context.make("Team", ["name": "T"])
            for place in 0..<5 {
                _ = context.make("Person", ["name": "p\(place)", "team": team])
            }
        }
        try ProgressiveMigration(
            storeAt: bench.url, type: .init(rawValue: kind.type),
            versions: ModelVersions(
                [.init(name: "1", model: old), .init(name: "2", model: new)], mappings: parts)
        ).run()
        try bench.open(new, options: [:]) { context throws in
            #expect(try context.all("Person").count == 5)
            let team = try context.one("Team", "T")
            #expect(team.names("people").count == (hasOwnNames ? 5 : 0))
        }
    }

    @Test func aPartThatFailsLeavesTheOldStore() throws {
        let bench = try MigrationBench()
        try fill(bench, old)
        let parts = mappings()
        parts[2].entityMappings.first?.entityMigrationPolicyClassName = "NoSuchPolicy"
        let error = try cocoaError {
            try ProgressiveMigration(
                storeAt: bench.url, type: .sqlite, versions: versions(parts)
            ).run()
        }
        #expect(error.code == NSMigrationError)
        #expect(bench.names == ["store.sqlite"])
        try bench.open(old, options: [:]) { context throws in
            #expect(try context.all("Thing").count == 30)
        }
    }

    /// The second model is reached by inference.
    private let later = VersionDraft.model { draft in
        draft.entity("Person", [text("title", from: "name"), text("size"), text("note")])
        draft.entity("Place", [text("name"), text("size")])
        draft.entity("Object", [text("name"), text("size")], from: "Thing")
    }

    @Test(arguments: LightweightMigrationTests.files, LightweightMigrationTests.files)
    func aStoreIsMigratedAndMovedToAnotherType(_ from: StoreKind, _ to: StoreKind) throws {
        let (bench, place) = (try MigrationBench(from), try MigrationBench(to))
        try fill(bench, old)
        try bench.open(later) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let store = try #require(coordinator.persistentStores.first)
            let moved = try coordinator.migratePersistentStore(
                store, to: place.url, type: .init(rawValue: to.type))
            #expect(moved.type == to.type)
            _ = context.make("Object", ["name": "new"])
            try context.save()
            try coordinator.remove(moved)
        }
        try place.open(later, options: [:]) { context throws in
            #expect(try context.all("Person", by: "title").count == 30)
            #expect(try context.all("Object").count == 31)
        }
    }

    @Test(arguments: LightweightMigrationTests.files, LightweightMigrationTests.files)
    func aMappingModelLeadsToAnotherType(_ from: StoreKind, _ to: StoreKind) throws {
        let (bench, place) = (try MigrationBench(from), try MigrationBench(to))
        try fill(bench, old)
        let mapping = NSMappingModel()
        mapping.entityMappings = mappings().flatMap { $0.entityMappings ?? [] }
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: bench.url, type: .init(rawValue: from.type), mapping: mapping, to: place.url,
            type: .init(rawValue: to.type))
        try place.open(new, options: [:]) { context throws in
            #expect(try context.one("Place", "Place 9").int("size") == 9)
            #expect(try context.all("Thing").count == 30)
        }
    }

    @Test func storesWithoutFilesAreNoSourceAndNoDestination() throws {
        let bench = try MigrationBench()
        try fill(bench, old)
        let mapping = NSMappingModel()
        mapping.entityMappings = mappings().flatMap { $0.entityMappings ?? [] }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        let place = bench.folder.appendingPathComponent("other.sqlite")
        let source = try cocoaError {
            try manager.migrateStore(
                from: bench.url, type: .inMemory, mapping: mapping, to: place, type: .sqlite)
        }
        #expect(source.code == NSMigrationManagerSourceStoreError)
        let destination = try cocoaError {
            try manager.migrateStore(
                from: bench.url, type: .sqlite, mapping: mapping, to: place, type: .inMemory)
        }
        #expect(destination.code == NSMigrationManagerDestinationStoreError)
        for type in [NSPersistentStore.StoreType(rawValue: "Nonsense")] {
            let unknown = try cocoaError {
                try manager.migrateStore(
                    from: bench.url, type: type, mapping: mapping, to: place, type: .sqlite)
            }
            #expect(unknown.code == NSMigrationManagerSourceStoreError)
        }
        #expect(bench.names == ["store.sqlite"])
    }

    /// A store in memory begins anew with each model: there is nothing to migrate.
    @Test func aStoreInMemoryOpensWithAnyModel() throws {
        for model in [old, new] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
                options: MigrationBench.migrating)
            #expect(store.type == NSInMemoryStoreType)
        }
    }
}
