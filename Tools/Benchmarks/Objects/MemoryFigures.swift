internal import Foundation
internal import ObjectModel
internal import Persistence
internal import SQLiteStore
internal import Stores

/// Measures how much more memory the process holds with objects than without.
enum MemoryFigures {
    /// What one process measures: memory that was freed would serve the next.
    enum Part: String, CaseIterable {
        case peak, registered, inserted
    }

    static func play(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0)
        let count = try arguments.count(1)
        var found = Findings()
        switch Part(rawValue: try arguments.text(2)) {
        case .peak: found["insertPeakBytes"] = try insertPeak(at: url, count)
        case .registered: try measureRegistered(at: url, count, into: &found)
        case .inserted: try measureInserted(at: url, count, into: &found)
        case nil: throw BenchmarkError("The role memory has no such part.")
        }
        found.send()
    }

    private static func context(at url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static func insertPeak(at url: URL, _ count: Int) throws -> Double {
        let context = try context(at: url)
        PeakMemory.restart()
        try context.performAndWait {
            for number in 0..<count { SampleObject(context: context).fill(Sample(number)) }
            try context.save()
        }
        return Double(PeakMemory.bytes)
    }

    private static func measureRegistered(
        at url: URL, _ count: Int, into found: inout Findings
    ) throws {
        let context = try context(at: url)
        try context.performAndWait {
            let request = NSFetchRequest<SampleObject>(entityName: SampleModel.entity)
            request.includesPropertyValues = false
            var before = Heap.bytes
            let entries = try context.fetch(request)
            try RawFigures.check(entries.count, count)
            found["faults"] = Double(Heap.bytes - before)
            before = Heap.bytes
            for entry in entries { entry.willAccessValue(forKey: nil) }
            found["values"] = found["faults"] + Double(Heap.bytes - before)
            before = Heap.bytes
            for entry in entries { entry.count = -1 }
            context.processPendingChanges()
            found["changed"] = Double(Heap.bytes - before)
        }
    }

    private static func measureInserted(
        at url: URL, _ count: Int, into found: inout Findings
    ) throws {
        let context = try context(at: url)
        context.performAndWait {
            let before = Heap.bytes
            for number in 0..<count { SampleObject(context: context).fill(Sample(number)) }
            context.processPendingChanges()
            found["inserted"] = Double(Heap.bytes - before)
        }
    }
}
