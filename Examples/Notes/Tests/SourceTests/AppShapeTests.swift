import CoreData
import XCTest

/// A view model as apps have it.
@MainActor final class PeopleList {
    let context: NSManagedObjectContext
    private(set) var people: [Person] = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    func add(_ name: String) throws {
        let person = Person(context: context)
        person.name = name
        try context.save()
        let request = Person.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Person.name, ascending: true)]
        people = try context.fetch(request)
    }
}

/// An actor that owns a context.
actor Importer {
    private let context: NSManagedObjectContext

    init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }

    func add(_ names: [String]) async throws -> [NSManagedObjectID] {
        let context = context
        return try await context.perform {
            let people = names.map { Person(name: $0, in: context) }
            try context.obtainPermanentIDs(for: people)
            try context.save()
            return people.map(\.objectID)
        }
    }
}

final class AppShapeTests: XCTestCase {
    @MainActor func testMainActorViewContext() throws {
        let container = try AppModel.container()
        let list = PeopleList(container.viewContext)
        try list.add("Bob")
        try list.add("Ann")
        XCTAssertEqual(list.people.map(\.name), ["Ann", "Bob"])
    }

    func testActorThatOwnsAContext() async throws {
        let container = try AppModel.container()
        let ids = try await Importer(container).add(["Ann", "Bob"])
        XCTAssertEqual(Set(ids).count, 2)
        XCTAssertFalse(ids[0].isTemporaryID)
    }

    func testExpectationsOfNotifications() throws {
        let container = try AppModel.container()
        let context = container.newBackgroundContext()
        let saved = expectation(
            forNotification: .NSManagedObjectContextDidSave, object: context
        ) { notification in
            let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
            return inserted?.count == 1
        }
        try context.performAndWait {
            _ = Person(name: "Ann", in: context)
            try context.save()
        }
        wait(for: [saved], timeout: 600)
    }

    /// XCTest brings Foundation along; the build plugin says which NSExpression is meant.
    func testNamesBesideFoundation() {
        let expression: NSExpression = NSExpression(forKeyPath: "age")
        XCTAssertEqual(expression.keyPath, "age")
    }

    func testVersionNumbers() {
        XCTAssertGreaterThan(NSCoreDataVersionNumber, NSCoreDataVersionNumber_iPhoneOS_9_3)
        XCTAssertEqual(NSCoreDataVersionNumber10_11, 640)
    }
}
