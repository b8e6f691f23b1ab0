internal import Foundation
internal import ObjectModel
internal import Stores

/// Where a context's objects come from: the coordinator's stores, or the parent context.
protocol ObjectSource {
    /// The present values of an object; nil when there is none.
    func snapshot(of id: NSManagedObjectID) throws -> ObjectSnapshot?
    /// The members of a to-many relationship, in order where it is ordered.
    func members(of id: NSManagedObjectID, toMany slot: Int) throws -> [NSManagedObjectID]
    /// The present values of those objects that exist, in any order.
    func snapshots(of ids: [NSManagedObjectID]) throws -> [FoundObject]
    /// The members of a to-many relationship of objects of one entity, for each of them in turn.
    func members(of ids: [NSManagedObjectID], toMany slot: Int) throws -> [[NSManagedObjectID]]
    func find(_ query: ObjectQuery) throws -> [FoundObjects]
    func findIDs(_ query: ObjectQuery) throws -> [NSManagedObjectID]
    func count(_ query: ObjectQuery) throws -> Int
    /// Whether results of `find` come sorted and within the query's bounds.
    func answersWhole(_ query: ObjectQuery) -> Bool
}

/// Which objects to find.
struct ObjectQuery {
    var entity: NSEntityDescription
    var includesSubentities = true
    var predicate: NSPredicate?
    var sort: [NSSortDescriptor] = []
    var limit = 0
    var offset = 0
    /// Nil for all stores.
    var stores: [NSPersistentStore]?
    /// Whose IDs stand for those of other coordinators that the predicate names; nil for none.
    var coordinator: NSPersistentStoreCoordinator?

    init(entity: NSEntityDescription) { self.entity = entity }

    /// Whether objects of `other` may be among the results.
    func covers(_ other: NSEntityDescription) -> Bool {
        includesSubentities ? other.isKindOf(entity: entity) : other === entity
    }
}

/// One result of a query.
struct FoundObject {
    var id: NSManagedObjectID
    var snapshot: ObjectSnapshot?
}

/// Results of a query, in order: as rows where a store has rows, so that nothing is made of them
/// that the context does not need; in packs where it gives them.
enum FoundObjects {
    case packs([RowPack], of: NSPersistentStore)
    case rows(FoundRows)
    case objects([FoundObject])
}

/// Rows on their way to the objects that take their values over.
final class FoundRows {
    let store: NSPersistentStore
    private var rows: [Row]

    init(_ rows: [Row], of store: NSPersistentStore) {
        self.rows = rows
        self.store = store
    }

    /// Hands the rows over, so that whoever takes them holds them alone.
    func take() -> [Row] {
        let taken = rows
        rows = []
        return taken
    }
}

extension NSManagedObjectContext {
    /// The stored values of an object; nil where its row is gone.
    final func storedSnapshot(of object: NSManagedObject) throws -> ObjectSnapshot? {
        guard let id = object.identity else { return nil }
        return try source?.snapshot(of: id)
    }

    /// The stored members of a relationship; nil where they cannot be read, and the failure is kept
    /// for the next save.
    final func storedMembers(of object: NSManagedObject, toMany slot: Int) -> [Reference]? {
        guard let id = object.identity else { return [] }
        do {
            let members =
                try readAhead.takeMembers(of: id, toMany: slot)
                ?? source?.members(of: id, toMany: slot) ?? []
            return members.map(Reference.init)
        } catch {
            pending.failure = error
            return nil
        }
    }

    /// A fault's row is gone.
    final func noteInaccessible(_ object: NSManagedObject, for key: String?) {
        object.standEmpty()
        dropPostponed(of: object)
        let property = key.flatMap { object.entity.propertiesByName[$0] }
        guard
            shouldHandleInaccessibleFault(
                object, for: object.objectID, triggeredByProperty: property)
        else {
            pending.failure = PersistenceErrors.missingObject(object.objectID)
            return
        }
        object.state.insert([.deleted, .foundGone])
        pending.gone.append(object.objectID)
        pending.note(.deletedNow, of: object)
    }
}
