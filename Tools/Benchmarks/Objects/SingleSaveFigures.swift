internal import Foundation
internal import Persistence
internal import SQLiteStore
internal import Stores

/// Times saves of one object each, in a store of as many rows as asked for.
enum SingleSaveFigures {
    private static let savesMeasured = 2_000
    private static let rowsPerSave = 50_000

    static func play(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0)
        try fill(url, try arguments.count(1))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        var found = Findings()
        try context.performAndWait { try measure(context, into: &found) }
        found.send()
    }

    private static func fill(_ url: URL, _ count: Int) throws {
        let store = try SQLiteRowStore(url: url, model: SampleModel.make())
        guard let entity = store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks \(SampleModel.entity).")
        }
        for first in stride(from: 0, to: count, by: rowsPerSave) {
            let samples = Sample.many(min(rowsPerSave, count - first), from: first)
            try ChangeFigures.insert(samples, of: entity, into: store)
        }
    }

    private static func measure(
        _ context: NSManagedObjectContext, into found: inout Findings
    ) throws {
        let samples = Sample.many(savesMeasured)
        var entries: [SampleObject] = []
        // The first save opens what stays open.
        _ = SampleObject(context: context)
        try context.save()
        func each(_ name: String, _ change: (Int) -> Void) throws {
            let seconds = try Stopwatch.processorSeconds {
                for index in samples.indices {
                    change(index)
                    try context.save()
                }
            }
            found[name] = seconds / Double(savesMeasured)
        }
        try each("insert") {
            entries.append(SampleObject(context: context))
            entries[$0].fill(samples[$0])
        }
        try each("update") { entries[$0].count += 1 }
        try each("delete") { context.delete(entries[$0]) }
    }
}
