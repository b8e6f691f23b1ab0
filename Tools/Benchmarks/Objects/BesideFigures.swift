internal import Dispatch
internal import Foundation
internal import Persistence
internal import Platform
internal import Predicates

/// Counts how much four contexts read in a time, alone and beside one that saves without a pause.
struct BesideFigures {
    private static let readers = 4
    private static let seconds = 2.0
    private static let rowsAtOnce = 200

    static func play(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0).appendingPathComponent("beside.sqlite")
        let count = try arguments.count(1)
        try ReadingFigures(at: url, count).fill()
        var found = Findings()
        for _ in 0..<(try arguments.count(2)) {
            for isSaving in [false, true] {
                let read = try run(at: url, count, isSaving: isSaving)
                found.note(isSaving ? "beside" : "alone", seconds: seconds / Double(max(read, 1)))
            }
        }
        found.send()
    }

    /// How many objects were read.
    private static func run(at url: URL, _ count: Int, isSaving: Bool) throws -> Int {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: SampleModel.make(linked: true, indexed: true))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true])
        let end = ContinuousClock.now + .seconds(seconds)
        let read = Lock(0)
        let failure = Lock<(any Error)?>(nil)
        let group = DispatchGroup()
        for number in 0..<readers {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.perform(in: group, failure) { context in
                var mine = 0
                var from = number * count / readers
                while ContinuousClock.now < end {
                    mine += try fetch(from, in: context)
                    from = (from + rowsAtOnce) % max(count - rowsAtOnce, 1)
                }
                read.withLock { $0 += mine }
            }
        }
        if isSaving {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.perform(in: group, failure) { context in
                var number = 0
                while ContinuousClock.now < end {
                    for _ in 0..<100 {
                        SampleObject(context: context).fill(Sample(number))
                        number += 1
                    }
                    try context.save()
                }
            }
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
        return read.withLock { $0 }
    }

    private static func fetch(_ from: Int, in context: NSManagedObjectContext) throws -> Int {
        context.reset()
        let request = NSFetchRequest<SampleObject>(entityName: SampleModel.entity)
        let first = Sample(from).created
        request.predicate = NSPredicate(
            format: "created >= %@", Date(timeIntervalSinceReferenceDate: first) as NSDate)
        request.fetchLimit = rowsAtOnce
        return try context.fetch(request).count { $0.name != nil }
    }
}

extension NSManagedObjectContext {
    /// Runs `work` on the context's queue as a part of the group.
    fileprivate func perform(
        in group: DispatchGroup, _ failure: Lock<(any Error)?>,
        _ work: @escaping (NSManagedObjectContext) throws -> Void
    ) {
        group.enter()
        perform {
            defer { group.leave() }
            do { try work(self) } catch { failure.withLock { $0 = error } }
        }
    }
}
