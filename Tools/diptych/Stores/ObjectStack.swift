internal import Foundation
internal import ObjectModel
internal import Persistence
internal import SQLiteStore

/// A coordinator with one store, and a context over it.
struct ObjectStack {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init(model: NSManagedObjectModel, store: SQLiteRowStore, author: String?) throws {
        // The coordinator asks for a store by its type; it is open already.
        StoreRegistry.register(NSSQLiteStoreType) { _ in store }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store.url)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = author
    }
}
