internal import Foundation
internal import ObjectModel
internal import Stores

/// The form of a batch deletion's result. Raw values are Apple's.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    case resultTypeStatusOnly = 0
    case resultTypeObjectIDs = 1
    case resultTypeCount = 2
}

/// Deletes what a request finds, without making objects. Source: Apple, NSBatchDeleteRequest.
///
/// Links of other rows to the deleted ones are cleared; cascade and deny rules, validation and
/// contexts take no part: merge the returned IDs into contexts that are in use.
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
        let doomed = try ids ?? found(context)
        for store in affectedStores ?? coordinator.persistentStores {
            let rows = doomed.filter { $0.persistentStore === store }.compactMap(\.rowID)
            guard !rows.isEmpty else { continue }
            guard !store.isReadOnly else { throw PersistenceErrors.readOnly(store) }
            var changes = try coordinator.translating { try unlinking(rows, in: store.rowStore) }
            changes.deletes = rows.map { RowDelete(id: $0) }
            changes.author = context.transactionAuthor
            changes.contextName = context.name
            _ = try coordinator.translating { try store.rowStore.save(changes) }
            if store.announcesChanges { coordinator.postRemoteChange(of: store) }
        }
        switch resultType {
        case .resultTypeStatusOnly:
            return NSBatchDeleteResult(NSNumber(value: true), type: resultType)
        case .resultTypeCount:
            return NSBatchDeleteResult(NSNumber(value: doomed.count), type: resultType)
        case .resultTypeObjectIDs: return NSBatchDeleteResult(doomed, type: resultType)
        }
    }

    private func found(_ context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>()
        request.choice = choice
        request.affectedStores = affectedStores
        let query = try context.query(for: request)
        return try context.persistentStoreCoordinator?.findIDs(query) ?? []
    }

    /// Updates that clear the to-one links of surviving rows.
    private func unlinking(_ rows: [RowID], in store: any RowStore) throws -> ChangeSet {
        let doomed = Set(rows)
        var updates: [RowID: RowUpdate] = [:]
        for row in rows {
            guard let layout = store.layout.entity(row.entity) else { continue }
            for (slot, relationship) in layout.toManys.enumerated() {
                guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
                    continue
                }
                for member in try store.members(of: row, toMany: slot)
                where !doomed.contains(member.target) {
                    guard
                        let back = store.layout.entity(member.target.entity)?.toOneSlot(
                            inverse.name)
                    else { continue }
                    updates[member.target, default: RowUpdate(id: member.target)]
                        .toOnes.append((back, nil))
                }
            }
        }
        var changes = ChangeSet()
        changes.updates = Array(updates.values)
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
