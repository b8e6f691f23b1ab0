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

    /// What a request's predicate names by them is found, whoever answers: the store, the context
    /// where something is unsaved, and a parent.
    @Test(arguments: [false, true], [false, true])
    func inPredicatesAreThoseOfTheSameRows(_ hasChanges: Bool, _ isChild: Bool) throws {
        let bench = try Bench(.sqlite)
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let office = try bench.make("Department", "Office")
        bob.setValue(office, forKey: "department")
        try bench.context.save()
        let other = try Other(beside: bench)
        var context = other.context
        if isChild {
            context = NSManagedObjectContext(.privateQueue)
            context.parent = other.context
        }
        if hasChanges {
            for person in try context.fetch(NSFetchRequest<Person>(entityName: "Person")) {
                person.age = 7
            }
        }
        func found(_ predicate: NSPredicate) throws -> [String?] {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.predicate = predicate
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let found = try context.fetch(request).map(\.name)
            #expect(try context.count(for: request) == found.count)
            return found
        }
        #expect(try found(NSPredicate(format: "SELF == %@", ada.objectID)) == ["Ada"])
        #expect(try found(NSPredicate(format: "SELF == %@", ada)) == ["Ada"])
        #expect(try found(NSPredicate(format: "SELF != %@", ada.objectID)) == ["Bob"])
        #expect(
            try found(NSPredicate(format: "SELF IN %@", [ada.objectID, bob.objectID]))
                == ["Ada", "Bob"])
        #expect(try found(NSPredicate(format: "department == %@", office)) == ["Bob"])
        #expect(try found(NSPredicate(format: "department == %@", office.objectID)) == ["Bob"])
    }

    @Test func inBatchRequestsAreThoseOfTheSameRows() throws {
        let bench = try Bench(.sqlite)
        let ada = try bench.person("Ada")
        try bench.person("Bob")
        try bench.context.save()
        let other = try Other(beside: bench)
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.predicate = NSPredicate(format: "SELF == %@", ada.objectID)
        update.propertiesToUpdate = ["age": 36]
        update.resultType = .updatedObjectsCountResultType
        let result = try other.context.execute(update) as? NSBatchUpdateResult
        #expect(result?.result as? Int == 1)
    }

    private func uri(of object: NSManagedObject) -> URL { object.objectID.uriRepresentation() }
}
