import Foundation
import ObjectModel
import Testing

@testable import Persistence

/// New objects that nobody assigned, in a coordinator with several stores.
@Suite struct StoreAffinityTests {
    private let stores: [NSPersistentStore]
    private let context: NSManagedObjectContext

    init() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
        stores = try (0..<3).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    private func person(_ name: String, in store: NSPersistentStore? = nil) -> Person {
        let person = Person(context: context)
        person.name = name
        if let store { context.assign(person, to: store) }
        return person
    }

    private func make(_ entity: String) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    }

    private func index(_ object: NSManagedObject) -> Int? {
        stores.firstIndex { $0 === object.objectID.persistentStore }
    }

    @Test func whatIsLinkedWithNothingGoesIntoTheFirst() throws {
        let (ann, bob) = (person("Ann"), person("Bob"))
        ann.spouse = bob
        try context.save()
        #expect(index(ann) == 0 && index(bob) == 0)
    }

    @Test func newObjectsFollowTheirLinks() throws {
        let ann = person("Ann", in: stores[2])
        try context.save()
        // By a to-one, by a to-many and by other new objects, whichever was made first.
        let (cy, passport, bob) = (person("Cy"), make("Passport"), person("Bob"))
        bob.friends = [ann]
        cy.spouse = bob
        passport.setValue(cy, forKey: "holder")
        let alone = person("Dee")
        try context.save()
        #expect([cy, passport, bob].map(index) == [2, 2, 2])
        #expect(index(alone) == 0)
    }

    @Test func aLinkWithoutInverseCounts() throws {
        let ann = person("Ann", in: stores[1])
        try context.save()
        let (home, tag) = (make("Tag"), make("Tag"))
        ann.setValue(home, forKey: "home")
        ann.setValue(NSSet(object: tag), forKey: "tags")
        try context.save()
        #expect(index(home) == 1 && index(tag) == 1)
    }

    @Test func whatIsAssignedAndNotSavedCounts() throws {
        let (ann, bob) = (person("Ann", in: stores[1]), person("Bob"))
        bob.spouse = ann
        try context.save()
        #expect(index(bob) == 1)
    }

    @Test func permanentIDsAreOfThatStore() throws {
        let ann = person("Ann", in: stores[2])
        try context.save()
        let (bob, cy) = (person("Bob"), person("Cy"))
        bob.spouse = ann
        try context.obtainPermanentIDs(for: [bob, cy])
        #expect(index(bob) == 2 && index(cy) == 0)
        try context.save()
        #expect(bob.spouse === ann)
    }

    @Test func linksToTwoStoresFailAndCanBeMended() throws {
        let (ann, bob) = (person("Ann", in: stores[1]), person("Bob", in: stores[2]))
        try context.save()
        let cy = person("Cy")
        cy.friends = [ann]
        cy.spouse = bob
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .managedObjectExternalRelationship)
        cy.friends = []
        try context.save()
        #expect(index(cy) == 2)
    }

    /// What a child links its new objects with, only the child and its parents know.
    @Test(arguments: [1, 2])
    func permanentIDsOfAChildAreOfThatStore(_ depth: Int) throws {
        let ann = person("Ann", in: stores[2])
        try context.save()
        var contexts = [context]
        for _ in 0..<depth {
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = contexts.last
            contexts.append(child)
        }
        let child = try #require(contexts.last)
        let (bob, cy) = (Person(context: child), Person(context: child))
        (bob.name, cy.name) = ("Bob", "Cy")
        bob.spouse = try #require(try child.existingObject(with: ann.objectID) as? Person)
        try child.obtainPermanentIDs(for: [bob, cy])
        #expect(index(bob) == 2 && index(cy) == 0)
        for context in contexts.reversed() { try context.save() }
        #expect(ann.spouse?.objectID == bob.objectID)
    }
}
