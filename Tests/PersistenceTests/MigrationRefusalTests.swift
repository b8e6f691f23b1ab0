import CoreData
import Foundation
import Platform
import Testing

/// A program's own store that says which version of a model it is of, and holds nothing.
final class VersionedProgramStore: NSIncrementalStore, @unchecked Sendable {
    // @unchecked: `hashes` has a lock.
    static let storeType = "Versioned"
    static let hashes = Lock<[String: Data]>([:])

    override func loadMetadata() throws {
        metadata = [
            NSStoreUUIDKey: "versioned", NSStoreTypeKey: Self.storeType,
            NSStoreModelVersionHashesKey: Self.hashes.withLock { $0 },
        ]
    }

    override func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any { [] }
}

/// Stores that are not migrated: a program's own, and those in memory.
@Suite(.serialized) struct MigrationRefusalTests {
    private static func version(_ properties: [NSPropertyDescription]) -> NSManagedObjectModel {
        VersionDraft.model { $0.entity("Note", [text("name")] + properties) }
    }
    private let old = version([])
    private let new = version([text("more")])
    private let place = URL(string: "https://versioned.example/store")

    init() {
        NSPersistentStoreCoordinator.registerStoreClass(
            VersionedProgramStore.self, type: .init(rawValue: VersionedProgramStore.storeType))
        VersionedProgramStore.hashes.withLock { [old] in $0 = old.entityVersionHashesByName }
    }

    private func open(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]
    ) throws -> NSPersistentStore {
        try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
            ofType: VersionedProgramStore.storeType, configurationName: nil, at: place,
            options: options)
    }

    private func staged() -> NSStagedMigrationManager {
        NSStagedMigrationManager([
            NSLightweightMigrationStage([old, new].map(\.versionChecksum))
        ])
    }

    /// Its own code alone could bring it to another version: it is refused, whatever is asked for.
    @Test func aProgramsOwnStoreIsRefusedWithTheVersionsError() throws {
        #expect(try open(old, [:]).type == VersionedProgramStore.storeType)
        var both = MigrationBench.migrating
        both[NSPersistentStoreStagedMigrationManagerOptionKey] = staged()
        for options in [[:], MigrationBench.migrating, both] {
            let error = try cocoaError { _ = try open(new, options) }
            #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
            #expect(error.localizedDescription.contains("another model"))
        }
        let ignoring = try open(new, [NSIgnorePersistentStoreVersioningOption: true])
        #expect(ignoring.type == VersionedProgramStore.storeType)
    }

    @Test func aProgramsOwnStoreIsNoDestination() throws {
        let bench = try MigrationBench()
        try bench.fill(old) { _ = $0.make("Note", ["name": "a"]) }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: old, destinationModel: new)
        let place = try #require(place)
        let error = try cocoaError {
            try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
                from: bench.url, type: .sqlite, mapping: mapping, to: place,
                type: .init(rawValue: VersionedProgramStore.storeType))
        }
        #expect(error.code == NSMigrationManagerDestinationStoreError)
    }

    @Test func deferredWorkOfStoresWithoutAFileIsNothing() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.addPersistentStore(
            ofType: VersionedProgramStore.storeType, configurationName: nil, at: place)
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try coordinator.finishDeferredLightweightMigration()
        try coordinator.finishDeferredLightweightMigrationTask()
    }

    /// There is no file of another version: nothing is migrated, whoever asks.
    @Test func aStoreInMemoryBeginsAnewWithStagesAlso() throws {
        var options = MigrationBench.migrating
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = staged()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: options)
        #expect(store.type == NSInMemoryStoreType)
        let path = ProgressiveMigration(
            storeAt: URL(fileURLWithPath: "/dev/null"), type: .inMemory,
            versions: ModelVersions([.init(name: "1", model: old)]))
        #expect(throws: (any Error).self) { try path.run() }
    }
}
