import CoreData
import Foundation
import Persistence
import Platform
import SQLiteDriver
import Stores
import Testing

/// What contexts hold while their store moves to another place or type.
@Suite struct MovedObjectsTests {
    struct Pair: CustomTestStringConvertible, Sendable {
        let from: StoreKind
        let to: StoreKind
        var testDescription: String { "\(from.rawValue) to \(to.rawValue)" }
        static let all = StoreKind.allCases.flatMap { from in
            StoreKind.allCases.map { Pair(from: from, to: $0) }
        }
    }

    private final class Place {
        let kind: StoreKind
        private let folder: URL
        var url: URL { folder.appendingPathComponent("moved.\(kind.rawValue)") }

        init(_ kind: StoreKind) throws {
            self.kind = kind
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("MovedObjectsTests-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func take(
            _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator
        ) throws -> NSPersistentStore {
            try coordinator.migratePersistentStore(store, to: url, withType: kind.type)
        }

        /// Calls `body` with a context of its own upon the file.
        func reopen(_ body: (NSManagedObjectContext) throws -> Void) throws {
            guard kind != .memory else { return }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: url, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try body(context)
        }
    }

    private func all(_ entity: String, in context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        return try context.fetch(request)
            .compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    @Test(arguments: Pair.all) func editsAreSavedInTheNewStore(_ pair: Pair) throws {
        let (bench, place) = (try Bench(pair.from), try Place(pair.to))
        let context = bench.context
        let (ada, bob) = (try bench.person("Ada"), try bench.person("Bob"))
        let list = try bench.make("Playlist", "List")
        let songs = try ["a", "b", "c"].map { try bench.make("Song", $0) }
        list.setValue(NSOrderedSet(array: [songs[2], songs[0], songs[1]]), forKey: "songs")
        ada.spouse = bob
        ada.department = try bench.make("Department", "Home")
        try context.save()
        ada.age = 30
        try context.save()
        let id = ada.objectID
        ada.age = 31
        context.delete(songs[1])
        let late = try bench.person("Late")
        try context.obtainPermanentIDs(for: [late])
        let moved = try place.take(bench.store, of: bench.coordinator)

        #expect(ada.objectID === id && id.persistentStore === moved)
        #expect(try context.existingObject(with: id) === ada)
        #expect(try all("Person", in: context) == ["Ada", "Bob", "Late"])
        bob.age = 40
        bob.department = ada.department
        try bench.make("Department", "Later")
        try context.save()
        ada.age = 32
        try bench.person("Last")
        try context.save()

        let uris = [ada, late, list].map { $0.objectID.uriRepresentation() }
        for object in [ada, bob, late] { #expect(!object.hasChanges) }
        let other = bench.newContext()
        #expect(try bench.twin(ada, in: other).age == 32)
        #expect(try bench.twin(late, in: other).name == "Late")
        #expect(bench.order(try bench.twin(list, in: other).value(forKey: "songs")) == ["c", "a"])
        #expect(try all("Department", in: other) == ["Home", "Later"])
        try bench.coordinator.remove(moved)
        try place.reopen { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let names = try uris.map { uri in
                let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
                return try context.existingObject(with: id).value(forKey: "name") as? String
            }
            #expect(names == ["Ada", "Late", "List"])
            #expect(try all("Person", in: context) == ["Ada", "Bob", "Last", "Late"])
            #expect(try all("Song", in: context) == ["a", "c"])
        }
    }

    @Test(arguments: Pair.all) func faultsAreFilledFromTheNewStore(_ pair: Pair) throws {
        let (bench, place) = (try Bench(pair.from), try Place(pair.to))
        let ada = try bench.person("Ada")
        ada.friends = [try bench.person("Bob"), try bench.person("Eve")]
        ada.department = try bench.make("Department", "Home")
        try bench.context.save()
        bench.context.refreshAllObjects()
        let former = bench.newContext()
        let twin = try bench.twin(ada, in: former)
        let moved = try place.take(bench.store, of: bench.coordinator)
        #expect(ada.isFault && ada.name == "Ada")
        #expect(bench.names(ada.friends) == ["Bob", "Eve"])
        #expect(ada.department?.value(forKey: "name") as? String == "Home")
        #expect(bench.names(twin.friends) == ["Bob", "Eve"])
        twin.friends = twin.friends.filter { $0.name == "Eve" }
        try former.save()
        bench.context.refreshAllObjects()
        #expect(bench.names(ada.friends) == ["Eve"])
        #expect(ada.objectID.persistentStore === moved)
    }

    /// Who was slower before the move is slower after it.
    @Test(arguments: Pair.all) func conflictsAreFoundInTheNewStore(_ pair: Pair) throws {
        let (bench, place) = (try Bench(pair.from), try Place(pair.to))
        let ada = try bench.person("Ada")
        try bench.context.save()
        let other = bench.newContext()
        let twin = try bench.twin(ada, in: other)
        twin.age = 7
        ada.age = 30
        try bench.context.save()
        _ = try place.take(bench.store, of: bench.coordinator)
        let error = try #require(throws: NSError.self) { try other.save() }
        #expect(error.code == NSManagedObjectMergeError)
        other.rollback()
        other.refreshAllObjects()
        #expect(twin.age == 30)
        twin.age = 31
        try other.save()
        bench.context.refreshAllObjects()
        #expect(ada.age == 31)
    }

    @Test(arguments: Pair.all) func aStoreThatMovedMovesOn(_ pair: Pair) throws {
        let (bench, place) = (try Bench(pair.from), try Place(pair.to))
        let ada = try bench.person("Ada")
        let song = try bench.make("Song", "a")
        try bench.context.save()
        let moved = try place.take(bench.store, of: bench.coordinator)
        ada.age = 30
        try bench.context.save()
        let next = try Place(pair.from)
        let last = try next.take(moved, of: bench.coordinator)
        ada.age = 31
        song.setValue("b", forKey: "name")
        try bench.context.save()
        #expect(ada.objectID.persistentStore === last)
        let other = bench.newContext()
        #expect(try bench.twin(ada, in: other).age == 31)
        #expect(try all("Song", in: other) == ["b"])
    }

    /// Lets somebody save while the copy waits for its place.
    private final class Meanwhile: FaultPoints, @unchecked Sendable {
        // @unchecked: set before a move, and used by it, on its thread.
        var deed: () throws -> Void = {}

        func reach(_ name: String) throws { if name == "migrate.filled" { try deed() } }
    }

    private static let files: [StoreKind] = [.sqlite, .xml, .binary]

    /// It is in the old store alone, and no other object becomes it.
    @Test(arguments: files, files)
    func whatIsSavedMeanwhileKeepsItsIDToItself(_ from: StoreKind, _ to: StoreKind) throws {
        let (former, place) = (try Place(from), try Place(to))
        let meanwhile = Meanwhile()
        var platform = Environment.system
        platform.faults = meanwhile
        let coordinator = NSPersistentStoreCoordinator(model: TestModel.make(), platform: platform)
        let store = try coordinator.addPersistentStore(
            ofType: from.type, configurationName: nil, at: former.url, options: nil)
        let contexts = (0..<2).map { _ in
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        func make(_ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
            let made = NSEntityDescription.insertNewObject(
                forEntityName: "Person", into: context)
            made.setValue(name, forKey: "name")
            return made
        }
        let (own, other) = (contexts[0], contexts[1])
        _ = make("Ada", in: own)
        try own.save()
        let late = make("Late", in: other)
        meanwhile.deed = { try other.save() }
        _ = try place.take(store, of: coordinator)
        let new = make("New", in: own)
        try own.save()
        #expect(new.objectID.uriRepresentation() != late.objectID.uriRepresentation())
        other.refresh(late, mergeChanges: false)
        #expect(late.value(forKey: "name") as? String == nil)
        #expect(try all("Person", in: own) == ["Ada", "New"])
    }

    /// Another program may have numbered the entities of its file otherwise.
    @Test(arguments: StoreKind.allCases)
    func objectsOfAFileWithNumbersOfItsOwnFollow(_ kind: StoreKind) throws {
        let (bench, place) = (try MigrationBench(), try Place(kind))
        let model = VersionDraft.model { draft in
            draft.entity("Account", [text("name")])
            draft.entity("Person", [text("name")])
        }
        try bench.open(model, options: [:]) { context throws in
            _ = context.make("Account", ["name": "first"])
            _ = context.make("Person", ["name": "Ada"])
            try context.save()
        }
        let file = try Connection(path: bench.url.path, access: .readWrite)
        for (entity, number) in [("Account", 12), ("Person", 11)] {
            try file.run("UPDATE Z_PRIMARYKEY SET Z_ENT = \(number) WHERE Z_NAME = '\(entity)'")
            try file.run("UPDATE Z\(entity.uppercased()) SET Z_ENT = \(number)")
        }
        try bench.open(model, options: [:]) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let store = try #require(coordinator.persistentStores.first)
            let ada = try #require(try context.all("Person").first)
            let account = try #require(try context.all("Account").first)
            #expect(ada.objectID.rowID?.entity == 11)
            let moved = try place.take(store, of: coordinator)
            ada.setValue("Eve", forKey: "name")
            account.setValue("second", forKey: "name")
            try context.save()
            #expect(try all("Person", in: context) == ["Eve"])
            #expect(try all("Account", in: context) == ["second"])
            #expect(ada.objectID.persistentStore === moved)
            try coordinator.remove(moved)
        }
    }
}
