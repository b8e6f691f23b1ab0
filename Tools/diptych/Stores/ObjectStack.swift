internal import Foundation
internal import ObjectModel
internal import Persistence

/// A coordinator with one store, and a context over it.
struct ObjectStack {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init(_ access: StoreAccess, model: NSManagedObjectModel, author: String?) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: access.url,
            options: [
                NSPersistentHistoryTrackingKey: true, NSSQLitePragmasOption: access.pragmas,
            ])
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = author
    }
}
