internal import Foundation
internal import ObjectModel
internal import Stores

/// Turns a context's changed objects into the change set of one store.
final class ChangeSetBuilder {
    let store: NSPersistentStore
    private(set) var changes = ChangeSet()
    // The objects whose rows the change set writes, in its order.
    private(set) var inserted: [NSManagedObject] = []
    private(set) var updated: [NSManagedObject] = []
    private(set) var deleted: [NSManagedObject] = []
    var written: [NSManagedObject] { updated + inserted + deleted }

    init(store: NSPersistentStore, author: String?, contextName: String?) {
        self.store = store
        changes.author = author
        changes.contextName = contextName
    }

    /// Makes room for what a save has at the most.
    func makeRoom(for count: Int, inserted new: Int) {
        changes.inserts.reserveCapacity(new)
        inserted.reserveCapacity(new)
        updated.reserveCapacity(count - new)
    }

    /// Lets go of the values, once they are written.
    func forgetChanges() { changes = ChangeSet() }

    func add(_ object: NSManagedObject) throws {
        guard let row = object.reservedRow else {
            throw PersistenceErrors.noStore(for: object.entity.name ?? "")
        }
        switch (object.isDeleted, object.isInserted) {
        case (true, true): return
        case (true, false):
            changes.deletes.append(RowDelete(id: row, expectedVersion: object.expectedVersion))
            deleted.append(object)
        case (false, true):
            let toOnes = object.toOnes
            changes.inserts.append(
                Row(
                    id: row, version: 1, attributes: object.attributes,
                    toOnes: toOnes.isEmpty ? [] : try toOnes.map { try link($0, from: object) }))
            if !object.toManys.isEmpty { try addMembers(of: object, row) }
            inserted.append(object)
        case (false, false): try addUpdate(of: object, row)
        }
    }

    private func addUpdate(of object: NSManagedObject, _ row: RowID) throws {
        guard object.hasRow else {
            // Nothing says what changed, so it cannot count as written.
            throw PersistenceErrors.missingObject(object.objectID)
        }
        var update = RowUpdate(id: row, expectedVersion: object.expectedVersion)
        let attributes = object.attributes
        for slot in attributes.indices where object.isChanged(attribute: slot) {
            update.attributes.append((slot, attributes[slot]))
        }
        let toOnes = object.toOnes
        for slot in toOnes.indices where toOnes[slot] !== object.snapshot?.toOnes[slot] {
            update.toOnes.append((slot, try link(toOnes[slot], from: object)))
        }
        for slot in object.toManys.indices where object.toManys[slot].isChanged {
            update.changedToManys.append(slot)
        }
        guard !update.isEmpty else { return }
        changes.updates.append(update)
        updated.append(object)
        if !update.changedToManys.isEmpty { try addMembers(of: object, row) }
    }

    private func addMembers(of object: NSManagedObject, _ owner: RowID) throws {
        for (slot, members) in object.toManys.enumerated() where members.isChanged {
            let relationship = object.shape.layout.toManys[slot]
            let isOneToMany = relationship.inverseRelationship.map { !$0.isToMany } ?? false
            var change = ToManyChange(owner: owner, slot: slot)
            if !isOneToMany && relationship.writesJoinRows {
                change.added = try members.added.compactMap { try link($0.id, from: object) }
                change.removed = members.removed.compactMap { $0.id.reservedRow }
            }
            if members.isOrdered && members.isLoaded {
                change.order = try members.sequence.compactMap {
                    try link($0.id, from: object)?.target
                }
            }
            guard !change.added.isEmpty || !change.removed.isEmpty || change.order != nil else {
                continue
            }
            changes.toManys.append(change)
        }
    }

    private func link(_ id: NSManagedObjectID?, from object: NSManagedObject) throws -> Link? {
        guard let id else { return nil }
        guard let row = id.reservedRow, id.isOf(store) else {
            throw PersistenceErrors.make(
                NSManagedObjectExternalRelationshipError,
                "A relationship leads to an object of another store, or to one that was never "
                    + "saved; relationships stay within one store.",
                [NSAffectedObjectsErrorKey: [object]])
        }
        return Link(row)
    }
}

extension NSManagedObject {
    /// The version a save builds upon; nil in a child context, which has no rows.
    final var expectedVersion: Int64? { storedVersion }
}
