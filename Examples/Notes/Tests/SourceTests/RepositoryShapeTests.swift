import CoreData
import XCTest

/// What libraries put over managed objects: entities as a protocol, requests made of `Self`.
protocol Storable: NSManagedObject {
    static var entityName: String { get }
    static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension Storable {
    static var entityName: String { String(describing: Self.self) }
    static var defaultSortDescriptors: [NSSortDescriptor] { [] }

    static func request(_ configure: (NSFetchRequest<Self>) -> Void = { _ in })
        -> NSFetchRequest<Self>
    {
        let request = NSFetchRequest<Self>(entityName: entityName)
        request.sortDescriptors = defaultSortDescriptors
        configure(request)
        return request
    }

    static func predicate(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
        withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    }

    static func findOrCreate(
        where predicate: NSPredicate, in context: NSManagedObjectContext,
        configure: (Self) -> Void
    ) throws -> Self {
        for object in context.registeredObjects where !object.isFault {
            if let object = object as? Self, predicate.evaluate(with: object) { return object }
        }
        let request = request {
            $0.predicate = predicate; $0.fetchLimit = 1
        }
        if let found = try context.fetch(request).first { return found }
        let made = Self(context: context)
        configure(made)
        return made
    }
}

extension Person: Storable {
    static var defaultSortDescriptors: [NSSortDescriptor] {
        [NSSortDescriptor(keyPath: \Person.name, ascending: true)]
    }
}

extension Todo: Storable {}

/// A repository that is generic over its objects.
struct Repository<Entity: NSManagedObject> {
    let context: NSManagedObjectContext

    func create(_ configure: @escaping (Entity) -> Void) async throws -> NSManagedObjectID {
        try await context.perform {
            let object = Entity(context: context)
            configure(object)
            try context.save()
            return object.objectID
        }
    }

    func read<Value>(
        _ id: NSManagedObjectID, _ value: @escaping (Entity) -> Value
    ) async throws -> Value? {
        try await context.perform {
            (try context.existingObject(with: id) as? Entity).map(value)
        }
    }

    func count(_ predicate: NSPredicate? = nil) async throws -> Int {
        try await context.perform {
            let request = Entity.fetchRequest().returning(Entity.self)
            request.predicate = predicate
            return try context.count(for: request)
        }
    }

    func deleteAll() async throws {
        try await context.perform {
            let all = NSFetchRequest<NSFetchRequestResult>(entityName: Entity.entity().name!)
            let request = NSBatchDeleteRequest(fetchRequest: all)
            request.resultType = .resultTypeObjectIDs
            let result = try context.execute(request) as? NSBatchDeleteResult
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectsKey: result?.result ?? []],
                into: [context])
        }
    }
}

/// A property that shows what a request finds.
@propertyWrapper @MainActor struct Fetched<Result: NSManagedObject> {
    private let controller: NSFetchedResultsController<Result>

    init(_ request: NSFetchRequest<Result>, in context: NSManagedObjectContext) {
        controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil,
            cacheName: nil)
        try? controller.performFetch()
    }

    var wrappedValue: [Result] { controller.fetchedObjects ?? [] }
    var projectedValue: NSFetchedResultsController<Result> { controller }
}

@MainActor final class People {
    @Fetched var all: [Person]

    init(_ context: NSManagedObjectContext) {
        _all = Fetched(Person.request(), in: context)
    }
}

final class RepositoryShapeTests: XCTestCase {
    func testRequestsOfSelf() throws {
        let context = try AppModel.container().newBackgroundContext()
        try context.performAndWait {
            for name in ["Bob", "Ann"] {
                let predicate = Person.predicate("%K == %@ AND score < %f", "name", name, 1.5)
                for _ in 1...2 {
                    _ = try Person.findOrCreate(where: predicate, in: context) {
                        $0.name = name
                        $0.score = 1
                    }
                }
            }
            try context.save()
            XCTAssertEqual(try context.fetch(Person.request()).map(\.name), ["Ann", "Bob"])
            XCTAssertEqual(try context.count(for: Todo.request()), 0)
        }
    }

    func testGenericRepository() async throws {
        let people = Repository<Person>(context: try AppModel.container().newBackgroundContext())
        let id = try await people.create { $0.name = "Ann" }
        let name = try await people.read(id, \.name)
        XCTAssertEqual(name, "Ann")
        var count = try await people.count(NSPredicate(format: "name BEGINSWITH 'A'"))
        XCTAssertEqual(count, 1)
        try await people.deleteAll()
        count = try await people.count()
        XCTAssertEqual(count, 0)
    }

    @MainActor func testFetchedProperty() throws {
        let context = try AppModel.container().viewContext
        let people = People(context)
        XCTAssertTrue(people.all.isEmpty)
        _ = Person(name: "Bob", in: context)
        _ = Person(name: "Ann", in: context)
        try people.$all.performFetch()
        XCTAssertEqual(people.all.map(\.name), ["Ann", "Bob"])
        XCTAssertEqual(people.$all.sections?.first?.numberOfObjects, 2)
    }
}
