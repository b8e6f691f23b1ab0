import CoreData
import Foundation
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
}
