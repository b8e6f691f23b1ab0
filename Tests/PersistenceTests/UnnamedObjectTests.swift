import CoreData
import Foundation
import Testing

/// Objects that were read, and whose IDs nobody has asked for, are saved as any others.
///
/// Another coordinator writes the same file, as another process does: what it saves makes no IDs
/// in the first one.
@Suite struct UnnamedObjectTests {
    private final class Pair {
        let bench: Bench
        let other: NSManagedObjectContext
        private let coordinator: NSPersistentStoreCoordinator

        init() throws {
            // Without relationships, which would ask for the IDs of their ends.
            let note = TestModel.entity("Note")
            let folded = NSDerivedAttributeDescription()
            folded.name = "folded"
            folded.attributeType = .stringAttributeType
            folded.derivationExpressionText = "lowercase:(name)"
            note.properties = [TestModel.attribute("name", .stringAttributeType), folded]
            let model = NSManagedObjectModel()
            model.entities = [note]
            bench = try Bench(.sqlite, model: model)
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: bench.store.url,
                options: [NSPersistentHistoryTrackingKey: true])
            other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = coordinator
        }

        /// The one note, as the other coordinator reads it.
        func only() throws -> NSManagedObject {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            let found = try other.fetch(request)
            #expect(found.count == 1)
            return try #require(found.first)
        }

        /// The names of all that is stored.
        func names() throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            return try bench.newContext().fetch(request).compactMap {
                $0.value(forKey: "name") as? String
            }
        }
    }

    /// stored: old · the other coordinator's object wants: second · meanwhile saved: first
    private func race(
        _ policy: NSMergePolicy, _ change: (NSManagedObject) -> Void
    ) throws -> (pair: Pair, error: NSError?) {
        let pair = try Pair()
        let note = try pair.bench.make("Note", "old")
        try pair.bench.context.save()
        pair.other.mergePolicy = policy
        let unnamed = try pair.only()
        #expect(unnamed.value(forKey: "name") as? String == "old")
        note.setValue("first", forKey: "name")
        try pair.bench.context.save()
        change(unnamed)
        do {
            try pair.other.save()
            return (pair, nil)
        } catch {
            return (pair, error as NSError)
        }
    }

    private func rename(_ object: NSManagedObject) { object.setValue("second", forKey: "name") }

    @Test func itsConflictIsNamedUnderTheErrorPolicy() throws {
        let (pair, error) = try race(.error, rename)
        #expect(error?.code == NSManagedObjectMergeError)
        #expect((error?.userInfo["conflictList"] as? [NSMergeConflict])?.count == 1)
        #expect(try pair.names() == ["first"])
        #expect(pair.other.hasChanges)
    }

    @Test(arguments: [
        (NSMergePolicy.mergeByPropertyObjectTrump, "second"), (.overwrite, "second"),
        (.mergeByPropertyStoreTrump, "first"), (.rollback, "first"),
    ])
    func itsConflictIsBroughtBeforeThePolicy(_ policy: NSMergePolicy, _ name: String) throws {
        let (pair, error) = try race(policy, rename)
        #expect(error == nil)
        #expect(try pair.names() == [name])
        #expect(try pair.only().value(forKey: "name") as? String == name)
        #expect(!pair.other.hasChanges)
    }

    @Test func itsDeletionMeetsThePolicyToo() throws {
        let (refused, error) = try race(.error) { $0.managedObjectContext?.delete($0) }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect(try refused.names() == ["first"])
        let (pair, none) = try race(.mergeByPropertyObjectTrump) {
            $0.managedObjectContext?.delete($0)
        }
        #expect(none == nil)
        #expect(try pair.names().isEmpty)
    }

    @Test(arguments: [
        (NSMergePolicy.mergeByPropertyObjectTrump, ["second"]),
        (.mergeByPropertyStoreTrump, []),
    ])
    func aRowThatIsGoneMeetsThePolicyToo(_ policy: NSMergePolicy, _ names: [String]) throws {
        let pair = try Pair()
        let note = try pair.bench.make("Note", "old")
        try pair.bench.context.save()
        pair.other.mergePolicy = policy
        let unnamed = try pair.only()
        rename(unnamed)
        pair.bench.context.delete(note)
        try pair.bench.context.save()
        try pair.other.save()
        #expect(try pair.names() == names)
        #expect(!pair.other.hasChanges)
    }

    @Test func itShowsWhatTheStoreDerivedOfIt() throws {
        let pair = try Pair()
        try pair.bench.make("Note", "OLD")
        try pair.bench.context.save()
        let unnamed = try pair.only()
        #expect(unnamed.value(forKey: "folded") as? String == "old")
        unnamed.setValue("NEW", forKey: "name")
        try pair.other.save()
        #expect(unnamed.value(forKey: "folded") as? String == "new")
        #expect(!unnamed.hasChanges)
    }
}
