internal import CSQLite
internal import Foundation
internal import ObjectModel
internal import Persistence
internal import Predicates
internal import SQLiteStore
internal import Stores

/// Opening a store of many entities, and walking through very many rows.
enum OpeningReport {
    private static let entityCount = 100
    private static let batchSize = 1_000
    private static let rowsPerSave = 50_000

    static func run(rows: Int) throws {
        let folder = try TemporaryFolder()
        let made = try ChildProcess.run(.make, [folder.path("wide.sqlite")])
        var best = Findings()
        for _ in 0..<5 {
            let found = try ChildProcess.run(.open, [folder.path("wide.sqlite")])
            for name in ["model", "open", "raw"] { best.note(name, seconds: found[name]) }
        }
        Report.title("Opening a store of \(entityCount) entities, each time in a new process", "")
        Report.time("open, and count one entity", seconds: best["open"], floor: best["raw"])
        Report.fact("building its model", String(format: "%.4f s", best["model"]))
        Report.fact("making the store", String(format: "%.4f s", made["open"]))
        Report.note("The floor: raw SQLite opens the file, reads its schema and counts.")

        Report.title("Walking through \(Report.grouped(Double(rows))) objects in batches")
        let walk = try ChildProcess.run(.iterate, [folder.path("long.sqlite"), String(rows)])
        Report.rate("read all objects", rows, seconds: walk["seconds"], floor: walk["raw"])
        Report.fact("peak memory", Report.megabytes(walk["walkBytes"]))
        Report.note(
            "A batch size of \(batchSize), by date. The floor: one raw SELECT, in no order.")
    }

    // MARK: Opening

    static func open(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0)
        var found = Findings()
        let isThere = FileManager.default.fileExists(atPath: url.path)
        if isThere {
            found["raw"] = try Stopwatch.processorSeconds {
                var counted = 0
                try RawDatabase(path: url.path).each("SELECT count(*) FROM ZKIND0") { _ in
                    counted += 1
                }
                try RawFigures.check(counted, 1)
            }
        }
        let begin = Stopwatch.cpuSeconds
        let model = SampleModel.wide(entityCount)
        found["model"] = Stopwatch.cpuSeconds - begin
        found["open"] = try Stopwatch.processorSeconds {
            let store = try SQLiteRowStore(url: url, model: model)
            guard let first = store.layout.entity(named: "Kind0") else {
                throw BenchmarkError("The model lacks its first entity.")
            }
            try RawFigures.check(store.count(matching: RowQuery(entity: first.number)), 0)
        }
        found.send()
    }

    // MARK: Walking

    static func iterate(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0)
        let count = try arguments.count(1)
        try fill(url, count)
        var found = Findings()
        found["raw"] = try Stopwatch.processorSeconds { try RawFigures.check(walkRaw(url), count) }
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: SampleModel.make(indexed: true))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true])
        PeakMemory.restart()
        found["seconds"] = try Stopwatch.processorSeconds {
            try RawFigures.check(walk(coordinator), count)
        }
        found["walkBytes"] = Double(PeakMemory.bytes)
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

    /// Reads all objects in the order of their dates; no object outlives its batch.
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
