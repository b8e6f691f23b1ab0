internal import Foundation
package import Stores

// What contexts ask of their coordinator beside rows.
extension NSPersistentStoreCoordinator {
    func translating<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch {
            throw PersistenceErrors.bridged(PersistenceErrors.translate(error))
        }
    }

    // MARK: Keys of new objects

    /// Reserves rows for new objects that have none, in the stores that `choice` finds.
    func reserveRows(for objects: [NSManagedObject], by choice: StoreChoice) throws {
        var groups: [[ObjectIdentifier]: (store: NSPersistentStore, objects: [NSManagedObject])] =
            [:]
        for object in objects where object.objectID.reservedRow == nil && !object.isDeleted {
            let store = try choice.store(for: object)
            let place = [ObjectIdentifier(object.shape), ObjectIdentifier(store)]
            groups[place, default: (store, [])].objects.append(object)
        }
        for (store, objects) in groups.values {
            guard let layout = objects.first.flatMap({ store.layout(of: $0.shape) }) else {
                continue
            }
            let rows = try translating { try store.reserveRows(for: objects, layout) }
            for (object, row) in zip(objects, rows) { object.objectID.reserve(row, in: store) }
        }
    }

    /// The first of some stores that takes new objects of a shape.
    func storeForNew(
        _ shape: ObjectLayout, among stores: [NSPersistentStore]
    ) throws -> NSPersistentStore {
        let able = stores.filter { $0.layout(of: shape) != nil }
        if let store = able.first(where: { !$0.isReadOnly }) { return store }
        throw able.first.map(PersistenceErrors.readOnly)
            ?? PersistenceErrors.noStore(for: shape.layout.name)
    }

    /// Makes a reserved ID permanent.
    func publish(_ id: NSManagedObjectID) {
        guard id.isTemporaryID else { return }
        id.persistentStore?.publish(id)
    }

    // MARK: Word of changes

    /// Tells the other contexts what `saver` saved; those that merge by themselves do so on their
    /// queues.
    func contextDidSave(_ saver: NSManagedObjectContext, _ changes: SavedIDs) {
        guard !changes.isEmpty else { return }
        let passed = changes
        for context in contexts where context !== saver {
            guard context.automaticallyMergesChangesFromParent else { continue }
            guard context.parent === saver.parent || context.parent === saver else { continue }
            context.queue.enqueue { context.merge(passed) }
        }
    }

    /// Tells the children of a context that it took in changes.
    func parentDidChange(_ parent: NSManagedObjectContext, _ changes: SavedIDs) {
        for context in contexts
        where context.parent === parent && context.automaticallyMergesChangesFromParent {
            context.queue.enqueue { context.merge(changes) }
        }
    }

    /// For the mirror and tools that write rows themselves: posts NSPersistentStoreRemoteChange,
    /// and lets the contexts that merge by themselves refresh. May be called from any thread.
    package func storeDidChange(
        _ store: NSPersistentStore, inserted: [RowID], updated: [RowID], deleted: [RowID]
    ) {
        let changes = SavedIDs(
            inserted: inserted.map(store.id), updated: updated.map(store.id),
            deleted: deleted.map(store.id))
        for context in contexts
        where context.parent == nil && context.automaticallyMergesChangesFromParent {
            context.queue.enqueue { context.merge(changes, relaxed: true) }
        }
        postRemoteChange(of: store)
    }

    func postRemoteChange(of store: NSPersistentStore) {
        var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: store.identifier as String]
        userInfo[NSPersistentStoreURLKey] = store.url
        if let number = try? store.rowStore.lastTransactionNumber() {
            userInfo[NSPersistentHistoryTokenKey] = NSPersistentHistoryToken(
                numbers: [store.identifier: number])
        }
        NotificationCenter.default.post(
            name: .NSPersistentStoreRemoteChange, object: self, userInfo: userInfo)
    }
}
