import CoreData
import Foundation
import Testing

/// One save that writes to two stores: what one of them refuses, the other has not taken.
@Suite struct SeveralStoresTests {
    /// Two stores; the first has the entity First, the second Second, each with a unique value.
    private final class Stores {
        let context: NSManagedObjectContext
        private let coordinator: NSPersistentStoreCoordinator
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("SeveralStoresTests-\(UUID().uuidString)")

        init(_ kinds: [StoreKind]) throws {
            let model = NSManagedObjectModel()
            let entities = ["First", "Second"].map { name in
                let entity = TestModel.entity(name)
                entity.properties = [
                    TestModel.attribute("code", .stringAttributeType),
                    TestModel.attribute("note", .stringAttributeType),
                ]
                entity.uniquenessConstraints = [["code"]]
                return entity
            }
            model.entities = entities
            for entity in entities {
                model.setEntities([entity], forConfigurationName: entity.name ?? "")
            }
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (kind, entity) in zip(kinds, entities) {
                try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: entity.name,
                    at: kind == .memory
                        ? nil : folder.appendingPathComponent("\(entity.name ?? "").store"))
            }
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        @discardableResult
        func make(_ entity: String, _ code: String) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(
                forEntityName: entity, into: context)
            object.setValue(code, forKey: "code")
            return object
        }

        func newContext() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        /// The codes of an entity, as stored or as a context has them.
        func codes(_ entity: String, in own: NSManagedObjectContext? = nil) throws -> [String] {
            let context = own ?? newContext()
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            return try context.fetch(request).compactMap { $0.value(forKey: "code") as? String }
                .sorted()
        }
    }

    static let kinds: [[StoreKind]] = [
        [.sqlite, .sqlite], [.sqlite, .memory], [.xml, .sqlite], [.binary, .xml],
        [.memory, .memory],
    ]
    static let orders = [["First", "Second"], ["Second", "First"]]

    @Test(arguments: kinds, orders)
    func aValueThatIsTakenInOneStoreKeepsTheOtherAsItWas(
        _ kinds: [StoreKind], _ order: [String]
    ) throws {
        let stores = try Stores(kinds)
        let (good, bad) = (order[0], order[1])
        stores.make(good, "1")
        stores.make(bad, "1")
        try stores.context.save()
        let new = stores.make(good, "2")
        let double = stores.make(bad, "1")
        let error = #expect(throws: (any Error).self) { try stores.context.save() }
        #expect((error as NSError?)?.code == NSManagedObjectConstraintMergeError)
        #expect(new.isInserted && double.isInserted)
        #expect(new.objectID.isTemporaryID)
        #expect(try stores.codes(good) == ["1"] && stores.codes(bad) == ["1"])
        double.setValue("3", forKey: "code")
        try stores.context.save()
        #expect(!new.isInserted && !new.objectID.isTemporaryID)
        #expect(try stores.codes(good) == ["1", "2"] && stores.codes(bad) == ["1", "3"])
    }

    @Test(arguments: kinds, orders)
    func whatIsRolledBackThenIsInNoStore(_ kinds: [StoreKind], _ order: [String]) throws {
        let stores = try Stores(kinds)
        let (good, bad) = (order[0], order[1])
        stores.make(bad, "1")
        try stores.context.save()
        stores.make(good, "2")
        stores.make(bad, "1")
        #expect(throws: (any Error).self) { try stores.context.save() }
        stores.context.rollback()
        #expect(!stores.context.hasChanges)
        #expect(try stores.codes(good, in: stores.context).isEmpty)
        #expect(try stores.codes(good).isEmpty && stores.codes(bad) == ["1"])
    }

    @Test(arguments: kinds, orders)
    func aRowThatSomebodyElseChangedKeepsTheOtherStoreAsItWas(
        _ kinds: [StoreKind], _ order: [String]
    ) throws {
        let stores = try Stores(kinds)
        let (good, bad) = (order[0], order[1])
        let old = stores.make(bad, "1")
        try stores.context.save()
        let other = stores.newContext()
        try other.existingObject(with: old.objectID).setValue("theirs", forKey: "note")
        try other.save()
        stores.make(good, "2")
        old.setValue("ours", forKey: "note")
        let error = #expect(throws: (any Error).self) { try stores.context.save() }
        #expect((error as NSError?)?.code == NSManagedObjectMergeError)
        #expect(try stores.codes(good).isEmpty)
        stores.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try stores.context.save()
        #expect(!stores.context.hasChanges)
        #expect(try stores.codes(good) == ["2"])
        let stored = try stores.newContext().existingObject(with: old.objectID)
        #expect(stored.value(forKey: "note") as? String == "ours")
    }
}
