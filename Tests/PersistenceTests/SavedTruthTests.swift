import CoreData
import Foundation
import SQLiteStore
import Stores
import Testing

/// What a save says it did is what it did.
@Suite struct SavedTruthTests {
    private func observe(_ context: NSManagedObjectContext) -> Notices { Notices(context) }

    /// The objects that a context's saves announce.
    private final class Notices: @unchecked Sendable {
        // @unchecked: used on the thread that saves.
        var inserted: [Set<NSManagedObject>] = []
        var updated: [Set<NSManagedObject>] = []
        var deleted: [Set<NSManagedObject>] = []
        private var observer: (any NSObjectProtocol)?

        init(_ context: NSManagedObjectContext) {
            observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: context, queue: nil
            ) { [unowned self] note in
                func set(_ key: String) -> Set<NSManagedObject> {
                    note.userInfo?[key] as? Set<NSManagedObject> ?? []
                }
                inserted.append(set(NSInsertedObjectsKey))
                updated.append(set(NSUpdatedObjectsKey))
                deleted.append(set(NSDeletedObjectsKey))
            }
        }

        deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }
    }

    private func account(
        _ bench: Bench, _ note: String, in context: NSManagedObjectContext? = nil
    ) throws -> NSManagedObject {
        let account = try bench.make("Account", in: context)
        account.setValue("a@b", forKey: "email")
        account.setValue(note, forKey: "note")
        return account
    }

    // MARK: Constraints

    @Test(arguments: StoreKind.allCases)
    func aDuplicateThatBecameTheStoredObjectIsNotToldAsInserted(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let keeper = try account(bench, "old")
        try bench.context.save()
        let merging = bench.newContext()
        merging.automaticallyMergesChangesFromParent = true
        let twin = try merging.performAndWait { try bench.twin(keeper, in: merging) }
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let notices = observe(other)
        let fresh = try account(bench, "new", in: other)
        try other.save()
        #expect(fresh.isDeleted || fresh.managedObjectContext == nil)
        #expect(notices.inserted == [[]])
        #expect(notices.updated.map { $0.map(\.objectID) } == [[keeper.objectID]])
        merging.performAndWait {
            #expect(twin.value(forKey: "note") as? String == "new")
            #expect(merging.registeredObjects.allSatisfy { !$0.objectID.isTemporaryID })
        }
        #expect(
            try bench.newContext().count(
                for: NSFetchRequest<NSManagedObject>(
                    entityName: "Account")) == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func aKeeperThatGivesWayIsToldAsDeleted(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let keeper = try account(bench, "old")
        let second = try bench.make("Account")
        second.setValue("b@b", forKey: "email")
        try bench.context.save()
        let other = bench.newContext()
        other.mergePolicy = NSMergePolicy.overwrite
        let notices = observe(other)
        try bench.twin(second, in: other).setValue("a@b", forKey: "email")
        try other.save()
        #expect(notices.deleted.map { $0.map(\.objectID) } == [[keeper.objectID]])
        #expect(notices.updated.map { $0.map(\.objectID) } == [[second.objectID]])
    }

    @Test(arguments: [StoreKind.sqlite])
    func aConstraintWithAToOneIsAConstraintConflict(_ kind: StoreKind) throws {
        let model = TestModel.make()
        let song = try #require(model.entitiesByName["Song"])
        song.uniquenessConstraints = [["name", "playlist"]]
        let bench = try Bench(kind, model: model)
        let list = try bench.make("Playlist", "p")
        let first = try bench.make("Song", "s")
        first.setValue(list, forKey: "playlist")
        try bench.context.save()
        func clash(_ policy: NSMergePolicy) throws -> NSManagedObjectContext {
            let other = bench.newContext()
            other.mergePolicy = policy
            let second = try bench.make("Song", "s", in: other)
            second.setValue(try bench.twin(list, in: other), forKey: "playlist")
            return other
        }
        let refused = try clash(.error)
        let error = try #require(throws: NSError.self) { try refused.save() }
        #expect(error.code == NSManagedObjectConstraintMergeError)
        let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey]
        #expect(
            (conflicts as? [NSConstraintConflict])?.first?.databaseObject?.objectID
                == first.objectID)
        try clash(.mergeByPropertyObjectTrump).save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
        #expect(try bench.newContext().count(for: request) == 1)
    }

    // MARK: IDs

    /// A row that is seen before its saver goes on has the saver's ID.
    @Test(arguments: [StoreKind.sqlite, .memory])
    func aRowHasOneIDHoweverEarlyItIsFound(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let reader = bench.newContext()
        @Sendable func songs() -> Set<NSManagedObjectID> {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Song")
            request.resultType = .managedObjectIDResultType
            return Set((try? reader.fetch(request)) ?? [])
        }
        for _ in 0..<60 {
            let made = try (0..<20).map { try bench.make("Song", "\($0)") }
            let found = Found()
            let thread = Thread {
                reader.performAndWait {
                    while !found.isOver {
                        found.ids.formUnion(songs())
                    }
                }
                found.done.signal()
            }
            thread.start()
            try bench.context.save()
            found.end()
            found.done.wait()
            let all = reader.performAndWait { songs() }
            #expect(Set(made.map(\.objectID)).isSubset(of: all))
            #expect(found.ids.isSubset(of: all))
            for song in made { bench.context.delete(song) }
            try bench.context.save()
        }
    }

    private final class Found: @unchecked Sendable {
        // @unchecked: `ids` by one thread until it signals; the rest has a lock.
        var ids: Set<NSManagedObjectID> = []
        let done = DispatchSemaphore(value: 0)
        private let lock = NSLock()
        private var over = false

        var isOver: Bool { lock.withLock { over } }
        func end() { lock.withLock { over = true } }
    }

    @Test(arguments: StoreKind.allCases)
    func anIDIsTemporaryAgainWhereTheSaveFailed(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        _ = try account(bench, "old")
        try bench.context.save()
        let other = bench.newContext()
        let fresh = try account(bench, "new", in: other)
        #expect(throws: NSError.self) { try other.save() }
        #expect(fresh.objectID.isTemporaryID && fresh.isInserted)
        #expect(other.registeredObject(for: fresh.objectID) === fresh)
        fresh.setValue("c@d", forKey: "email")
        try other.save()
        #expect(!fresh.objectID.isTemporaryID && other.object(with: fresh.objectID) === fresh)
    }

    // MARK: Fetches

    @Test(arguments: StoreKind.allCases)
    func aFaultIsFilledWithWhatWasFetchedLast(_ kind: StoreKind) throws {
        let bench = try Bench(kind)
        let ada = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        let request = NSFetchRequest<Person>(entityName: "Person")
        let found = try #require(try other.fetch(request).first)
        #expect(found.isFault)
        ada.name = "Bea"
        try bench.context.save()
        _ = try other.fetch(request)
        #expect(found.name == "Bea")
    }

    // MARK: Key paths

    @Test func keyPathsComputeUponMembers() throws {
        let bench = try Bench(.memory)
        let team = try bench.make("Department", "d")
        for (name, age) in [("a", 10), ("b", 20), ("c", 20)] {
            let person = try bench.person(name)
            person.age = Int16(age)
            person.department = team
        }
        let list = try bench.make("Playlist", "p")
        list.setValue(
            NSOrderedSet(array: [try bench.make("Song", "x"), try bench.make("Song", "y")]),
            forKey: "songs")
        func number(_ path: String) -> Double? {
            (team.value(forKeyPath: path) as? NSNumber)?.doubleValue
        }
        #expect(number("employees.@count") == 3)
        #expect(number("employees.@sum.age") == 50)
        #expect(number("employees.@min.age") == 10 && number("employees.@max.age") == 20)
        #expect(abs((number("employees.@avg.age") ?? 0) - 50.0 / 3) < 1e-9)
        let distinct = team.value(forKeyPath: "employees.@distinctUnionOfObjects.age")
        #expect((distinct as? Set<Int>) == [10, 20])
        let names = list.value(forKeyPath: "songs.name") as? NSOrderedSet
        #expect(names?.array as? [String] == ["x", "y"])
        #expect(list.value(forKeyPath: "songs.@count") as? Int == 2)
        #expect(list.value(forKeyPath: "entity.name") == nil)
        #expect(list.value(forKey: "entity") as? NSEntityDescription === list.entity)
    }
}
