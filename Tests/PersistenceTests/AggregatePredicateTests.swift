import CoreData
import Foundation
import Testing

/// Functions over all objects of an entity in predicates: `age == max(age)`.
@Suite struct AggregatePredicateTests {
    /// Ada 36, Bob 20, Cy 50, and Dee 60, who is an employee.
    private func bench(_ kind: StoreKind) throws -> Bench {
        let bench = try Bench(kind)
        for (name, age) in [("Ada", 36), ("Bob", 20), ("Cy", 50)] {
            let person = try bench.person(name)
            person.age = Int16(age)
            if name != "Cy" { person.score = Double(age) / 8 }
            person.department = try bench.make("Department", "of \(name)")
        }
        let dee = try #require(try bench.make("Employee", "Dee") as? Person)
        dee.age = 60
        dee.friends = Set(try bench.context.fetch(request("name == 'Ada'")))
        try bench.context.save()
        return bench
    }

    private func request(_ format: String) -> NSFetchRequest<Person> {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    private func names(
        _ format: String, _ context: NSManagedObjectContext
    ) throws -> [String] {
        let request = request(format)
        let found = try context.fetch(request).compactMap(\.name)
        #expect(try context.count(for: request) == found.count, "\(format)")
        return found
    }

    @Test(arguments: StoreKind.allCases)
    func functionsOfAnAttributeAreOverAllObjects(_ kind: StoreKind) throws {
        let context = try bench(kind).newContext()
        for (format, found) in [
            ("age == max(age)", ["Dee"]), ("age == min:(age)", ["Bob"]),
            ("max(age) == age", ["Dee"]), ("age > average(age)", ["Cy", "Dee"]),
            ("age < sum(age) / 4", ["Ada", "Bob"]), ("age == max(age) - 10", ["Cy"]),
            ("count(SELF) == 4 AND age < 30", ["Bob"]), ("count(score) == 2", all),
            ("score == max(score)", ["Ada"]), ("age == max(age) AND name != 'Dee'", []),
            ("department.name == max(department.name)", ["Cy"]),
            ("age BETWEEN {min(age), average(age)}", ["Ada", "Bob"]),
            ("SUBQUERY(friends, $f, $f.age == max(age)).@count == 1", ["Ada"]),
            ("age == max(age * 2) / 2 OR NOT age > min(age)", ["Bob", "Dee"]),
        ] {
            #expect(try names(format, context) == found, "\(format)")
        }
        let alone = request("age == max(age)")
        alone.includesSubentities = false
        #expect(try context.fetch(alone).map(\.name) == ["Cy"])
    }

    private let all = ["Ada", "Bob", "Cy", "Dee"]

    @Test(arguments: StoreKind.allCases)
    func dictionariesAndBatchesAreOfTheSameRows(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        defer { withExtendedLifetime(bench) {} }
        let context = bench.context
        let lines = NSFetchRequest<NSDictionary>(entityName: "Person")
        lines.resultType = .dictionaryResultType
        lines.propertiesToFetch = ["name"]
        lines.predicate = NSPredicate(format: "age == max(age)")
        #expect(try context.fetch(lines).map { $0["name"] as? String } == ["Dee"])
        let update = NSBatchUpdateRequest(entityName: "Person")
        update.predicate = NSPredicate(format: "age == min(age)")
        update.propertiesToUpdate = ["age": 99]
        _ = try context.execute(update)
        context.reset()
        #expect(try names("age == max(age)", context) == ["Bob"])
        _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request("age == max(age)")))
        context.reset()
        #expect(try names("TRUEPREDICATE", context) == ["Ada", "Cy", "Dee"])
    }

    /// What a context sees is what it computes over: also what no store has yet.
    @Test(arguments: StoreKind.allCases)
    func unsavedChangesCount(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let context = bench.context
        try bench.person("Flo").age = 70
        #expect(try names("age == max(age)", context) == ["Flo"])
        let stored = request("age == max(age)")
        stored.includesPendingChanges = false
        #expect(try context.fetch(stored).map(\.name) == ["Dee"])
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        #expect(try names("age == max(age)", child) == ["Flo"])
        try bench.person("Gus", in: child).age = 80
        #expect(try names("age == max(age)", child) == ["Gus"])
        let some = request("age < max(age)")
        some.affectedStores = [bench.store]
        #expect(try context.fetch(some).map(\.name) == all)
        for person in try context.fetch(request("age >= 60")) { context.delete(person) }
        #expect(try names("age == max(age)", context) == ["Cy"])
    }

    @Test(arguments: StoreKind.allCases)
    func severalStoresAreComputedOverTogether(_ kind: StoreKind) throws {
        let bench = try bench(kind)
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let hal = try bench.person("Hal")
        hal.age = 90
        bench.context.assign(hal, to: second)
        try bench.context.save()
        #expect(try names("age == max(age)", bench.newContext()) == ["Hal"])
        #expect(try names("age == min(age)", bench.newContext()) == ["Bob"])
    }

    @Test func aControllerLooksAtAllObjectsAgain() throws {
        let bench = try bench(.sqlite)
        let controller = NSFetchedResultsController(
            fetchRequest: request("age == max(age)"), managedObjectContext: bench.context,
            sectionNameKeyPath: nil, cacheName: nil)
        let listener = Listener()
        controller.delegate = listener
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map(\.name) == ["Dee"])
        try bench.person("Ida").age = 100
        bench.context.processPendingChanges()
        #expect(controller.fetchedObjects?.map(\.name) == ["Ida"])
    }

    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {}

    @Test func oneObjectIsAllThereIs() throws {
        let person = try Bench(.memory).person("Ada")
        person.age = 36
        for format in ["age == max(age)", "sum(age) == 36", "count(age) == 1"] {
            #expect(NSPredicate(format: format).evaluate(with: person), "\(format)")
        }
        #expect(!NSPredicate(format: "age < max(age)").evaluate(with: person))
    }
}
