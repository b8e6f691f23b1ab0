import CoreData
import Foundation
import Testing

/// Copies of a store that nobody may write, as one in a program's bundle: they are their owner's to
/// write.
@Suite struct SeedCopyTests {
    private static let kinds = StoreKind.allCases.filter { $0 != .memory }
    private let first = VersionDraft.model { $0.entity("Person", [text("name")]) }
    private let second = VersionDraft.model { $0.entity("Being", [text("name")], from: "Person") }

    private func seed(_ kind: StoreKind, mode: mode_t = 0o444) throws -> MigrationBench {
        let bench = try MigrationBench(kind)
        try bench.fill(first) { _ = $0.make("Person", ["name": "Ada"]) }
        #expect(chmod(bench.url.path, mode) == 0)
        return bench
    }

    private func mode(_ url: URL) -> mode_t {
        var facts = stat()
        return stat(url.path, &facts) == 0 ? facts.st_mode & 0o777 : 0
    }

    @Test(arguments: kinds, kinds)
    func aStoreThatIsMovedMayBeWritten(_ kind: StoreKind, _ other: StoreKind) throws {
        let bench = try seed(kind)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: bench.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let place = bench.folder.appendingPathComponent("other")
        let made = try coordinator.migratePersistentStore(
            store, to: place, options: nil, withType: other.type)
        #expect(mode(place) == 0o644)
        #expect(mode(bench.url) == 0o444)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        _ = context.make("Person", ["name": "Bob"])
        try context.save()
        #expect(try context.all("Person").count == 2)
        try coordinator.remove(made)
    }

    @Test(arguments: kinds) func aStoreThatIsPutInAFreePlaceMayBeWritten(_ kind: StoreKind) throws {
        let bench = try seed(kind)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
        let place = bench.folder.appendingPathComponent("other")
        try coordinator.replacePersistentStore(
            at: place, withPersistentStoreFrom: bench.url, ofType: kind.type)
        #expect(mode(place) == 0o644)
    }

    /// What the group and others may not do, they may not do with the copy.
    @Test(arguments: kinds) func aCopyIsNoMoreOpenThanItsSource(_ kind: StoreKind) throws {
        let bench = try seed(kind, mode: 0o440)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: first)
        let place = bench.folder.appendingPathComponent("other")
        try coordinator.replacePersistentStore(
            at: place, withPersistentStoreFrom: bench.url, ofType: kind.type)
        #expect(mode(place) == 0o640)
    }

    @Test(arguments: kinds, kinds)
    func aStoreOfAMigrationMayBeWritten(_ kind: StoreKind, _ other: StoreKind) throws {
        let bench = try seed(kind)
        let place = bench.folder.appendingPathComponent("other")
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: first, destinationModel: second)
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateStore(
            from: bench.url, sourceType: kind.type, options: nil, with: mapping,
            toDestinationURL: place, destinationType: other.type, destinationOptions: nil)
        #expect(mode(place) == 0o644)
    }
}
