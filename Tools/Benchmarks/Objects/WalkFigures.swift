internal import CSQLite
internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Predicates
internal import SQLiteStore
internal import Stores

/// Times a walk through very many objects in the order of their dates, in batches; no object
/// outlives its batch.
enum WalkFigures {
    static let batchSize = 1_000
    private static let rowsPerSave = 50_000

    static func play(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0).appendingPathComponent("walk.sqlite")
        let count = try arguments.count(1)
        try fill(url, count)
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: SampleModel.make(indexed: true))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        var found = Findings()
        for _ in 0..<(try arguments.count(2)) {
            found.note(
                "raw",
                seconds: try Stopwatch.processorSeconds {
                    try RawFigures.check(walkRaw(url), count)
                })
            PeakMemory.restart()
            found.note(
                "walk",
                seconds: try Stopwatch.processorSeconds {
                    try RawFigures.check(walk(coordinator), count)
                })
            found["walkBytes"] = max(found["walkBytes"], Double(PeakMemory.bytes))
        }
        found.send()
    }

    private static func fill(_ url: URL, _ count: Int) throws {
        var options = SQLiteStoreOptions()
        options.tracksHistory = false
        let store = try SQLiteRowStore(
            url: url, model: SampleModel.make(indexed: true), options: options)
        guard let entity = store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks \(SampleModel.entity).")
        }
        for first in stride(from: 0, to: count, by: rowsPerSave) {
            let samples = Sample.many(min(rowsPerSave, count - first), from: first)
            try ChangeFigures.insert(samples, of: entity, into: store)
        }
    }

    private static func walk(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let request = NSFetchRequest<SampleObject>(entityName: SampleModel.entity)
            request.sortDescriptors = [NSSortDescriptor(key: "created", ascending: true)]
            request.fetchBatchSize = batchSize
            var read = 0
            for entry in try context.batchedObjects(for: request) where entry.name != nil {
                read += 1
            }
            return read
        }
    }

    /// The same rows in no order, by one statement.
    private static func walkRaw(_ url: URL) throws -> Int {
        var read = 0
        try RawDatabase(path: url.path).each(
            "SELECT Z_PK, ZAMOUNT, ZCOUNT, ZCREATED, ZISDONE, ZKEY, ZNAME, ZNOTE FROM ZENTRY"
        ) { row in
            if sqlite3_column_text(row, 6).map({ String(cString: $0) }) != nil { read += 1 }
        }
        return read
    }
}
