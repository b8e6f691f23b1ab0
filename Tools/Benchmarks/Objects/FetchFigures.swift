internal import Foundation
internal import ObjectModel
internal import Persistence
internal import SQLiteStore
internal import Stores

/// Times fetches of all objects of a store, and of their IDs.
struct FetchFigures {
    private let coordinator: NSPersistentStoreCoordinator
    private let count: Int

    /// Runs the role: `rounds` times all of it, keeping the best time of each.
    static func play(_ arguments: RoleArguments) throws {
        let folder = try arguments.url(0)
        let count = try arguments.count(1)
        let samples = Sample.many(count)
        let url = folder.appendingPathComponent("fetch.sqlite")
        try fill(url, samples)
        let floor = try RawTable(
            path: folder.appendingPathComponent("fetch.raw.sqlite").path, keepsHistory: false)
        try floor.insert(samples)
        var found = Findings()
        for _ in 0..<(try arguments.count(2)) {
            found.note(
                "raw.fetch",
                seconds: try Stopwatch.processorSeconds {
                    try RawFigures.check(floor.fetch(), count)
                })
            found.note(
                "raw.ids",
                seconds: try Stopwatch.processorSeconds {
                    try RawFigures.check(floor.fetchKeys(), count)
                })
            // Opened anew, so that nothing is known of the rows.
            try FetchFigures(at: url, count).measure(into: &found)
        }
        found.send()
    }

    private static func fill(_ url: URL, _ samples: [Sample]) throws {
        let store = try SQLiteRowStore(url: url, model: SampleModel.make())
        guard let entity = store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks \(SampleModel.entity).")
        }
        try ChangeFigures.insert(samples, of: entity, into: store)
    }

    private init(at url: URL, _ count: Int) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        self.count = count
    }

    private func measure(into found: inout Findings) throws {
        try time("fetch", into: &found) { try fetch($0, asFaults: false).count }
        try time("read", into: &found) { Self.read(try fetch($0, asFaults: true)) }
        // First of rows that nobody asked for yet, then of the same.
        for name in ["ids", "ids.again"] {
            try time(name, into: &found) { context in
                let request = NSFetchRequest<NSManagedObjectID>(entityName: SampleModel.entity)
                request.resultType = .managedObjectIDResultType
                return try context.fetch(request).count
            }
        }
    }

    /// Times `work` in a context of its own; it returns how many objects it came upon.
    private func time(
        _ name: String, into found: inout Findings,
        _ work: (NSManagedObjectContext) throws -> Int
    ) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let seconds = try context.performAndWait {
            try Stopwatch.processorSeconds { try RawFigures.check(work(context), count) }
        }
        found.note(name, seconds: seconds)
    }

    private func fetch(_ context: NSManagedObjectContext, asFaults: Bool) throws -> [SampleObject] {
        let request = NSFetchRequest<SampleObject>(entityName: SampleModel.entity)
        request.returnsObjectsAsFaults = asFaults
        return try context.fetch(request)
    }

    /// Reads all seven values of each.
    private static func read(_ entries: [SampleObject]) -> Int {
        var read = 0
        for entry in entries {
            let sum = entry.amount + Double(entry.count) + (entry.isDone ? 1 : 0)
            let has = entry.created != nil && entry.key != nil && entry.note != nil
            if sum > -1, has, entry.name != nil { read += 1 }
        }
        return read
    }
}
