import CoreData
import Testing

/// Subclasses of the central classes, as apps and their tests write them.
@Suite struct OverrideShapeTests {
    private enum Refusal: Error { case asked }

    private final class SpyContext: NSManagedObjectContext, @unchecked Sendable {
        // @unchecked: used by one test's thread.
        var calls: [String] = []
        var fails = false

        override func save() throws {
            calls.append("save")
            if fails { throw Refusal.asked }
            try super.save()
        }
        override func perform(_ block: @escaping () -> Void) {
            calls.append("perform")
            block()
        }
        override func performAndWait(_ block: () -> Void) {
            calls.append("performAndWait")
            super.performAndWait(block)
        }
        override func delete(_ object: NSManagedObject) {
            calls.append("delete")
            super.delete(object)
        }
        override func rollback() {
            calls.append("rollback")
            super.rollback()
        }
        override func reset() {
            calls.append("reset")
            super.reset()
        }
        override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
            calls.append("refresh")
            super.refresh(object, mergeChanges: flag)
        }
        override func refreshAllObjects() { super.refreshAllObjects() }
        override func processPendingChanges() { super.processPendingChanges() }
        override func undo() { super.undo() }
        override func redo() { super.redo() }
        override var undoManager: UndoManager? {
            get { super.undoManager }
            set { super.undoManager = newValue }
        }
        override func mergeChanges(fromContextDidSave notification: Notification) {
            super.mergeChanges(fromContextDidSave: notification)
        }
        override func execute(
            _ request: NSPersistentStoreRequest
        ) throws -> NSPersistentStoreResult {
            calls.append("execute")
            return try super.execute(request)
        }
    }

    private final class MergingContainer: NSPersistentContainer, @unchecked Sendable {
        // @unchecked: used by one test's thread.
        override var viewContext: NSManagedObjectContext {
            let context = super.viewContext
            context.automaticallyMergesChangesFromParent = true
            return context
        }
        override var managedObjectModel: NSManagedObjectModel { super.managedObjectModel }
        override var persistentStoreCoordinator: NSPersistentStoreCoordinator {
            super.persistentStoreCoordinator
        }
        override func performBackgroundTask(
            _ block: @escaping (NSManagedObjectContext) -> Void
        ) {
            super.performBackgroundTask(block)
        }
    }

    private final class CountingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
        // @unchecked: used by one test's thread.
        var count = 0

        override func execute(
            _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
        ) throws -> Any {
            count += 1
            return try super.execute(request, with: context)
        }
    }

    private final class KeyedObject: NSManagedObject {
        override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
            super.keyPathsForValuesAffectingValue(forKey: key).union(["name"])
        }
    }

    private func model() -> NSManagedObjectModel {
        let (model, entity) = (NSManagedObjectModel(), NSEntityDescription())
        entity.name = "Note"
        let text = NSAttributeDescription()
        (text.name, text.attributeType, text.isOptional) = ("text", .stringAttributeType, true)
        entity.properties = [text]
        model.entities = [entity]
        return model
    }

    private func container() -> MergingContainer {
        let container = MergingContainer(name: "Notes", managedObjectModel: model())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        return container
    }

    @Test func callsOfAContextReachItsSubclass() throws {
        let container = container()
        let spy = SpyContext(concurrencyType: .privateQueueConcurrencyType)
        let context: NSManagedObjectContext = spy
        context.persistentStoreCoordinator = container.persistentStoreCoordinator
        context.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            context.delete(note)
            context.rollback()
        }
        let count = try context.performAndWait {
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note"))
        }
        #expect(count == 0)
        context.perform { context.refreshAllObjects() }
        try context.execute(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        try context.save()
        spy.fails = true
        #expect(throws: Refusal.self) { try context.save() }
        context.reset()
        #expect(
            spy.calls == [
                "performAndWait", "delete", "rollback", "perform", "execute", "save", "save",
                "reset",
            ])
    }

    @Test func requestsReachTheCoordinatorsSubclass() throws {
        let coordinator = CountingCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(type: .inMemory, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let deletion = NSBatchDeleteRequest(
            fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Note"))
        try context.performAndWait { _ = try context.execute(deletion) }
        #expect(coordinator.count == 1)
    }

    @Test func aContainersOwnContextIsUsed() {
        let container: NSPersistentContainer = container()
        #expect(container.viewContext.automaticallyMergesChangesFromParent)
    }

    @Test func metadataAndIdentifierAreImplicitlyUnwrapped() throws {
        let store = try #require(container().persistentStoreCoordinator.persistentStores.first)
        guard let metadata = store.metadata else {
            Issue.record("no metadata")
            return
        }
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(store.metadata?[NSStoreUUIDKey] as? String == store.identifier)
        guard let identifier = store.identifier else {
            Issue.record("no identifier")
            return
        }
        #expect(store.identifier! == identifier && store.identifier?.isEmpty == false)
        store.metadata["note"] = "kept"
        #expect(store.metadata["note"] as? String == "kept")
    }
}
