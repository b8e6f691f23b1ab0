import CoreData
import Foundation
import Testing

/// A SQLite file that is removed, moved or replaced by hand while it is open.
@Suite struct MovedFileTests {
    private let folder: URL
    private var place: URL { folder.appendingPathComponent("store") }
    private let request = NSFetchRequest<NSManagedObject>(entityName: "Box")

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("MovedFileTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func context(_ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ShelfModel.make())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func insert(_ label: String, _ context: NSManagedObjectContext) {
        NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            .setValue(label, forKey: "label")
    }

    private func move(to url: URL?) throws {
        for suffix in ["", "-wal", "-shm"] {
            let file = place.path + suffix
            if let url {
                try FileManager.default.moveItem(atPath: file, toPath: url.path + suffix)
            } else {
                try FileManager.default.removeItem(atPath: file)
            }
        }
    }

    enum Change: CaseIterable { case removal, move, replacement, removalOfLog }

    /// SQLite goes on with a file that has no name any more: a save came back, and was gone with
    /// the program.
    @Test(arguments: Change.allCases)
    func whatWouldBeLostIsNotSaved(_ change: Change) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = try context(place)
        insert("one", context)
        try context.save()
        let moved = folder.appendingPathComponent("moved")
        switch change {
        case .removal: try move(to: nil)
        case .move: try move(to: moved)
        case .replacement:
            try move(to: moved)
            let other = try self.context(place)
            insert("other", other)
            try other.save()
        case .removalOfLog: try FileManager.default.removeItem(atPath: place.path + "-wal")
        }
        insert("two", context)
        let error = try cocoaError { try context.save() }
        #expect(error.code == NSPersistentStoreOpenError)
        #expect(error.localizedDescription.contains("open it where it is now"))
        #expect(context.insertedObjects.count == 1)
        guard change == .move || change == .replacement else { return }
        // Told where the file is, it is saved there.
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        #expect(coordinator.setURL(moved, for: store))
        try context.save()
        #expect(try self.context(moved).count(for: request) == 2)
        #expect(try self.context(place).count(for: request) == (change == .move ? 0 : 1))
    }

    /// The last connection removes its log by its name, which is another file's by then: SQLite
    /// looks whether its own was moved.
    @Test(arguments: [false, true])
    func aClosedStoreLeavesTheLogOfWhatHasItsPlace(_ hasSaved: Bool) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let moved = folder.appendingPathComponent("moved")
        let spare = folder.appendingPathComponent("spare")
        let fresh = folder.appendingPathComponent("fresh")
        let first = try context(place)
        if hasSaved {
            insert("one", first)
            try first.save()
        }
        do {
            let other = try context(fresh)
            insert("other", other)
            try other.save()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: fresh.path + suffix, toPath: spare.path + suffix)
            }
        }
        try move(to: moved)
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(
                atPath: spare.path + suffix, toPath: place.path + suffix)
        }
        let coordinator = try #require(first.persistentStoreCoordinator)
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        #expect(try context(place).count(for: request) == 1)
        #expect(try context(moved).count(for: request) == (hasSaved ? 1 : 0))
    }

    /// Others that open and close the file leave all as it is.
    @Test func othersThatComeAndGoAreNoMove() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = try context(place)
        for round in 0..<4 {
            insert("\(round)", context)
            try context.save()
            let other = try self.context(place)
            insert("other \(round)", other)
            try other.save()
            let coordinator = try #require(other.persistentStoreCoordinator)
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        #expect(try context.count(for: request) == 8)
    }
}
