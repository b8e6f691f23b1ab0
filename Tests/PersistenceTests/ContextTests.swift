import CoreData
import Foundation
import Testing

@Suite struct ContextTests {
    private let people = NSFetchRequest<Person>(entityName: "Person")

    // MARK: Faults

    @Test(arguments: StoreKind.allCases)
    func aFaultIsFilledInOnce(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try #require(other.object(with: person.objectID) as? Person)
        #expect(twin.isFault && twin.faultingState == 1 && twin.calls.isEmpty)
        #expect(twin.name == "Ada" && !twin.isFault)
        #expect(twin.age == 0)
        #expect(twin.calls == ["awakeFromFetch"])
        other.refresh(twin, mergeChanges: false)
        #expect(twin.isFault)
        #expect(twin.name == "Ada" && twin.calls == ["awakeFromFetch", "awakeFromFetch"])
    }

    @Test(arguments: StoreKind.allCases)
    func fetchedObjectsAreFaultsWithTheirValuesAtHand(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        let fault = try #require(try other.fetch(people).first)
        #expect(fault.isFault)
        #expect(fault.name == "Ada")
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.returnsObjectsAsFaults = false
        let full = try #require(try bench.newContext().fetch(request).first)
        #expect(!full.isFault)
    }

    @Test(arguments: StoreKind.allCases)
    func aFaultWhoseRowIsGoneCountsAsDeleted(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try #require(other.object(with: person.objectID) as? Person)
        let strict = bench.newContext()
        strict.shouldDeleteInaccessibleFaults = false
        let third = try #require(strict.object(with: person.objectID) as? Person)
        bench.context.delete(person)
        try bench.context.save()
        #expect(twin.name == nil && twin.isDeleted)
        #expect(third.name == nil)
        let error = try #require(throws: NSError.self) { try strict.save() }
        #expect(error.code == NSManagedObjectReferentialIntegrityError)
    }

    // MARK: Refresh, rollback, reset

    @Test(arguments: StoreKind.allCases)
    func refreshKeepsOwnChangesOnTop(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let person = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(person, in: other)
        person.score = 7
        person.name = "Bea"
        try bench.context.save()
        twin.name = "Mine"
        other.refresh(twin, mergeChanges: true)
        #expect(twin.name == "Mine" && twin.score == 7 && twin.hasChanges)
        try other.save()
        #expect(try bench.twin(person, in: bench.newContext()).name == "Mine")
    }

    @Test(arguments: StoreKind.allCases)
    func rollbackTakesEverythingBack(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        let sales = try bench.make("Department", "Sales")
        ada.department = sales
        try bench.context.save()
        ada.name = "X"
        bob.department = sales
        let new = try bench.person("New")
        bench.context.delete(ada)
        bench.context.processPendingChanges()
        #expect(bench.names(sales.value(forKey: "employees")) == ["Bob"])
        bench.context.rollback()
        #expect(!bench.context.hasChanges)
        #expect(ada.name == "Ada" && !ada.isDeleted && ada.department === sales)
        #expect(bench.names(sales.value(forKey: "employees")) == ["Ada"])
        #expect(bob.department == nil && new.managedObjectContext == nil && !new.isInserted)
        try bench.context.save()
        #expect(try bench.context.count(for: people) == 2)
    }

    @Test(arguments: StoreKind.allCases)
    func resetForgetsAllObjects(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        ada.name = "X"
        bench.context.reset()
        #expect(!bench.context.hasChanges && bench.context.registeredObjects.isEmpty)
        #expect(ada.managedObjectContext == nil && ada.isFault && ada.name == nil)
        let again = try bench.twin(ada, in: bench.context)
        #expect(again !== ada && again.name == "Ada")
    }

    // MARK: Nested contexts

    @Test(arguments: StoreKind.allCases)
    func aChildSavesIntoItsParentAndTheParentIntoTheStore(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        let ada = try bench.person("Ada")
        ada.department = sales
        try bench.context.save()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let twin = try bench.twin(ada, in: child)
        twin.name = "Bea"
        let bob = try bench.person("Bob", in: child)
        bob.department = try bench.twin(sales, in: child)
        #expect(ada.name == "Ada")
        try child.save()
        #expect(ada.name == "Bea" && ada.isUpdated && bob.objectID.isTemporaryID)
        #expect(bench.names(sales.value(forKey: "employees")) == ["Bea", "Bob"])
        #expect(try bench.newContext().count(for: people) == 1)
        try bench.context.save()
        #expect(!bob.objectID.isTemporaryID)
        #expect(Set(try bench.newContext().fetch(people).compactMap(\.name)) == ["Bea", "Bob"])
        child.delete(bob)
        try child.save()
        try bench.context.save()
        #expect(try bench.newContext().count(for: people) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func aChildSeesItsParentsUnsavedChanges(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        ada.age = 4
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        let found = try child.fetch(people)
        #expect(found.map(\.name) == ["Ada"] && found.map(\.age) == [4])
        #expect(found.first !== ada && found.first?.objectID === ada.objectID)
        #expect(child.persistentStoreCoordinator === bench.coordinator)
    }

    @Test func savingAChildFromTheParentsLaneDoesNotDeadlock() throws {
        let bench = try Bench(.memory)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = bench.context
        try bench.context.performAndWait {
            try child.performAndWait {
                _ = try bench.person("Ada", in: child)
                try child.save()
            }
            try bench.context.save()
        }
        #expect(try bench.newContext().count(for: people) == 1)
    }

    // MARK: Lanes

    @Test func performReturnsWhatItsBlockReturns() async throws {
        let bench = try Bench(.memory)
        let context = bench.context
        let coordinator = bench.coordinator
        let count = try await context.perform {
            let entity = try #require(coordinator.managedObjectModel.entitiesByName["Person"])
            let person = Person(entity: entity, insertInto: context)
            person.name = "Ada"
            try context.save()
            return try context.count(for: NSFetchRequest<Person>(entityName: "Person"))
        }
        #expect(count == 1)
        await #expect(throws: NSError.self) {
            try await context.perform { throw CocoaError(.coreData) }
        }
        let value = context.performAndWait { context.performAndWait { 5 } }
        #expect(value == 5)
    }

    @Test func blocksOfOneContextNeverRunTogether() async throws {
        let bench = try Bench(.memory)
        let context = bench.context
        let id = try context.performAndWait {
            let person = try bench.person("Ada")
            person.score = 0
            try context.save()
            return person.objectID
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    await context.perform {
                        let person = context.object(with: id)
                        let score = person.value(forKey: "score") as? Double ?? 0
                        person.setValue(score + 1, forKey: "score")
                    }
                }
            }
        }
        let score = await context.perform {
            context.object(with: id).value(forKey: "score") as? Double
        }
        #expect(score == 200)
    }

    @Test func aMainQueueContextWorksFromAnyThread() async throws {
        let bench = try Bench(.memory)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = bench.coordinator
        await context.perform { MainActor.assertIsolated() }
        context.performAndWait { MainActor.assertIsolated() }
        await MainActor.run { #expect(context.performAndWait { true }) }
    }

    // MARK: Notices

    /// Collects notifications of one context.
    private final class Log: @unchecked Sendable {
        // @unchecked: used by one test on one thread.
        var seen: [(Notification.Name, [AnyHashable: Any])] = []
        private var tokens: [any NSObjectProtocol] = []

        init(_ context: NSManagedObjectContext) {
            let names: [Notification.Name] = [
                .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
                .NSManagedObjectContextObjectsDidChange,
            ]
            tokens = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    [unowned self] in seen.append(($0.name, $0.userInfo ?? [:]))
                }
            }
        }

        deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    }

    @Test(arguments: StoreKind.allCases)
    func aSaveTellsWhatItSaved(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        try bench.context.save()
        let log = Log(bench.context)
        let cy = try bench.person("Cy")
        ada.age = 3
        bench.context.delete(bob)
        try bench.context.save()
        #expect(
            log.seen.map(\.0) == [
                .NSManagedObjectContextWillSave, .NSManagedObjectContextObjectsDidChange,
                .NSManagedObjectContextDidSave,
            ])
        for info in log.seen.dropFirst().map(\.1) {
            #expect(info[NSInsertedObjectsKey] as? Set<NSManagedObject> == [cy])
            #expect(info[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [ada])
            #expect(info[NSDeletedObjectsKey] as? Set<NSManagedObject> == [bob])
        }
        try bench.context.save()
        #expect(log.seen.count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func aSaveIsMergedFromItsNotification(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        try bench.context.save()
        let other = bench.newContext()
        let twins: [Person] = try [ada, bob].map { try bench.twin($0, in: other) }
        twins[0].score = 5
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: bench.context, queue: nil
        ) { other.mergeChanges(fromContextDidSave: $0) }
        defer { NotificationCenter.default.removeObserver(token) }
        ada.name = "Bea"
        bench.context.delete(bob)
        try bench.context.save()
        #expect(twins[0].name == "Bea" && twins[0].score == 5 && twins[0].hasChanges)
        #expect(other.deletedObjects == [twins[1]] && twins[1].isDeleted)
        try other.save()
        #expect(other.registeredObject(for: bob.objectID) == nil && !other.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func aContextMayMergeByItself(_ kind: StoreKind) async throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let sales = try bench.make("Department", "Sales")
        try bench.context.save()
        let other = bench.newContext()
        other.automaticallyMergesChangesFromParent = true
        let twins = try other.performAndWait {
            let twin = try bench.twin(ada, in: other)
            let department = try bench.twin(sales, in: other)
            #expect(bench.names(department.value(forKey: "employees")).isEmpty)
            return (twin, department)
        }
        ada.name = "Bea"
        ada.department = sales
        try bench.context.save()
        other.performAndWait {
            #expect(twins.0.name == "Bea" && twins.0.department === twins.1)
            #expect(bench.names(twins.1.value(forKey: "employees")) == ["Bea"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func rowsWrittenBesideTheContextsAppearWhenAnnounced(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        other.automaticallyMergesChangesFromParent = true
        let twin = try other.performAndWait { try bench.twin(ada, in: other) }
        try bench.rename(ada, to: "Remote")
        other.performAndWait { #expect(twin.name == "Remote") }
    }

    // MARK: Size

    @Test(arguments: StoreKind.allCases)
    func tenThousandObjectsAreSavedAndFetched(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let sales = try bench.make("Department", "Sales")
        for index in 0..<10_000 {
            let person = try bench.person("P\(index)")
            person.department = sales
        }
        try bench.context.save()
        let other = bench.newContext()
        #expect(try other.count(for: people) == 10_000)
        #expect(Set(try other.fetch(people).compactMap(\.name)).count == 10_000)
        let twin = try bench.twin(sales, in: other)
        #expect((twin.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 10_000)
    }

    /// Stacks whose stores load later have parents before they have a coordinator.
    @Test func aParentMayGetItsCoordinatorLast() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let (writer, middle) = (
            NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType),
            NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        )
        let shown = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        shown.parent = middle
        middle.parent = writer
        for context in [shown, middle] { context.automaticallyMergesChangesFromParent = true }
        writer.persistentStoreCoordinator = bench.coordinator
        let twins = try [middle, shown].map { try bench.twin(ada, in: $0) }
        #expect(twins.map(\.name) == ["Ada", "Ada"])
        try bench.twin(ada, in: writer).name = "Bea"
        try writer.save()
        for context in [middle, shown] { context.performAndWait {} }
        #expect(twins.map(\.name) == ["Bea", "Bea"])
    }
}
