internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteStore
internal import Stores

/// The form of a batch deletion's result. Raw values are Apple's.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it was done.
    case resultTypeStatusOnly = 0
    /// The IDs of the rows that were deleted.
    case resultTypeObjectIDs = 1
    /// How many rows were deleted.
    case resultTypeCount = 2
}

/// Deletes what a request finds, without making objects. Source: Apple, NSBatchDeleteRequest.
///
/// Delete rules hold, in the transaction that deletes: a cascade deletes what the relationship
/// leads to, and so on (those count among the results); nullify clears the links of what is left,
/// and fails (134050) where such a link is not optional; deny fails (1600) where anything is left
/// at the other end; no action leaves the other end as it is. Validation and contexts take no part:
/// merge the returned IDs into contexts that are in use. Sorting counts where there is a limit.
///
/// Run it with `execute(_:)` on the context's queue; failures of the store are thrown there.
///
/// Queue: one at a time; set up anywhere, run on a context's. Cost: what the rules lead to is asked
/// for 500 rows at a time; each row that goes is a run of a compiled statement.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private let choice: FetchChoice
    private let ids: [NSManagedObjectID]?
    /// What the result holds.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly

    /// Deletes what a fetch request finds: Apple's form, in which a request that is written in
    /// place has its type.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        choice = fetch.choice
        ids = nil
        super.init()
        affectedStores = fetch.affectedStores
    }

    /// Deletes what a fetch request of any type finds.
    @_disfavoredOverload
    public init<T>(fetchRequest fetch: NSFetchRequest<T>) {
        choice = fetch.choice
        ids = nil
        super.init()
        affectedStores = fetch.affectedStores
    }

    /// Deletes these objects, all of one entity's tree; those that are not there are passed over.
    public init(objectIDs objects: [NSManagedObjectID]) {
        var choice = FetchChoice()
        choice.entity = objects.first?.entity
        let areThese = ComparisonNode(
            left: .evaluatedObject, operator: .in, right: .constant(objects))
        choice.predicate = PredicateNode.comparison(areThese).predicate
        self.choice = choice
        ids = objects
    }

    /// A copy of the request that finds what is deleted.
    public final var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.choice = choice
        request.affectedStores = affectedStores
        return request
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    func run(_ context: NSManagedObjectContext) throws -> NSBatchDeleteResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw PersistenceErrors.noCoordinator
        }
        let stores = BatchStores(affectedStores ?? coordinator.persistentStores)
        // What is found, and what leads there, is deleted as it was found.
        let gone = try coordinator.translating {
            try stores.writing { try delete(from: stores, context) }
        }
        for (store, ids) in gone where !ids.isEmpty && store.announcesChanges {
            coordinator.postRemoteChange(of: store)
        }
        let deleted = gone.flatMap(\.ids)
        switch resultType {
        case .resultTypeStatusOnly:
            return NSBatchDeleteResult(NSNumber(value: true), type: resultType)
        case .resultTypeCount:
            return NSBatchDeleteResult(NSNumber(value: deleted.count), type: resultType)
        case .resultTypeObjectIDs: return NSBatchDeleteResult(deleted, type: resultType)
        }
    }

    private func delete(
        from stores: BatchStores, _ context: NSManagedObjectContext
    ) throws -> [(store: NSPersistentStore, ids: [NSManagedObjectID])] {
        let chosen = try ids ?? found(context, in: stores.all)
        let parts = try stores.inWritingOrder.map { store in
            (store, try changes(deleting: chosen, in: store, context))
        }
        for (store, changes) in parts where !changes.isEmpty {
            try store.rowStore.check(changes)
        }
        return try parts.map { store, changes in
            if !changes.isEmpty { _ = try store.rowStore.save(changes) }
            return (store, changes.deletes.map { store.id(for: $0.id) })
        }
    }

    private func changes(
        deleting chosen: [NSManagedObjectID], in store: NSPersistentStore,
        _ context: NSManagedObjectContext
    ) throws -> ChangeSet {
        var rows = chosen.filter { $0.persistentStore === store }.compactMap(\.rowID)
        guard !rows.isEmpty else { return ChangeSet() }
        guard !store.isReadOnly else { throw PersistenceErrors.readOnly(store) }
        if ids != nil { rows = try store.rowStore.rows(rows).map(\.id) }
        var deletion = BatchDeletion(in: store.rowStore)
        var changes = try deletion.changes(deleting: rows)
        guard !changes.isEmpty else { return changes }
        changes.author = context.root.transactionAuthor
        changes.contextName = context.root.name
        return changes
    }

    /// Limits are of all stores together.
    private func found(
        _ context: NSManagedObjectContext, in stores: [NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>()
        request.choice = choice
        request.affectedStores = stores
        let query = try context.query(for: request)
        guard let coordinator = context.persistentStoreCoordinator else { return [] }
        let source = StoreSource(coordinator: coordinator, pin: nil)
        let isBounded = query.limit > 0 || query.offset > 0
        guard isBounded, !source.answersWhole(query) else { return try source.findIDs(query) }
        // In a context of their own, which knows no unsaved values to sort by.
        let scratch = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        scratch.persistentStoreCoordinator = coordinator
        return try scratch.performAndWait {
            try scratch.ids(matching: query, includingPending: false)
        }
    }
}

/// What a batch deletion did. Source: Apple, NSBatchDeleteResult. Queue: any; it never changes.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    /// Whether it was done, how many, or which; as `resultType` says.
    public final let result: Any?
    /// What `result` is.
    public final let resultType: NSBatchDeleteRequestResultType

    init(_ result: Any?, type: NSBatchDeleteRequestResultType) {
        self.result = result
        resultType = type
    }
}
