import CoreData
import Foundation
import Testing

/// Batch requests that go to two stores: what one of them refuses, the other has not taken.
@Suite struct SeveralStoresBatchTests {
    /// Two stores of one entity, whose first and second objects differ in their numbers.
    private final class Stores {
        let context: NSManagedObjectContext
        let stores: [NSPersistentStore]
        private let coordinator: NSPersistentStoreCoordinator
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("SeveralStoresBatchTests-\(UUID().uuidString)")

        init(_ kinds: [StoreKind]) throws {
            let owner = TestModel.entity("Owner")
            let thing = TestModel.entity("Thing")
            owner.properties = [TestModel.attribute("number", .integer64AttributeType)]
            owner.uniquenessConstraints = [["number"]]
            TestModel.link(owner, "things", .many, thing, "owner", .one, rule: .denyDeleteRule)
            let model = NSManagedObjectModel()
            model.entities = [owner, thing]
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            self.coordinator = coordinator
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let folder = folder
            stores = try kinds.enumerated().map { place, kind in
                try coordinator.addPersistentStore(
                    ofType: kind.type, configurationName: nil,
                    at: kind == .memory ? nil : folder.appendingPathComponent("\(place).store"))
            }
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        @discardableResult
        func make(_ number: Int, in store: NSPersistentStore) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(
                forEntityName: "Owner", into: context)
            object.setValue(number, forKey: "number")
            context.assign(object, to: store)
            return object
        }

        /// What is stored in each store.
        func numbers() throws -> [[Int]] {
            let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            fresh.persistentStoreCoordinator = coordinator
            return try stores.map { store in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
                request.affectedStores = [store]
                return try fresh.fetch(request).compactMap { $0.value(forKey: "number") as? Int }
                    .sorted()
            }
        }
    }

    private static var owners: NSFetchRequest<NSManagedObject> { .init(entityName: "Owner") }

    @Test(arguments: SeveralStoresTests.kinds, [0, 1])
    func aDeletionThatOneStoreDeniesDeletesNothingInTheOther(
        _ kinds: [StoreKind], _ denying: Int
    ) throws {
        let stores = try Stores(kinds)
        let first = [stores.make(1, in: stores.stores[0]), stores.make(1, in: stores.stores[1])]
        let thing = NSEntityDescription.insertNewObject(
            forEntityName: "Thing", into: stores.context)
        thing.setValue(first[denying], forKey: "owner")
        try stores.context.save()
        let error = #expect(throws: (any Error).self) {
            try stores.context.execute(NSBatchDeleteRequest(fetchRequest: Self.owners))
        }
        #expect((error as NSError?)?.code == NSValidationRelationshipDeniedDeleteError)
        #expect(try stores.numbers() == [[1], [1]])
    }

    @Test(arguments: SeveralStoresTests.kinds, [0, 1])
    func anUpdateThatOneStoreRefusesChangesNothingInTheOther(
        _ kinds: [StoreKind], _ refusing: Int
    ) throws {
        let stores = try Stores(kinds)
        stores.make(1, in: stores.stores[1 - refusing])
        for number in [1, 2] { stores.make(number, in: stores.stores[refusing]) }
        try stores.context.save()
        let before = try stores.numbers()
        let batch = NSBatchUpdateRequest(entityName: "Owner")
        batch.propertiesToUpdate = ["number": 7]
        #expect(throws: (any Error).self) { try stores.context.execute(batch) }
        #expect(try stores.numbers() == before)
    }

    @Test(arguments: SeveralStoresTests.kinds)
    func aDeletionGoesToTheStoresOfItsFetchRequest(_ kinds: [StoreKind]) throws {
        let stores = try Stores(kinds)
        for store in stores.stores { stores.make(1, in: store) }
        try stores.context.save()
        let request = Self.owners
        request.affectedStores = [stores.stores[1]]
        let batch = NSBatchDeleteRequest(fetchRequest: request)
        #expect(batch.affectedStores == request.affectedStores)
        #expect(batch.fetchRequest.affectedStores == request.affectedStores)
        try stores.context.execute(batch)
        #expect(try stores.numbers() == [[1], []])
    }

    @Test(arguments: SeveralStoresTests.kinds)
    func theLimitOfADeletionIsOfAllStoresTogether(_ kinds: [StoreKind]) throws {
        let stores = try Stores(kinds)
        for number in [1, 4, 5] { stores.make(number, in: stores.stores[0]) }
        let last = stores.make(2, in: stores.stores[1])
        stores.make(3, in: stores.stores[1])
        try stores.context.save()
        // What is not saved takes no part in the order.
        last.setValue(9, forKey: "number")
        let request = Self.owners
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        request.fetchOffset = 1
        request.fetchLimit = 2
        let batch = NSBatchDeleteRequest(fetchRequest: request)
        batch.resultType = .resultTypeCount
        let result = try stores.context.execute(batch) as? NSBatchDeleteResult
        #expect(result?.result as? Int == 2)
        #expect(try stores.numbers() == [[1, 4, 5], []])
    }
}
