import CoreData
import Foundation
import Testing

/// Chains of versions, with work of the program's own between them.
@Suite struct StagedMigrationTests {
    private static func version(_ properties: [NSPropertyDescription]) -> NSManagedObjectModel {
        VersionDraft.model { $0.entity("Note", [text("name")] + properties) }
    }
    private let one = version([])
    private let two = version([text("age")])
    /// Strings become numbers: both stand side by side for a version.
    private let three = version([text("age"), number("years")])
    private let four = version([number("years")])
    private let five = version([number("years"), text("extra", optional: true, "e")])

    private func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private func stages(_ seen: NSMutableArray) -> NSStagedMigrationManager {
        let custom = NSCustomMigrationStage(migratingFrom: reference(two), to: reference(three))
        custom.label = "years"
        custom.willMigrateHandler = { manager, stage in
            let context = try #require(manager.container).newBackgroundContext()
            let names = try context.performAndWait {
                try context.all("Note").compactMap { $0.string("name") }
            }
            seen.add("will \(stage.label ?? "") \(names.joined())")
        }
        custom.didMigrateHandler = { manager, stage in
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                for note in try context.all("Note") {
                    note.setValue(Int(note.string("age") ?? ""), forKey: "years")
                }
                try context.save()
            }
            seen.add("did")
        }
        return NSStagedMigrationManager([
            NSLightweightMigrationStage([one, two].map(\.versionChecksum)), custom,
            NSLightweightMigrationStage([three, four, five].map(\.versionChecksum)),
        ])
    }

    private func options(_ manager: NSStagedMigrationManager) -> [AnyHashable: Any] {
        var options = MigrationBench.migrating
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = manager
        return options
    }

    @Test(arguments: LightweightMigrationTests.files)
    func aChainIsFollowedFromItsBeginning(_ kind: StoreKind) throws {
        let bench = try MigrationBench(kind)
        try bench.fill(two) { context in
            _ = context.make("Note", ["name": "a", "age": "7"])
        }
        let seen = NSMutableArray()
        let manager = stages(seen)
        try bench.open(five, options: options(manager)) { context throws in
            let note = try context.one("Note", "a")
            #expect(note.int("years") == 7)
            #expect(note.string("extra") == "e")
        }
        #expect(seen as? [String] == ["will years a", "did"])
        #expect(manager.container == nil)
        try bench.open(five, options: options(manager)) { _ in }
        #expect(seen.count == 2)
        if kind == .sqlite { try bench.expectFreshShape(five) }
    }

    @Test func itBeginsWhereTheStoreIs() throws {
        let bench = try MigrationBench()
        try bench.fill(one) { context in _ = context.make("Note", ["name": "a"]) }
        let seen = NSMutableArray()
        try bench.open(three, options: options(stages(seen))) { context throws in
            #expect(try context.all("Note").count == 1)
        }
        #expect(seen.count == 2)
        try bench.open(five, options: options(stages(seen))) { context throws in
            #expect(try context.all("Note").count == 1)
        }
        #expect(seen.count == 2)
    }

    @Test func aFailingHandlerKeepsTheVersionReached() throws {
        struct Stop: Error {}
        let bench = try MigrationBench()
        try bench.fill(one) { context in _ = context.make("Note", ["name": "a"]) }
        let manager = stages(NSMutableArray())
        let custom = try #require(manager.stages[1] as? NSCustomMigrationStage)
        custom.willMigrateHandler = { _, _ in throw Stop() }
        let error = #expect(throws: NSError.self) {
            try bench.open(five, options: options(manager)) { _ in }
        }
        #expect(error?.userInfo[NSUnderlyingErrorKey] is Stop)
        try bench.open(two, options: [:]) { context throws in
            #expect(try context.all("Note").count == 1)
        }
        let seen = NSMutableArray()
        try bench.open(five, options: options(stages(seen))) { _ in }
        #expect(seen.count == 2)
    }

    /// What the handler was to read is gone with the next version, so it is called first.
    @Test(arguments: LightweightMigrationTests.files, [3, 5])
    func whatAHandlerDidNotFinishIsDoneNextTime(_ kind: StoreKind, _ goal: Int) throws {
        struct Stop: Error {}
        let bench = try MigrationBench(kind)
        try bench.fill(two) { context in
            _ = context.make("Note", ["name": "a", "age": "7"])
        }
        let goal = goal == 3 ? three : five
        let failing = stages(NSMutableArray())
        let custom = try #require(failing.stages[1] as? NSCustomMigrationStage)
        custom.didMigrateHandler = { _, _ in throw Stop() }
        for _ in 0..<2 {
            #expect(throws: NSError.self) {
                try bench.open(goal, options: options(failing)) { _ in }
            }
        }
        let seen = NSMutableArray()
        for _ in 0..<2 {
            try bench.open(goal, options: options(stages(seen))) { context throws in
                #expect(try context.one("Note", "a").int("years") == 7)
                let store = try #require(context.persistentStoreCoordinator?.persistentStores[0])
                #expect(!store.metadata.keys.contains { $0.contains("Stage") })
            }
        }
        #expect(seen as? [String] == ["did"])
    }

    /// The checksum of a store of a configuration is that of its entities, which no stage names.
    @Test(arguments: LightweightMigrationTests.files)
    func storesOfConfigurationsAreLedThroughTheStages(_ kind: StoreKind) throws {
        let versions = [two, three, five].map { version in
            let model = version.copy() as? NSManagedObjectModel ?? NSManagedObjectModel()
            let other = NSEntityDescription()
            other.name = "Other"
            other.properties = [text("name")]
            model.entities.append(other)
            for name in ["Note", "Other"] {
                model.setEntities(
                    model.entities.filter { $0.name == name }, forConfigurationName: name)
            }
            return model
        }
        let custom = NSCustomMigrationStage(
            migratingFrom: reference(versions[0]), to: reference(versions[1]))
        let seen = NSMutableArray()
        custom.didMigrateHandler = { manager, _ in
            let stores = manager.container?.persistentStoreCoordinator.persistentStores ?? []
            seen.add(stores.map(\.configurationName).joined())
        }
        let manager = NSStagedMigrationManager([
            custom, NSLightweightMigrationStage(versions[1...].map(\.versionChecksum)),
        ])
        let benches = [try MigrationBench(kind), try MigrationBench(kind)]
        for (version, options) in [(0, MigrationBench.migrating), (2, options(manager))] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[version])
            for (bench, name) in zip(benches, ["Note", "Other"]) {
                try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: name, at: bench.url, options: options)
            }
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            guard version == 0 else {
                #expect(try context.all("Note").map { $0.string("name") } == ["a"])
                #expect(try context.all("Other").map { $0.string("name") } == ["b"])
                continue
            }
            _ = context.make("Note", ["name": "a"])
            _ = context.make("Other", ["name": "b"])
            try context.save()
        }
        // Nothing was to be done to the other one.
        #expect(seen as? [String] == ["Note"])
    }

    @Test func unknownAndNewerVersionsAreRefused() throws {
        let bench = try MigrationBench()
        let stranger = VersionDraft.model { $0.entity("Note", [text("name"), text("odd")]) }
        try bench.fill(stranger) { _ in }
        let unknown = try cocoaError {
            try bench.open(five, options: options(stages(NSMutableArray()))) { _ in }
        }
        #expect(unknown.code == 134504)
        let newer = try MigrationBench()
        try newer.fill(four) { _ in }
        let backward = try cocoaError {
            try newer.open(one, options: options(stages(NSMutableArray()))) { _ in }
        }
        #expect(backward.code == NSStagedMigrationBackwardMigrationError)
    }

    @Test func aDescriptionCarriesTheManager() throws {
        let bench = try MigrationBench()
        try bench.fill(one) { context in _ = context.make("Note", ["name": "a"]) }
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: five)
        let description = NSPersistentStoreDescription(url: bench.url)
        description.setOption(
            stages(NSMutableArray()), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        description.setOption(
            NSNumber(value: true), forKey: NSPersistentStoreDeferredLightweightMigrationOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        try container.persistentStoreCoordinator.finishDeferredLightweightMigrationTask()
        #expect(NSPersistentStore.migrationManagerClass() is NSMigrationManager.Type)
    }
}
