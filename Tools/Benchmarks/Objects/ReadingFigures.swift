internal import Foundation
internal import ObjectModel
internal import Persistence

/// Times how objects are read otherwise than by one fetch: fault by fault, and by
/// relationship.
struct ReadingFigures {
    private let coordinator: NSPersistentStoreCoordinator
    private let count: Int

    static let entriesPerFolder = 100

    /// Runs the role: `rounds` times all of it, keeping the best time of each.
    static func play(_ arguments: RoleArguments) throws {
        let url = try arguments.url(0).appendingPathComponent("reading.sqlite")
        let count = try arguments.count(1)
        try ReadingFigures(at: url, count).fill()
        var found = Findings()
        for _ in 0..<(try arguments.count(2)) {
            try ReadingFigures(at: url, count).measure(into: &found)
            try measureFloors(at: url, count, into: &found)
        }
        found.send()
    }

    init(at url: URL, _ count: Int) throws {
        coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: SampleModel.make(linked: true, indexed: true))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentHistoryTrackingKey: true])
        self.count = count
    }

    /// Makes the entries, in folders.
    func fill() throws {
        for start in stride(from: 0, to: count, by: 10_000) {
            try inContext { context in
                var folder: NSManagedObject?
                for number in start..<min(start + 10_000, count) {
                    if number.isMultiple(of: Self.entriesPerFolder) {
                        folder = NSEntityDescription.insertNewObject(
                            forEntityName: SampleModel.folder, into: context)
                        folder?.setValue("Folder \(number)", forKey: "name")
                    }
                    let entry = SampleObject(context: context)
                    entry.fill(Sample(number))
                    entry.setValue(folder, forKey: "folder")
                }
                try context.save()
            }
        }
    }

    private func measure(into found: inout Findings) throws {
        try inContext { context in
            let request = NSFetchRequest<NSManagedObjectID>(entityName: SampleModel.entity)
            request.resultType = .managedObjectIDResultType
            let ids = try context.fetch(request)
            let seconds = Stopwatch.processorSeconds {
                for id in ids { _ = (context.object(with: id) as? SampleObject)?.count }
            }
            try RawFigures.check(ids.count, count)
            found.note("faults", seconds: seconds)
        }
        try inContext { context in
            let seconds = try Stopwatch.processorSeconds {
                try RawFigures.check(try readFolders(context), count)
            }
            found.note("prefetch", seconds: seconds)
        }
    }

    /// Reads a value of each entry through its folder.
    private func readFolders(_ context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: SampleModel.folder)
        request.relationshipKeyPathsForPrefetching = ["entries"]
        var read = 0
        for folder in try context.fetch(request) {
            for entry in folder.value(forKey: "entries") as? Set<NSManagedObject> ?? []
            where (entry as? SampleObject)?.name != nil { read += 1 }
        }
        return read
    }

    private static func measureFloors(
        at url: URL, _ count: Int, into found: inout Findings
    ) throws {
        let raw = try RawLinkedTables(path: url.path)
        func time(_ name: String, _ work: () throws -> Int) throws {
            found.note(
                "raw.\(name)",
                seconds: try Stopwatch.processorSeconds {
                    try RawFigures.check(try work(), count)
                })
        }
        let keys = 1...Int64(count)
        try time("faults") { try raw.fetchOneByOne(keys, inTransactions: false) }
        try time("transactions") { try raw.fetchOneByOne(keys, inTransactions: true) }
        try time("prefetch") { try raw.fetchFoldersWithEntries() }
    }

    private func inContext(_ work: (NSManagedObjectContext) throws -> Void) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try work(context) }
    }
}
