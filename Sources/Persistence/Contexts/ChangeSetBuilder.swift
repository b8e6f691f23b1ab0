internal import Foundation
internal import ObjectModel
internal import Stores

/// Turns a context's changed objects into the change set of one store.
final class ChangeSetBuilder {
    // Exclusivity is not checked at run time: one save fills it in, by calls that do not nest.
    let store: NSPersistentStore
    @exclusivity(unchecked) private(set) var changes = ChangeSet()
    // The objects whose rows the change set writes, in its order.
    @exclusivity(unchecked) private(set) var inserted: [NSManagedObject] = []
    @exclusivity(unchecked) private(set) var updated: [NSManagedObject] = []
    @exclusivity(unchecked) private(set) var deleted: [NSManagedObject] = []
    var written: [NSManagedObject] { updated + inserted + deleted }
    /// Objects that count as changed and have the values of their rows: nothing is written of them,
    /// and the save tells them, as programs touch objects to have them looked at anew elsewhere.
    @exclusivity(unchecked) private(set) var touched: [NSManagedObject] = []
    /// Links to objects that the same save deletes, which no row gets.
    private(set) var goneLinks: [GoneLink] = []
    /// The rows at the ends of new links without inverse: nothing else of the save asks whether
    /// they are there.
    private(set) var loneEnds: Set<RowID> = []
    private let hasDeletions: Bool

    /// `hasDeletions` says whether the save deletes anything, in whatever store.
    init(store: NSPersistentStore, context: NSManagedObjectContext, hasDeletions: Bool) {
        self.store = store
        changes.author = context.transactionAuthor
        changes.contextName = context.name
        self.hasDeletions = hasDeletions
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
            changes.inserts.append(
                Row(
                    id: row, version: 1, attributes: object.attributes,
                    toOnes: object.toOnes.isEmpty ? [] : try newLinks(of: object)))
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
        // The snapshot of an object that was read is taken out of its row, so only where it tells.
        let former = toOnes.isEmpty ? nil : object.snapshot?.toOnes
        for slot in toOnes.indices where toOnes[slot] !== former?[slot] {
            let target = target(slot, of: object)
            if target == nil, former?[slot] == nil { continue }
            let link = try link(target, from: object)
            note(link, of: object.shape.layout.toOnes[slot])
            update.toOnes.append((slot, link))
        }
        for slot in object.toManys.indices where object.toManys[slot].isChanged {
            update.changedToManys.append(slot)
        }
        guard !update.isEmpty else { return touched.append(object) }
        changes.updates.append(update)
        updated.append(object)
        if !update.changedToManys.isEmpty { try addMembers(of: object, row) }
    }

    private func newLinks(of object: NSManagedObject) throws -> [Link?] {
        try object.toOnes.indices.map { slot in
            let link = try link(target(slot, of: object), from: object)
            note(link, of: object.shape.layout.toOnes[slot])
            return link
        }
    }

    /// Where a changed to-one leads once the save is done. It may lead to what the save deletes
    /// where its other end is nobody's, or was deleted before the link was made: then no rule of
    /// the deletion let go of it.
    private func target(_ slot: Int, of object: NSManagedObject) -> NSManagedObjectID? {
        guard hasDeletions, let id = object.toOnes[slot],
            Self.mayClear(object.shape.layout.toOnes[slot]), isDeleted(id, object)
        else { return object.toOnes[slot] }
        goneLinks.append(.toOne(object, slot))
        return nil
    }

    /// Whether a link ends with the object it leads to.
    private static func mayClear(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship else { return true }
        return ![.noActionDeleteRule, .denyDeleteRule].contains(inverse.deleteRule)
    }

    /// The added members that are still there once the save is done.
    private func lasting(
        _ members: some Sequence<Reference>, of object: NSManagedObject, _ slot: Int
    ) -> [Reference] {
        guard hasDeletions else { return Array(members) }
        return members.filter { member in
            guard isDeleted(member.id, object) else { return true }
            goneLinks.append(.member(object, slot, member))
            return false
        }
    }

    private func isDeleted(_ id: NSManagedObjectID, _ object: NSManagedObject) -> Bool {
        object.context?.registry.object(id)?.isDeleted == true
    }

    private func addMembers(of object: NSManagedObject, _ owner: RowID) throws {
        for (slot, members) in object.toManys.enumerated() where members.isChanged {
            let relationship = object.shape.layout.toManys[slot]
            let isOneToMany = relationship.inverseRelationship.map { !$0.isToMany } ?? false
            var change = ToManyChange(owner: owner, slot: slot)
            if !isOneToMany && relationship.writesJoinRows {
                change.added = try lasting(members.addedInOrder, of: object, slot)
                    .compactMap { try link($0.id, from: object) }
                for link in change.added { note(link, of: relationship) }
                change.removed = members.removed.compactMap { $0.id.reservedRow }
            }
            if members.isOrdered && members.isLoaded {
                change.order = try lasting(members.sequence, of: object, slot)
                    .compactMap { try link($0.id, from: object)?.target }
            }
            if members.isOrdered && !members.isLoaded && members.added.count > 1 {
                change.appended = try lasting(members.addedInOrder, of: object, slot)
                    .compactMap { try link($0.id, from: object)?.target }
            }
            guard !change.isEmpty else { continue }
            changes.toManys.append(change)
        }
    }

    private func note(_ link: Link?, of relationship: NSRelationshipDescription) {
        guard let link, relationship.inverseRelationship == nil else { return }
        loneEnds.insert(link.target)
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

extension ToManyChange {
    fileprivate var isEmpty: Bool {
        added.isEmpty && removed.isEmpty && order == nil && appended.isEmpty
    }
}

extension NSManagedObject {
    /// The version a save builds upon; nil in a child context, which has no rows.
    final var expectedVersion: Int64? { storedVersion }
}

/// A link to an object that the same save deletes.
enum GoneLink {
    case toOne(NSManagedObject, Int)
    case member(NSManagedObject, Int, Reference)

    /// Takes the link from the object, as no row has it. Returns the object.
    func clear() -> NSManagedObject {
        switch self {
        case .toOne(let object, let slot):
            object.observing { object.toOnes[slot] = nil }
            return object
        case .member(let object, let slot, let member):
            object.observing { object.toManys[slot].forget(member) }
            return object
        }
    }
}
