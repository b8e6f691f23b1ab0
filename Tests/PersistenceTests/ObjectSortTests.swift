import CoreData
import Foundation
import Testing

/// Sorting by objects and their IDs: by what databases have for them.
@Suite struct ObjectSortTests {
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        let people = try ["c", "a", "b"].map { name in
            let person = try bench.person(name)
            try bench.context.save()
            return person
        }
        people[0].setValue(people[2], forKey: "manager")
        people[1].setValue(people[1], forKey: "manager")
        try bench.context.save()
        return bench
    }

    private func request(_ key: String, ascending: Bool = true) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func newObjectsStandBehindThoseOfTheStore(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let context = bench.context
        for key in ["objectID", "self"] {
            #expect(try context.fetch(request(key)).map(\.name) == ["c", "a", "b"])
            let last = try context.fetch(request(key, ascending: false))
            #expect(last.map(\.name) == ["b", "a", "c"])
        }
        // The manager of "c" is younger than that of "a"; "b" has none.
        #expect(try context.fetch(request("manager")).map(\.name) == ["b", "a", "c"])
        for name in ["z", "y"] { try bench.person(name) }
        for key in ["objectID", "self"] {
            #expect(try context.fetch(request(key)).map(\.name) == ["c", "a", "b", "z", "y"])
        }
        try context.save()
        #expect(
            Set(try context.fetch(request("objectID")).prefix(3).map(\.name)) == ["a", "b", "c"])
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {}

    @Test(arguments: ["objectID", "self", "manager"])
    func aControllerHasNewObjects(_ key: String) throws {
        let bench = try bench(.sqlite)
        let controller = NSFetchedResultsController(
            fetchRequest: request(key), managedObjectContext: bench.context,
            sectionNameKeyPath: nil, cacheName: nil)
        let listener = Listener()
        controller.delegate = listener
        try controller.performFetch()
        try bench.person("z")
        try bench.context.save()
        #expect(controller.fetchedObjects?.count == 4)
        try bench.person("y")
        bench.context.processPendingChanges()
        #expect(controller.fetchedObjects?.count == 5)
    }

    /// Whoever refuses, the error is Core Data's.
    @Test func whatHasNoOrderIsRefusedWithACode() throws {
        let bench = try bench(.sqlite)
        for name in ["p", "q"] { try bench.person(name).colors = [name] }
        let error = #expect(throws: NSError.self) { try bench.context.fetch(request("colors")) }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134_091)
    }
}
