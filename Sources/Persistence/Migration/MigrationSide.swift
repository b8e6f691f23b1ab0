internal import Stores

/// The old or the new side of a migration: a context and the one store it has.
struct MigrationSide {
    let context: NSManagedObjectContext
    let store: NSPersistentStore

    /// The row of an object; nil while it has none.
    func row(of object: NSManagedObject) -> RowID? { row(of: object.objectID) }

    func row(of id: NSManagedObjectID) -> RowID? { id.isOf(store) ? id.rowID : nil }

    func objects(_ rows: [RowID]) -> [NSManagedObject] { context.materialize(store.ids(of: rows)) }

    func objects(_ ends: [AssociationEnd]) -> [NSManagedObject] {
        var rows = objects(
            ends.compactMap { end in if case .row(let row) = end { row } else { nil } })[...]
        return ends.compactMap { end in
            switch end {
            case .row: rows.popFirst()
            case .object(let object): object
            }
        }
    }

    /// Reads rows with few questions, and what relationships of theirs lead to.
    func read(_ rows: [RowID], prefetching paths: [String] = []) throws -> [NSManagedObject] {
        let ids = store.ids(of: rows)
        try context.readRows(of: context.unread(ids))
        let objects = context.materialize(ids)
        try context.prefetch(paths, of: objects)
        return objects
    }

    /// Lets go of values: what nobody holds is gone then, the rest is read again when it is asked
    /// for. Changed objects stay, and those that know what no row does.
    func letGo() -> [NSManagedObject] {
        context.readAhead.forgetRows()
        var kept: [NSManagedObject] = []
        for object in context.registry.objects where !object.isPending {
            if object.hasUnstoredValues {
                object.letGoOfEnds()
                kept.append(object)
            } else if !object.isFault {
                object.observing { object.turnIntoFault() }
            }
        }
        return kept
    }
}

extension NSManagedObject {
    /// Whether the object has values that no store takes: transient ones, and those of wrong types.
    fileprivate var hasUnstoredValues: Bool {
        guard let extras else { return false }
        return hasOwnTransients || !extras.misfits.isEmpty
    }
}
