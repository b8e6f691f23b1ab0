import CoreData
import Foundation
import Platform
import Testing

/// Contexts that read from one generation of their stores.
@Suite struct QueryGenerationTests {
    private let bench: Bench

    init() throws { bench = try Bench(.sqlite) }

    private func people(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).map { $0.name ?? "" }
    }

    private func pinned() throws -> NSManagedObjectContext {
        let context = bench.newContext()
        try context.setQueryGenerationFrom(.current)
        #expect(context.queryGenerationToken === NSQueryGenerationToken.current)
        return context
    }

    private func code(_ error: (any Error)?) -> Int? { (error as NSError?)?.code }

    // MARK: Reading

    @Test func aPinnedContextSeesOneStateOfTheStore() throws {
        let (ann, department) = (try bench.person("Ann"), try bench.make("Department", "D"))
        ann.setValue(department, forKey: "department")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let token = try #require(context.queryGenerationToken)
        #expect(!token.isEqual(NSQueryGenerationToken.current))
        let theirs = try bench.twin(department, in: context)

        ann.name = "Anna"
        try bench.person("Bob").setValue(department, forKey: "department")
        try bench.context.save()
        #expect(try people(context) == ["Ann"])
        context.refreshAllObjects()
        #expect(bench.names(theirs.value(forKey: "employees")) == ["Ann"])
        let twin = try bench.twin(ann, in: context)
        #expect(twin.name == "Ann")
        #expect(try context.count(for: NSFetchRequest<Person>(entityName: "Person")) == 1)
        #expect(try people(bench.newContext()) == ["Anna", "Bob"])

        try context.setQueryGenerationFrom(.current)
        #expect(twin.name == "Ann", "until it is refreshed")
        context.refreshAllObjects()
        #expect(twin.name == "Anna")
        #expect(try people(context) == ["Anna", "Bob"])
        #expect(bench.names(theirs.value(forKey: "employees")) == ["Anna", "Bob"])
        try context.setQueryGenerationFrom(nil)
        #expect(context.queryGenerationToken == nil)
    }

    @Test func prefetchedAndBatchedRowsAreOfTheGeneration() throws {
        let department = try bench.make("Department", "D")
        for name in ["A", "B", "C"] {
            try bench.person(name).setValue(department, forKey: "department")
        }
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context).count == 3)
        for person in department.value(forKey: "employees") as? Set<Person> ?? [] {
            person.name = "new"
        }
        try bench.context.save()
        context.refreshAllObjects()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.fetchBatchSize = 2
        request.relationshipKeyPathsForPrefetching = ["department.employees"]
        #expect(try Set(context.fetch(request).map(\.name)) == ["A", "B", "C"])
        context.refreshAllObjects()
        #expect(try Set(context.batchedObjects(for: request).map(\.name)) == ["A", "B", "C"])
    }

    @Test func aTokenTakesAnotherContextToTheSameState() throws {
        try bench.person("Ann")
        try bench.context.save()
        let first = try pinned()
        #expect(try people(first) == ["Ann"])
        let token = try #require(first.queryGenerationToken)
        let same = try pinned()
        #expect(try people(same) == ["Ann"])
        #expect(same.queryGenerationToken == token && same.queryGenerationToken?.hash == token.hash)
        try bench.person("Bob")
        try bench.context.save()
        let later = try pinned()
        #expect(try people(later) == ["Ann", "Bob"] && later.queryGenerationToken != token)
        try later.setQueryGenerationFrom(token)
        #expect(try people(later) == ["Ann"] && later.queryGenerationToken == token)
        #expect((token.copy() as? NSQueryGenerationToken) == token)
    }

    @Test func aTokenIsFoundAgainInAnArchiveOfTheProcess() throws {
        try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let token = try #require(context.queryGenerationToken)
        func again(_ token: NSQueryGenerationToken) throws -> NSQueryGenerationToken? {
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: token, requiringSecureCoding: true)
            return try NSKeyedUnarchiver.unarchivedObject(
                ofClass: NSQueryGenerationToken.self, from: data)
        }
        #expect(try again(token) == token)
        #expect(try again(.current) == .current)
    }

    @Test func aRowThatCameLaterIsNotOneThatIsGone() throws {
        try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let bob = try bench.person("Bob")
        try bench.context.save()
        let theirs = try #require(context.object(with: bob.objectID) as? Person)
        #expect(theirs.name == nil && theirs.isFault && !theirs.isDeleted)
        let error = #expect(throws: (any Error).self) { try context.save() }
        #expect(code(error) == NSPersistentStoreOperationError)
        #expect(try people(bench.newContext()) == ["Ann", "Bob"])
        try context.setQueryGenerationFrom(.current)
        #expect(theirs.name == "Bob")
    }

    // MARK: Moving on

    @Test func savingResettingAndMergingMoveOn() throws {
        let ann = try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        try bench.person("Bob")
        try bench.context.save()
        try bench.person("Cid", in: context)
        try context.save()
        #expect(context.queryGenerationToken === NSQueryGenerationToken.current)
        #expect(try people(context) == ["Ann", "Bob", "Cid"])

        try bench.person("Dan")
        try bench.context.save()
        #expect(try people(context) == ["Ann", "Bob", "Cid"])
        context.reset()
        #expect(try people(context).last == "Dan")

        let theirs = try bench.twin(ann, in: context)
        ann.name = "Anna"
        let word = Lock<Notification?>(nil)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: bench.context, queue: nil
        ) { notice in word.withLock { $0 = notice } }
        try bench.context.save()
        NotificationCenter.default.removeObserver(observer)
        context.refreshAllObjects()
        #expect(theirs.name == "Ann")
        context.mergeChanges(fromContextDidSave: try #require(word.withLock { $0 }))
        #expect(theirs.name == "Anna")
        #expect(try people(context).first == "Anna")
    }

    @Test func mergingByItselfMovesOn() throws {
        let ann = try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        context.automaticallyMergesChangesFromParent = true
        let theirs = try bench.twin(ann, in: context)
        ann.name = "Anna"
        try bench.context.save()
        context.performAndWait {}
        #expect(theirs.name == "Anna")
        #expect(try people(context) == ["Anna"])
    }

    @Test func aSaveFromAnOldStateMeetsTheConflict() throws {
        let ann = try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        let theirs = try bench.twin(ann, in: context)
        #expect(theirs.name == "Ann")
        ann.name = "Anna"
        try bench.context.save()
        theirs.age = 3
        let error = #expect(throws: (any Error).self) { try context.save() }
        #expect(code(error) == NSManagedObjectMergeError)
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(theirs.name == "Anna" && theirs.age == 3)
    }

    // MARK: Who cannot be pinned

    @Test func aChildReadsWhatItsParentSees() throws {
        try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        try bench.person("Bob")
        try bench.context.save()
        #expect(child.queryGenerationToken == nil)
        #expect(try people(child) == ["Ann"])
        let error = #expect(throws: (any Error).self) {
            try child.setQueryGenerationFrom(.current)
        }
        #expect(code(error) == NSCoreDataError)
    }

    @Test(arguments: [StoreKind.memory, .xml, .binary])
    func otherStoresAreReadAsTheyAre(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let context = bench.newContext()
        try context.setQueryGenerationFrom(.current)
        #expect(try people(context) == [])
        #expect(context.queryGenerationToken == nil)
        try bench.person("Ann")
        try bench.context.save()
        #expect(try people(context) == ["Ann"])
    }

    @Test func aTokenOfAnotherCoordinatorIsRefused() throws {
        try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let other = try Bench(.sqlite)
        let error = #expect(throws: (any Error).self) {
            try other.context.setQueryGenerationFrom(context.queryGenerationToken)
        }
        #expect(code(error) == NSCoreDataError && other.context.queryGenerationToken == nil)
    }

    // MARK: Ending

    @Test func aGenerationEndsWhereItsStoreLeaves() throws {
        let ann = try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let theirs = try bench.twin(ann, in: context)
        context.refresh(theirs, mergeChanges: false)
        let token = try #require(context.queryGenerationToken)
        let second = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(try people(context) == ["Ann"], "the new store is not part of it")
        #expect(theirs.name == "Ann")
        context.refresh(theirs, mergeChanges: false)
        try bench.coordinator.remove(bench.store)
        #expect(theirs.name == nil && theirs.isFault && !theirs.isDeleted)
        let failure = #expect(throws: (any Error).self) { try context.save() }
        #expect(code(failure) == NSPersistentStoreOperationError)
        let error = #expect(throws: (any Error).self) {
            try context.setQueryGenerationFrom(token)
        }
        #expect(code(error) == NSPersistentStoreOperationError)
        try context.setQueryGenerationFrom(.current)
        #expect(try people(context) == [])
        #expect(second.persistentStoreCoordinator != nil)
    }

    /// Also where no store computes them: for several stores, and for predicates that need objects.
    @Test func dictionariesAreOfTheGeneration() throws {
        let ann = try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        func check() throws {
            for predicate in [nil, NSPredicate(block: { _, _ in true })] {
                request.predicate = predicate
                #expect(try context.fetch(request).map { $0["name"] as? String } == ["Ann"])
            }
        }
        ann.name = "Anna"
        try bench.person("Bob")
        try bench.context.save()
        try check()
        let later = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        bench.context.assign(try bench.person("Cy"), to: later)
        try bench.context.save()
        try check()
    }

    @Test func aStoreThatCameLaterChangesNoBounds() throws {
        for name in ["Ann", "Bob", "Cy", "Dee"] { try bench.person(name) }
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context).count == 4)
        let later = try bench.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        bench.context.assign(try bench.person("Abe"), to: later)
        try bench.context.save()
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchOffset = 1
        request.fetchLimit = 2
        #expect(try context.fetch(request).map(\.name) == ["Bob", "Cy"])
        #expect(try context.count(for: request) == 2)
    }

    @Test func destroyingAndMovingAStoreEndsItsGenerations() throws {
        try bench.person("Ann")
        try bench.context.save()
        let context = try pinned()
        #expect(try people(context) == ["Ann"])
        let url = try #require(bench.store.url)
        let place = url.deletingLastPathComponent().appendingPathComponent("copy.sqlite")
        try bench.coordinator.replacePersistentStore(
            at: place, withPersistentStoreFrom: url, type: .sqlite)
        try bench.person("Bob")
        try bench.context.save()
        #expect(bench.coordinator.setURL(place, for: bench.store))
        let error = #expect(throws: (any Error).self) { try people(context) }
        #expect(code(error) == NSPersistentStoreOperationError)
        context.reset()
        #expect(try people(context) == ["Ann"])
        try bench.coordinator.destroyPersistentStore(at: place, type: .sqlite)
        #expect(throws: (any Error).self) { try people(context) }
    }
}
