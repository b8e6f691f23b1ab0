import CoreData
import Foundation
import SQLiteDriver
import Testing

/// A store whose file another coordinator replaces while it is open.
@Suite struct ReplacedStoreTests {
    private let model = ShelfModel.make()

    private func context(_ url: URL, _ kind: StoreKind) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func fill(_ url: URL, _ kind: StoreKind, _ labels: [String]) throws {
        let context = try context(url, kind)
        for label in labels {
            let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            box.setValue(label, forKey: "label")
        }
        try context.save()
    }

    private func labels(_ url: URL, _ kind: StoreKind) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        return try context(url, kind).fetch(request)
            .compactMap { $0.value(forKey: "label") as? String }.sorted()
    }

    /// While it stands ready to be copied the source is locked; to let go of that waits for nobody.
    @Test func readersOfTheSourceDoNotFailAReplacement() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ReplacedStoreTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("source")
        let place = folder.appendingPathComponent("place")
        try fill(source, .sqlite, ["new"])
        try fill(place, .sqlite, ["old"])
        let reader = try Connection(path: source.path, access: .readWrite)
        #expect(try reader.value("PRAGMA journal_mode = DELETE") == "delete")
        try reader.beginHolding()
        defer { reader.endHolding() }
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: place, destinationOptions: nil, withPersistentStoreFrom: source,
            sourceOptions: nil, ofType: NSSQLiteStoreType)
        #expect(try labels(place, .sqlite) == ["new"])
    }

    enum Change: CaseIterable { case edit, deletion, insertion, batch }

    /// Its rows stand under the keys of other objects there.
    @Test(arguments: [StoreKind.sqlite, .xml, .binary], Change.allCases)
    func changesOfObjectsThatWereThereAreNotWrittenToOthers(
        _ kind: StoreKind, _ change: Change
    ) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ReplacedStoreTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent("place")
        let other = folder.appendingPathComponent("other")
        try fill(place, kind, ["old"])
        try fill(other, kind, ["new", "newer"])
        let context = try context(place, kind)
        context.mergePolicy = NSMergePolicy.overwrite
        let old = try #require(
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")).first)
        #expect(old.value(forKey: "label") as? String == "old")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.replacePersistentStore(
            at: place, withPersistentStoreFrom: other, ofType: kind.type)
        #expect(throws: (any Error).self) {
            switch change {
            case .edit: old.setValue("edited", forKey: "label")
            case .deletion: context.delete(old)
            case .insertion:
                NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
                    .setValue("more", forKey: "label")
            case .batch:
                let batch = NSBatchUpdateRequest(entityName: "Box")
                batch.propertiesToUpdate = ["label": "edited"]
                try context.execute(batch)
            }
            try context.save()
        }
        #expect(try labels(place, kind) == ["new", "newer"])
    }

    enum Read: CaseIterable { case fetch, count, dictionary, object, fault, refresh }

    /// What stands there now are other objects: they are not shown as those that were opened.
    @Test(arguments: Read.allCases, [false, true])
    func whatIsThereNowIsNotReadAsWhatWas(_ read: Read, hasWritten: Bool) throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ReplacedStoreTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent("place")
        let other = folder.appendingPathComponent("other")
        try fill(place, .sqlite, ["old"])
        try fill(other, .sqlite, ["new", "newer"])
        let context = try context(place, .sqlite)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        let old = try #require(try context.fetch(request).first)
        if hasWritten {
            old.setValue("older", forKey: "label")
            try context.save()
        }
        context.refresh(old, mergeChanges: false)
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: place, withPersistentStoreFrom: other, ofType: NSSQLiteStoreType)
        let error = #expect(throws: NSError.self) {
            switch read {
            case .fetch: _ = try context.fetch(request)
            case .count: _ = try context.count(for: request)
            case .dictionary:
                let values = NSFetchRequest<NSDictionary>(entityName: "Box")
                values.resultType = .dictionaryResultType
                _ = try context.fetch(values)
            case .object: _ = try context.existingObject(with: old.objectID)
            case .fault:
                #expect(old.value(forKey: "label") as? String != "new")
                try context.save()
                _ = try context.existingObject(with: old.objectID)
            case .refresh:
                context.reset()
                _ = try context.existingObject(with: old.objectID)
            }
        }
        #expect(error?.code == NSPersistentStoreOpenError)
        #expect(error?.localizedDescription.contains("open what is there now") == true)
        // Opened anew it shows what is there.
        let coordinator = try #require(context.persistentStoreCoordinator)
        let store = try #require(coordinator.persistentStores.first)
        try coordinator.remove(store)
        context.reset()
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: place)
        #expect(try context.count(for: request) == 2)
    }

    /// A context that reads from a state of before goes on with it.
    @Test func aPinnedContextGoesOnWithWhatItHad() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("ReplacedStoreTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent("place")
        let other = folder.appendingPathComponent("other")
        try fill(place, .sqlite, ["old"])
        try fill(other, .sqlite, ["new", "newer"])
        let context = try context(place, .sqlite)
        try context.setQueryGenerationFrom(.current)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        #expect(try context.count(for: request) == 1)
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: place, withPersistentStoreFrom: other, ofType: NSSQLiteStoreType)
        let old = try #require(try context.fetch(request).first)
        #expect(old.value(forKey: "label") as? String == "old")
        try context.setQueryGenerationFrom(nil)
        #expect(throws: (any Error).self) { try context.count(for: request) }
    }
}
