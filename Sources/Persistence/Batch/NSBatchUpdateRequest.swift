public import Foundation
public import ObjectModel
internal import Stores

/// The form of a batch update's result. Raw values are Apple's.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it was done.
    case statusOnlyResultType = 0
    /// The IDs of the rows that were updated.
    case updatedObjectIDsResultType = 1
    /// How many rows were updated.
    case updatedObjectsCountResultType = 2
}

/// Gives new values to all objects a predicate finds, without making objects.
/// Source: Apple, NSBatchUpdateRequest.
///
/// Values are constants or expressions over each row as it was. A to-one relationship takes an
/// object, its ID, or `NSNull`, where its inverse is a to-many without order, or none. To-manys,
/// other to-ones, derived and transient attributes cannot be set (134091); nothing is validated
/// but the types of constants (1550) and that whole numbers have room in their attributes (1610,
/// 1620), and unique values that are taken fail (133021). The rows'
/// versions grow, so that contexts with older values find a conflict; merge the returned IDs into
/// contexts that are in use. The update is written to the history. Cost: one SQL statement for each
/// SQLite store, unless links, values kept in files or attributes derived from texts change; other
/// stores walk through the entity's rows.
///
/// Run it with `execute(_:)` on the context's queue; failures of the store are thrown there. Queue:
/// one at a time; set up anywhere.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    private let name: String
    private var found: NSEntityDescription?
    /// Which objects to update; nil for all.
    open var predicate: NSPredicate?
    /// Whether objects of subentities are updated, too.
    open var includesSubentities = true
    /// New values or expressions, by the names or descriptions of properties.
    open var propertiesToUpdate: [AnyHashable: Any]?
    /// What the result holds.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType

    /// Updates objects of an entity of the context's model.
    public init(entityName: String) { name = entityName }

    /// Updates objects of an entity.
    public init(entity: NSEntityDescription) {
        name = entity.name ?? ""
        found = entity
    }

    /// The name of the objects' entity.
    public final var entityName: String { name }

    /// The objects' entity. A request made with a name knows it once it was run; until then it is
    /// an empty description of that name.
    public final var entity: NSEntityDescription {
        if let found { return found }
        let unknown = NSEntityDescription()
        unknown.name = name
        return unknown
    }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    func run(_ context: NSManagedObjectContext) throws -> NSBatchUpdateResult {
        guard let coordinator = context.persistentStoreCoordinator else {
            throw PersistenceErrors.noCoordinator
        }
        guard let entity = found ?? context.model?.entitiesByName[name] else {
            throw PersistenceErrors.unknownEntity(name)
        }
        found = entity
        let work = try BatchUpdating(self, of: entity, context)
        let updated = try coordinator.translating {
            try work.run(in: BatchStores(affectedStores ?? coordinator.persistentStores))
        }
        for (store, ids) in updated where !ids.isEmpty && store.announcesChanges {
            coordinator.postRemoteChange(of: store)
        }
        let ids = updated.flatMap(\.ids)
        switch resultType {
        case .statusOnlyResultType:
            return NSBatchUpdateResult(NSNumber(value: true), type: resultType)
        case .updatedObjectIDsResultType: return NSBatchUpdateResult(ids, type: resultType)
        case .updatedObjectsCountResultType:
            return NSBatchUpdateResult(NSNumber(value: ids.count), type: resultType)
        }
    }
}

/// What a batch update did. Source: Apple, NSBatchUpdateResult. Queue: any; it never changes.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    /// Whether it was done, how many, or which; as `resultType` says.
    public final let result: Any?
    /// What `result` is.
    public final let resultType: NSBatchUpdateRequestResultType

    init(_ result: Any?, type: NSBatchUpdateRequestResultType) {
        self.result = result
        resultType = type
    }
}
