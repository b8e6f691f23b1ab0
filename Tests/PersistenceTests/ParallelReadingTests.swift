import CoreData
import Dispatch
import Foundation
import Platform
import Synchronization
import Testing

/// Many contexts on many queues over one SQLite store.
@Suite struct ParallelReadingTests {
    /// Calls a block when a save is about to commit.
    private final class CommitHook: FaultPoints {
        private let work = Lock<(@Sendable () -> Void)?>(nil)

        func set(_ block: (@Sendable () -> Void)?) { work.withLock { $0 = block } }

        func reach(_ name: String) {
            guard name == "store.beforeCommit" else { return }
            work.withLock { $0 }?()
        }
    }

    /// A store in a folder of its own.
    private final class Place: @unchecked Sendable {
        // @unchecked: never changed.
        let folder: URL
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore

        init(_ faults: any FaultPoints = NoFaults()) throws {
            folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("PersistenceTests-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var platform = Environment.system
            platform.faults = faults
            coordinator = NSPersistentStoreCoordinator(
                model: TestModel.make(), platform: platform)
            store = try coordinator.addPersistentStore(
                type: .sqlite, at: folder.appendingPathComponent("store.sqlite"))
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func context() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }
    }

    private static func names(_ context: NSManagedObjectContext) throws -> [String] {
        try context.fetch(NSFetchRequest<Person>(entityName: "Person")).map { $0.name ?? "" }
    }

    private static func insert(_ name: String, into context: NSManagedObjectContext) -> Person {
        let person = Person(context: context)
        person.name = name
        return person
    }

    @Test func fetchesAndFaultsGoOnBesideASave() throws {
        let hook = CommitHook()
        let place = try Place(hook)
        let (writer, reader) = (place.context(), place.context())
        let person = try writer.performAndWait {
            let person = Self.insert("Ann", into: writer)
            try writer.save()
            return person
        }
        let id = person.objectID
        let seen = Lock<[String]>([])
        hook.set {
            // The save waits here: whoever waited for it would never come.
            let done = DispatchSemaphore(value: 0)
            reader.perform {
                let found = (try? Self.names(reader)) ?? []
                let fault = reader.object(with: id) as? Person
                reader.refreshAllObjects()
                seen.withLock { $0 = found + [fault?.name ?? "none"] }
                done.signal()
            }
            #expect(done.wait(timeout: .now() + 600) == .success)
        }
        try writer.performAndWait {
            person.name = "Anna"
            try writer.save()
        }
        hook.set(nil)
        #expect(seen.withLock { $0 } == ["Ann", "Ann"])
        #expect(try writer.performAndWait { try Self.names(writer) } == ["Anna"])
        let later = try reader.performAndWait {
            reader.refreshAllObjects()
            return try Self.names(reader)
        }
        #expect(later == ["Anna"])
    }

    /// Each save renames a pair and adds one: readers see the two names equal and an even count.
    @Test func contextsOnManyQueuesSeeWholeSaves() throws {
        let place = try Place()
        let writers = (0..<2).map { _ in place.context() }
        let readers = (0..<4).map { _ in place.context() }
        for (number, writer) in writers.enumerated() {
            try writer.performAndWait {
                for _ in 0..<2 { _ = Self.insert("\(number):0", into: writer) }
                try writer.save()
            }
        }
        let isOver = Atomic(false)
        let torn = Atomic(0)
        let failures = Lock<[String]>([])
        let group = DispatchGroup()
        for (number, reader) in readers.enumerated() {
            group.enter()
            reader.perform {
                defer { group.leave() }
                do {
                    if number.isMultiple(of: 2) { try reader.setQueryGenerationFrom(.current) }
                    while !isOver.load(ordering: .acquiring) {
                        if !(try Self.isWhole(reader)) { torn.add(1, ordering: .relaxed) }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        let saving = DispatchGroup()
        for (number, writer) in writers.enumerated() {
            saving.enter()
            writer.perform {
                defer { saving.leave() }
                do {
                    for round in 1...25 { try Self.save(round, as: number, in: writer) }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        saving.wait()
        isOver.store(true, ordering: .releasing)
        group.wait()
        #expect(failures.withLock { $0 } == [])
        #expect(torn.load(ordering: .relaxed) == 0)
    }

    private static func save(
        _ round: Int, as number: Int, in writer: NSManagedObjectContext
    ) throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "name BEGINSWITH %@", "\(number):")
        for person in try writer.fetch(request) { person.name = "\(number):\(round)" }
        for _ in 0..<2 { _ = insert("\(number):\(round)", into: writer) }
        try writer.save()
        // Who saved reads the save.
        let found = try writer.fetch(request)
        try #require(found.count == 2 * round + 2)
    }

    /// Whether all of a writer's objects have one name, and come in pairs.
    private static func isWhole(_ reader: NSManagedObjectContext) throws -> Bool {
        let isPinned = reader.queryGenerationToken != nil
        reader.reset()
        let request = NSFetchRequest<Person>(entityName: "Person")
        let found = try reader.fetch(request)
        let names = Dictionary(grouping: found) { $0.name?.first ?? " " }
        let isWhole = names.values.allSatisfy { people in
            people.count.isMultiple(of: 2) && Set(people.map(\.name)).count == 1
        }
        // A pinned context reads the same again, faults and all.
        guard isPinned else { return isWhole }
        let before = found.map { $0.name }
        reader.refreshAllObjects()
        return try isWhole && found.map { $0.name } == before
            && reader.count(for: request) == found.count
    }

    // MARK: Stores that change

    /// Lets three contexts read twenty objects again and again while `work` runs; returns what they
    /// saw instead. A generation that ended is an error, never a wrong answer.
    private func reading(_ place: Place, while work: () throws -> Void) throws -> [String] {
        let readers = (0..<3).map { _ in place.context() }
        let writer = place.context()
        try writer.performAndWait {
            for _ in 0..<20 { _ = Self.insert("x", into: writer) }
            try writer.save()
        }
        let isOver = Atomic(false)
        let wrong = Lock<[String]>([])
        let group = DispatchGroup()
        for reader in readers {
            group.enter()
            reader.perform {
                defer { group.leave() }
                while !isOver.load(ordering: .acquiring) {
                    reader.reset()
                    try? reader.setQueryGenerationFrom(.current)
                    guard let found = try? Self.names(reader) else { continue }
                    if found.count(where: { $0 == "x" }) != 20 {
                        wrong.withLock { $0.append("\(found.count) found") }
                    }
                }
            }
        }
        defer {
            isOver.store(true, ordering: .releasing)
            group.wait()
        }
        try work()
        return wrong.withLock { $0 }
    }

    @Test func storesComeAndGoWhileContextsRead() throws {
        let place = try Place()
        let other = place.folder.appendingPathComponent("other.sqlite")
        let wrong = try reading(place) {
            for _ in 0..<6 {
                let added = try place.coordinator.addPersistentStore(type: .sqlite, at: other)
                try place.coordinator.remove(added)
                try place.coordinator.destroyPersistentStore(at: other, type: .sqlite)
            }
        }
        #expect(wrong == [])
    }

    @Test func aStoreMovesWhileContextsRead() throws {
        let place = try Place()
        let url = try #require(place.store.url)
        let other = place.folder.appendingPathComponent("other.sqlite")
        let wrong = try reading(place) {
            try place.coordinator.replacePersistentStore(
                at: other, withPersistentStoreFrom: url, type: .sqlite)
            for round in 0..<8 {
                #expect(
                    place.coordinator.setURL(
                        round.isMultiple(of: 2) ? other : url, for: place.store))
            }
        }
        #expect(wrong == [] && place.store.url == url)
    }
}
