import CoreData
import Foundation
import Testing

/// A store that another coordinator migrates while it is open.
@Suite struct MigratedBesideTests {
    private func model(_ change: (NSEntityDescription, NSAttributeDescription) -> Void)
        -> NSManagedObjectModel
    {
        let title = NSAttributeDescription()
        (title.name, title.attributeType) = ("title", .stringAttributeType)
        title.isOptional = true
        let note = NSEntityDescription()
        (note.name, note.properties) = ("Note", [title])
        change(note, title)
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    private func context(_ model: NSManagedObjectModel, _ url: URL) throws
        -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
            ])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The columns that the older program asks for are gone: it is told why, as for a save.
    @Test func whoReadsOnIsToldThatTheStoreWasMigrated() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("MigratedBesideTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("notes.sqlite")
        let former = try context(model { _, _ in }, url)
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: former)
            .setValue("first", forKey: "title")
        try former.save()
        _ = try context(
            model { _, title in (title.name, title.renamingIdentifier) = ("heading", "title") },
            url)
        former.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "title == %@", "first")
        for read in [{ _ = try former.fetch(request) }, { _ = try former.count(for: request) }] {
            let error = #expect(throws: NSError.self) { try read() }
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
        }
    }
}
