import CoreData
import Foundation
import Platform
import Testing

/// What saves, and contexts that start over, tell and keep.
@Suite struct SaveNoticeTests {
    /// The notifications of one name that a context posts while `work` runs.
    private func notices(
        _ name: Notification.Name, of context: NSManagedObjectContext, _ work: () throws -> Void
    ) rethrows -> [[AnyHashable: Any]] {
        let kept = Kept()
        let token = NotificationCenter.default.addObserver(
            forName: name, object: context, queue: nil
        ) { kept.notices.append($0.userInfo ?? [:]) }
        defer { NotificationCenter.default.removeObserver(token) }
        try work()
        return kept.notices
    }

    private final class Kept: @unchecked Sendable {
        // @unchecked: filled on the thread that saves.
        var notices: [[AnyHashable: Any]] = []
    }

    @Test(arguments: StoreKind.logging)
    func aSaveSaysWhereItStandsInTheHistory(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let names: [Notification.Name] = [
            .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
        ]
        for name in names {
            try bench.person("Ada")
            let told = try notices(name, of: bench.context) { try bench.context.save() }
            let token = told.first?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            #expect(token == bench.coordinator.currentPersistentHistoryToken(fromStores: nil))
            #expect(told.first?["newChangeToken"] as? NSPersistentHistoryToken == token)
            #expect(told.count == 1 && told[0][NSManagedObjectContextQueryGenerationKey] == nil)
        }
    }

    /// Whichever came first, and however many did the same before another did something else.
    @Test(arguments: [StoreKind.sqlite, .memory], [0, 1, 2])
    func anEventOfManyKindsIsToldByKind(_ kind: StoreKind, _ turn: Int) throws {
        let bench = try Bench(kind)
        let people = try (0..<6).map { try bench.person("P\($0)") }
        try bench.context.save()
        var made: [NSManagedObject] = []
        let deeds: [() throws -> Void] = [
            { for person in people[..<2] { bench.context.delete(person) } },
            { for person in people[2..<4] { person.age = 7 } },
            { made = try (0..<2).map { try bench.person("New \($0)") } },
            { bench.context.refresh(people[4], mergeChanges: false) },
        ]
        let names: [Notification.Name] = [
            .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave,
            .NSManagedObjectContextDidSaveObjectIDs,
        ]
        var told: [[AnyHashable: Any]] = []
        func run(_ rest: ArraySlice<Notification.Name>) throws {
            guard let name = rest.first else {
                for index in deeds.indices { try deeds[(index + turn) % deeds.count]() }
                return try bench.context.save()
            }
            told.insert(
                contentsOf: try notices(name, of: bench.context) { try run(rest.dropFirst()) },
                at: 0)
        }
        try run(names[...])
        #expect(told.count == 3)
        let kinds: [(String, [NSManagedObject])] = [
            (NSDeletedObjectsKey, Array(people[..<2])), (NSUpdatedObjectsKey, Array(people[2..<4])),
            (NSInsertedObjectsKey, made),
        ]
        for (key, objects) in kinds {
            #expect(told[0][key] as? Set<NSManagedObject> == Set(objects))
            #expect(told[1][key] as? Set<NSManagedObject> == Set(objects))
        }
        #expect(told[0][NSRefreshedObjectsKey] as? Set<NSManagedObject> == [people[4]])
        let ids: [(String, [NSManagedObject])] = [
            (NSDeletedObjectIDsKey, Array(people[..<2])),
            (NSUpdatedObjectIDsKey, Array(people[2..<4])), (NSInsertedObjectIDsKey, made),
        ]
        for (key, objects) in ids {
            #expect(told[2][key] as? Set<NSManagedObjectID> == Set(objects.map(\.objectID)))
        }
        #expect(people[..<2].allSatisfy { bench.context.registeredObject(for: $0.objectID) == nil })
    }

    /// What programs do so that lists of other contexts look at an object anew.
    @Test(arguments: StoreKind.allCases)
    func whatIsOnlyTouchedIsTold(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        let bob = try bench.person("Bob")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(ada, in: other)
        ada.name = "Ada"
        bob.age = 7
        #expect(ada.hasChanges && !ada.hasPersistentChangedValues)
        let told = try notices(.NSManagedObjectContextDidSave, of: bench.context) {
            try bench.context.save()
        }
        #expect(told.count == 1 && told[0][NSUpdatedObjectsKey] as? Set<Person> == [ada, bob])
        #expect(!ada.hasChanges && !bench.context.hasChanges)
        let notice = Notification(
            name: .NSManagedObjectContextDidSave, object: bench.context, userInfo: told.first)
        let merged = other.performAndWait {
            _ = twin.name
            return notices(.NSManagedObjectContextObjectsDidChange, of: other) {
                other.mergeChanges(fromContextDidSave: notice)
            }
        }
        let refreshed = merged.first?[NSRefreshedObjectsKey] as? Set<NSManagedObject>
        #expect(refreshed?.contains(twin) == true)
    }

    @Test func aSaveWithoutHistoryHasNoToken() throws {
        let bench = try Bench(.xml)
        try bench.person("Ada")
        let told = try notices(.NSManagedObjectContextDidSave, of: bench.context) {
            try bench.context.save()
        }
        #expect(told.count == 1 && told[0][NSPersistentHistoryTokenKey] == nil)
    }

    @Test func aSaveOfAPinnedContextSaysThatItMovesOn() throws {
        let bench = try Bench(.sqlite)
        try bench.context.setQueryGenerationFrom(.current)
        _ = try bench.context.fetch(NSFetchRequest<Person>(entityName: "Person"))
        try bench.person("Ada")
        let told = try notices(.NSManagedObjectContextDidSave, of: bench.context) {
            try bench.context.save()
        }
        let token = told.first?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
        #expect(token == .current)
    }

    @Test func aTokenIsArchivedSecurely() throws {
        let bench = try Bench(.sqlite)
        try bench.person("Ada")
        try bench.context.save()
        let token = try #require(bench.coordinator.currentPersistentHistoryToken(fromStores: nil))
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: token, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: NSPersistentHistoryToken.self, from: data)
        #expect(read == token)
    }

    @Test func aResetNamesNewObjectsThatNobodyHolds() throws {
        let bench = try Bench(.memory)
        for name in ["Ada", "Bob"] { try bench.person(name) }
        bench.context.processPendingChanges()
        let told = notices(.NSManagedObjectContextObjectsDidChange, of: bench.context) {
            bench.context.reset()
        }
        #expect((told.first?[NSInvalidatedAllObjectsKey] as? [Any])?.count == 2)
    }

    @Test func savedObjectsLiveUntilTheBlockEnds() throws {
        let bench = try Bench(.memory)
        let context = bench.context
        try context.performAndWait {
            try bench.person("Ada")
            try context.save()
            #expect(context.registeredObjects.count == 1)
        }
        #expect(context.performAndWait { context.registeredObjects.isEmpty })
    }

    @MainActor @Test func onTheMainQueueSavedObjectsLiveUntilItsNextTurn() async throws {
        let bench = try Bench(.memory)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = bench.coordinator
        try bench.person("Ada", in: context)
        try context.save()
        #expect(context.registeredObjects.count == 1)
        await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
        #expect(context.registeredObjects.isEmpty)
    }

    @Test func aRepeatedDeletionIsPreparedAgain() throws {
        let bench = try Bench(.memory)
        let ada = try bench.person("Ada")
        try bench.context.save()
        ada.calls = []
        bench.context.delete(ada)
        bench.context.delete(ada)
        #expect(ada.calls == ["prepareForDeletion", "prepareForDeletion"])
        try bench.context.save()
        #expect(!ada.isDeleted)
    }
}
