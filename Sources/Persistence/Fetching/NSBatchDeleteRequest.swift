internal import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// The form of a batch deletion's result. Raw values are Apple's.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    case resultTypeStatusOnly = 0
    case resultTypeObjectIDs = 1
    case resultTypeCount = 2
}

/// Deletes what a request finds, without making objects. Source: Apple, NSBatchDeleteRequest.
///
/// Links of other rows to the deleted ones are cleared, in the transaction that deletes; cascade
/// and deny rules, validation and contexts take no part: merge the returned IDs into contexts that
/// are in use.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private let choice: FetchChoice
    private let ids: [NSManagedObjectID]?
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly

    public init<T>(fetchRequest fetch: NSFetchRequest<T>) {
        choice = fetch.choice
        ids = nil
    }

    /// Deletes these objects, all of one entity's tree.
    public init(objectIDs objects: [NSManagedObjectID]) {
        choice = FetchChoice()
        ids = objects
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    func run(_ context: NSManagedObjectContext) throws -> NSBatchDeleteResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw PersistenceErrors.noCoordinator
        }
        var doomed: [NSManagedObjectID] = []
        for store in affectedStores ?? coordinator.persistentStores {
            let deleted = try coordinator.translating {
                // What is found, and what leads there, is deleted as it was found.
                try inTransaction(of: store) { try delete(from: store, context) }
            }
            doomed += deleted
            if !deleted.isEmpty && store.announcesChanges {
                coordinator.postRemoteChange(of: store)
            }
        }
        switch resultType {
        case .resultTypeStatusOnly:
            return NSBatchDeleteResult(NSNumber(value: true), type: resultType)
        case .resultTypeCount:
            return NSBatchDeleteResult(NSNumber(value: doomed.count), type: resultType)
        case .resultTypeObjectIDs: return NSBatchDeleteResult(doomed, type: resultType)
        }
    }

    private func inTransaction<Value>(
        of store: NSPersistentStore, _ work: () throws -> Value
    ) throws -> Value {
        guard !store.isReadOnly, let rows = store.rowStore as? SQLiteRowStore else {
            return try work()
        }
        return try rows.write { _ in try work() }
    }

    private func delete(
        from store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        let doomed = try ids ?? found(context, in: store)
        let rows = doomed.filter { $0.persistentStore === store }.compactMap(\.rowID)
        guard !rows.isEmpty else { return [] }
        guard !store.isReadOnly else { throw PersistenceErrors.readOnly(store) }
        var changes = try unlinking(rows, in: store.rowStore)
        changes.deletes = rows.map { RowDelete(id: $0) }
        changes.author = context.root.transactionAuthor
        changes.contextName = context.root.name
        _ = try store.rowStore.save(changes)
        return rows.map(store.id)
    }

    private func found(
        _ context: NSManagedObjectContext, in store: NSPersistentStore
    ) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>()
        request.choice = choice
        request.affectedStores = [store]
        let query = try context.query(for: request)
        guard let coordinator = context.persistentStoreCoordinator else { return [] }
        return try StoreSource(coordinator: coordinator, pin: nil).findIDs(query)
    }

    /// Updates that clear the to-one links of surviving rows.
    private func unlinking(_ rows: [RowID], in store: any RowStore) throws -> ChangeSet {
        let doomed = Set(rows)
        var updates: [RowID: RowUpdate] = [:]
        func clear(_ target: RowID, _ inverse: String) {
            guard !doomed.contains(target),
                let back = store.layout.entity(target.entity)?.toOneSlot(inverse)
            else { return }
            updates[target, default: RowUpdate(id: target)].toOnes.append((back, nil))
        }
        for row in try store.rows(rows) {
            guard let layout = store.layout.entity(row.id.entity) else { continue }
            for (slot, relationship) in layout.toOnes.enumerated() {
                guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
                    let target = row.toOnes[slot]?.target
                else { continue }
                clear(target, inverse.name)
            }
            for (slot, relationship) in layout.toManys.enumerated() {
                guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
                    continue
                }
                for member in try store.members(of: row.id, toMany: slot) {
                    clear(member.target, inverse.name)
                }
            }
        }
        var changes = ChangeSet()
        changes.updates = updates.values.sorted { $0.id < $1.id }
        return changes
    }
}

/// What a batch deletion did. Source: Apple, NSBatchDeleteResult.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// Whether it was done, how many, or which; as `resultType` says.
    public final let result: Any?
    public final let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any?, type: NSBatchDeleteRequestResultType) {
        self.result = result
        resultType = type
    }
}
