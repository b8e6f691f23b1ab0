import CoreData
import Foundation
import Platform
import Testing

/// Incremental stores that keep their objects in a stack of their own below.
@Suite struct BackedStoreTests {
    /// As caches of web services and of CloudKit do, which pass a copy of what they are asked.
    @Test func aRequestCanBeHandedOnToAStackBelow() throws {
        NSPersistentStoreCoordinator.registerStoreClass(
            BackedStore.self, type: .init(rawValue: BackedStore.kind))
        let library = try Library(
            type: BackedStore.kind, at: URL(fileURLWithPath: "/backed/\(UUID().uuidString)"))
        #expect(try library.texts("Author", "name") == ["Ada", "Bob"])
        #expect(try library.texts("Author", "name", "name BEGINSWITH 'B'") == ["Bob"])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "name > 'B'")
        #expect(try library.context.count(for: request) == 1)
        // What the caller chose stays what it was.
        #expect(request.affectedStores == nil)
        request.affectedStores = [library.store]
        #expect(try library.context.fetch(request).count == 1)
    }
}

private final class BackedStore: NSIncrementalStore, @unchecked Sendable {
    // @unchecked: the state has a lock.
    static let kind = "Backed library"
    private struct State {
        var below: NSManagedObjectContext?
        var isAsking = false
    }
    private let state = Lock(State())

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: "backed", NSStoreTypeKey: Self.kind]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let below = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        below.persistentStoreCoordinator = coordinator
        try below.performAndWait {
            for name in ["Ada", "Bob"] {
                NSEntityDescription.insertNewObject(forEntityName: "Author", into: below)
                    .setValue(name, forKey: "name")
            }
            try below.save()
        }
        state.withLock { $0.below = below }
    }

    override func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any {
        let (below, isAsking) = state.withLock { state in
            defer { state.isAsking = true }
            return (state.below, state.isAsking)
        }
        defer { state.withLock { $0.isAsking = isAsking } }
        // The stack below must not come back to the store above it.
        guard !isAsking, let below,
            let asked = request as? NSFetchRequest<any NSFetchRequestResult>,
            let copy = asked.copy() as? NSFetchRequest<any NSFetchRequestResult>,
            let entity = asked.entity, let name = entity.name
        else { throw NSError(domain: "BackedStore", code: 1) }
        copy.entity = below.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
        copy.resultType = .managedObjectResultType
        let ids = try below.performAndWait {
            try below.fetch(copy.returning(NSManagedObject.self)).map {
                newObjectID(for: entity, referenceObject: $0.value(forKey: "name") ?? "")
            }
        }
        return asked.resultType == .countResultType ? [NSNumber(value: ids.count)] : ids
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        NSIncrementalStoreNode(
            objectID: objectID, withValues: ["name": referenceObject(for: objectID)], version: 1)
    }
}
