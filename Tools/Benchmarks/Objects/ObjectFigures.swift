internal import Foundation
internal import ObjectModel
internal import Persistence

/// Times what an app does with objects, through a context over a SQLite store with history.
struct ObjectFigures {
    private let coordinator: NSPersistentStoreCoordinator
    private let samples: [Sample]

    /// Runs the role: `rounds` times all of it, keeping the best time of each.
    static func play(_ arguments: RoleArguments) throws {
        let folder = try arguments.url(0)
        let samples = Sample.many(try arguments.count(1))
        var found = Findings()
        for round in 0..<(try arguments.count(2)) {
            func path(_ name: String) -> String {
                folder.appendingPathComponent("\(name)\(round).sqlite").path
            }
            try RawFigures.measure(samples, at: path("raw"), keepsHistory: false, into: &found)
            try RawFigures.measure(samples, at: path("logged"), keepsHistory: true, into: &found)
            let url = URL(fileURLWithPath: path("objects"))
            try ObjectFigures(at: url, samples).measureInsertion(into: &found)
            // Opened anew, so that nothing is known of the rows.
            try ObjectFigures(at: url, samples).measure(into: &found)
        }
        found.send()
    }

    private init(at url: URL, _ samples: [Sample]) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true])
        self.samples = samples
    }

    private func measureInsertion(into found: inout Findings) throws {
        try inContext { context in
            found.note(
                "insert", seconds: try Stopwatch.processorSeconds { try insert(in: context) })
        }
    }

    private func measure(into found: inout Findings) throws {
        try inContext { context in
            let seconds = try Stopwatch.processorSeconds {
                try check(fetch(context, asFaults: false).count)
            }
            found.note("fetch", seconds: seconds)
        }
        try inContext { context in
            let seconds = try Stopwatch.processorSeconds {
                try check(read(fetch(context, asFaults: true)))
            }
            found.note("read", seconds: seconds)
        }
        // First of rows that nobody asked for yet, then of the same.
        for name in ["ids", "ids.again"] {
            try inContext { context in
                let request = NSFetchRequest<NSManagedObjectID>(entityName: SampleModel.entity)
                request.resultType = .managedObjectIDResultType
                let seconds = try Stopwatch.processorSeconds {
                    try check(context.fetch(request).count)
                }
                found.note(name, seconds: seconds)
            }
        }
        try inContext { context in
            let entries = try fetch(context, asFaults: false)
            let seconds = try Stopwatch.processorSeconds {
                for entry in entries { entry.count = 7 }
                try context.save()
            }
            found.note("update", seconds: seconds)
        }
        try inContext { context in
            let entries = try fetch(context, asFaults: false)
            let seconds = try Stopwatch.processorSeconds {
                for entry in entries { context.delete(entry) }
                try context.save()
            }
            found.note("delete", seconds: seconds)
        }
    }

    private func insert(in context: NSManagedObjectContext) throws {
        for sample in samples { SampleObject(context: context).fill(sample) }
        try context.save()
    }

    private func fetch(_ context: NSManagedObjectContext, asFaults: Bool) throws -> [SampleObject] {
        let request = NSFetchRequest<SampleObject>(entityName: SampleModel.entity)
        request.returnsObjectsAsFaults = asFaults
        return try context.fetch(request)
    }

    /// Reads all seven values of each.
    private func read(_ entries: [SampleObject]) -> Int {
        var read = 0
        for entry in entries {
            let sum = entry.amount + Double(entry.count) + (entry.isDone ? 1 : 0)
            let has = entry.created != nil && entry.key != nil && entry.note != nil
            if sum > -1, has, entry.name != nil { read += 1 }
        }
        return read
    }

    private func check(_ found: Int) throws { try RawFigures.check(found, samples.count) }

    private func inContext(_ work: (NSManagedObjectContext) throws -> Void) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try work(context) }
    }
}
