import CoreData
import Foundation
import Testing

/// Changes that are told with the IDs of another coordinator of the same file.
@Suite struct ForeignIDTests {
    private struct Other {
        let coordinator: NSPersistentStoreCoordinator
        let context = NSManagedObjectContext(.privateQueue)

        init(beside bench: Bench) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: bench.store.url,
                options: [NSPersistentHistoryTrackingKey: true])
            context.persistentStoreCoordinator = coordinator
        }
    }

    enum Way: CaseIterable { case ids, uris, notification }

    private func merge(
        _ way: Way, _ changed: [String: [NSManagedObject]], into context: NSManagedObjectContext
    ) {
        switch way {
        case .ids:
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: changed.mapValues { $0.map(\.objectID) }, into: [context])
        case .uris:
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: changed.mapValues {
                    $0.map { $0.objectID.uriRepresentation() }
                }, into: [context])
        case .notification:
            context.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, object: nil,
                    userInfo: changed.mapValues { Set($0) }))
        }
    }

    @Test(arguments: Way.allCases)
    func areThoseOfTheSameRows(_ way: Way) throws {
        let bench = try Bench(.sqlite)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        try bench.context.save()
        let other = try Other(beside: bench)
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let twins = try other.context.fetch(request)
        #expect(twins.map(\.name) == ["Ada", "Bob"])
        ada.name = "Bea"
        let cyd = try bench.person("Cyd")
        try bench.context.save()
        merge(
            way, [NSUpdatedObjectsKey: [ada], NSInsertedObjectsKey: [cyd]], into: other.context)
        #expect(twins.map(\.name) == ["Bea", "Bob"])
        let known = other.context.registeredObjects.map(\.objectID)
        #expect(known.count == 2 || known.contains { $0.uriRepresentation() == uri(of: cyd) })
        bench.context.delete(bob)
        try bench.context.save()
        merge(way, [NSDeletedObjectsKey: [bob]], into: other.context)
        #expect(twins[1].isDeleted)
    }

    private func uri(of object: NSManagedObject) -> URL { object.objectID.uriRepresentation() }
}
