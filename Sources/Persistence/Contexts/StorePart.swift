internal import Foundation
internal import ObjectModel
internal import Stores

/// The objects that one save writes to one store. Lives for one attempt.
///
/// New objects get their keys in the transaction that writes them. Where it fails the keys come
/// back, and their IDs are as they were.
final class StorePart {
    // Exclusivity is not checked at run time: one save fills it in, by calls that do not nest.
    let store: NSPersistentStore
    @exclusivity(unchecked) private(set) var objects: [NSManagedObject] = []
    /// Whether the save deletes anything, in whatever store.
    var hasDeletions = false
    /// The IDs of new objects without rows, by their shapes.
    @exclusivity(unchecked) private var fresh: [Group] = []
    /// Whether the rows of `fresh` were reserved for this attempt alone.
    private var holdsRows = false
    /// The IDs that this attempt made permanent.
    private var published: [NSManagedObjectID] = []

    private struct Group {
        let shape: ObjectLayout
        var ids: [NSManagedObjectID]
    }

    init(_ store: NSPersistentStore) { self.store = store }

    func add(_ object: NSManagedObject) {
        objects.append(object)
        guard object.isInserted, object.reservedRow == nil else { return }
        if fresh.last?.shape === object.shape {
            fresh[fresh.count - 1].ids.append(object.objectID)
        } else if let index = fresh.firstIndex(where: { $0.shape === object.shape }) {
            fresh[index].ids.append(object.objectID)
        } else {
            fresh.append(Group(shape: object.shape, ids: [object.objectID]))
        }
    }

    /// The order in which the parts of a save are written, each within the one before: first the
    /// stores that can take back what they wrote, programs' own stores last.
    ///
    /// Stores that lock are in the same order in all saves, so that none waits for another one.
    static func inWritingOrder(_ parts: [StorePart]) -> [StorePart] {
        let undoable = parts.filter { $0.store.rowStore.takesBackSaves }
        let others = parts.filter { !$0.store.rowStore.takesBackSaves }
        return undoable.sorted { $0.store.identifier < $1.store.identifier }
            + others.filter { !$0.store.namesRowsItself }
            + others.filter { $0.store.namesRowsItself }
    }

    /// Writes the objects in one transaction, and lets `others` write before it ends. No code of
    /// the program runs within it, but that of a store of its own.
    func write(
        for context: NSManagedObjectContext, beside others: (() throws -> Void)? = nil
    ) throws -> (gathered: ChangeSetBuilder, outcome: SaveOutcome) {
        do {
            return try store.rowStore.writing { writer in
                try reserveRows(by: writer)
                let gathered = ChangeSetBuilder(
                    store: store, context: context, hasDeletions: hasDeletions)
                gathered.makeRoom(
                    for: objects.count, inserted: fresh.reduce(0) { $0 + $1.ids.count })
                for object in objects { try gathered.add(object) }
                try checkLoneEnds(of: gathered)
                // Before others can see the rows, so that nobody makes other IDs for them.
                publish(gathered)
                let outcome = try write(gathered, of: context, by: writer, beside: others)
                gathered.forgetChanges()
                return (gathered, outcome)
            }
        } catch {
            withdraw()
            throw error
        }
    }

    /// A store that cannot take back what it wrote looks whether it can write, lets the others
    /// write, and writes then.
    private func write(
        _ gathered: ChangeSetBuilder, of context: NSManagedObjectContext,
        by writer: any RowWriting, beside others: (() throws -> Void)?
    ) throws -> SaveOutcome {
        guard let others else { return try store.write(gathered, of: context, by: writer) }
        guard store.rowStore.takesBackSaves else {
            try store.rowStore.check(gathered.changes)
            try others()
            return try store.write(gathered, of: context, by: writer)
        }
        let outcome = try store.write(gathered, of: context, by: writer)
        try others()
        return outcome
    }

    /// A link without inverse to a row that somebody deleted, while this context heard nothing of
    /// it, is no conflict of versions: nothing of that row is written. It becomes known here, as a
    /// merge would make it known, and the save begins anew. Apple writes the link, and its fault
    /// cannot be filled in later.
    ///
    /// Cost: one question for the rows at their ends; nothing where there are none. Stores that
    /// name their rows themselves are not asked: what they have is theirs to know.
    private func checkLoneEnds(of gathered: ChangeSetBuilder) throws {
        guard !gathered.loneEnds.isEmpty, !store.namesRowsItself else { return }
        var missing = gathered.loneEnds.subtracting(gathered.changes.inserts.lazy.map(\.id))
        missing.subtract(try store.rowStore.present(among: Array(missing)))
        guard !missing.isEmpty else { return }
        throw SaveConflicts(
            missing.sorted().map { .init(id: $0, expectedVersion: 0, stored: nil) })
    }

    // MARK: Rows of new objects

    private func reserveRows(by writer: any RowWriting) throws {
        holdsRows = !store.namesRowsItself
        for group in fresh {
            guard let layout = store.layout(of: group.shape) else {
                throw PersistenceErrors.noStore(for: group.shape.layout.name)
            }
            let rows =
                holdsRows
                ? try writer.reserveKeys(entity: layout.number, count: group.ids.count)
                : try store.reserveRows(for: objects(of: group), layout).map(\.key)
            let space = store.space(layout.number)
            for (id, key) in zip(group.ids, rows) { id.reserve(key, in: space) }
        }
    }

    /// The objects of a group, for stores that look at them.
    private func objects(of group: Group) -> [NSManagedObject] {
        let ids = Set(group.ids)
        return objects.filter { ids.contains($0.objectID) }
    }

    private func publish(_ gathered: ChangeSetBuilder) {
        for group in fresh {
            group.ids.first?.reservedSpace?.publish(group.ids)
            published += group.ids
        }
        for object in gathered.inserted where object.objectID.isTemporaryID {
            store.publish(object.objectID)
            published.append(object.objectID)
        }
    }

    /// Nothing was written after all.
    private func withdraw() {
        var rest = published[...]
        while let space = rest.first?.reservedSpace {
            let end = rest.firstIndex { $0.reservedSpace !== space } ?? rest.endIndex
            space.withdraw(rest[..<end])
            rest = rest[end...]
        }
        published = []
    }

    /// Takes back the rows of new objects, which were not written.
    func releaseRows() {
        guard holdsRows else { return }
        holdsRows = false
        for group in fresh { for id in group.ids { id.forgetRow() } }
    }
}

/// Finds the store of each object of a save; neighbours mostly have the same.
final class StoreChoice {
    // Exclusivity is not checked at run time: one save asks, for one object after the other.
    private let coordinator: NSPersistentStoreCoordinator
    private let places: [ObjectIdentifier: NSPersistentStore]
    @exclusivity(unchecked) private var last: NSPersistentStore?
    private var fresh: [ObjectIdentifier: NSPersistentStore] = [:]
    @exclusivity(unchecked) private var lastFresh: (shape: ObjectLayout, store: NSPersistentStore)?

    /// `pending` are the changed objects of a context, before those of its parents.
    init(
        of pending: @autoclosure () -> [NSManagedObject],
        _ coordinator: NSPersistentStoreCoordinator
    ) {
        self.coordinator = coordinator
        places = StoreAffinity(of: pending(), coordinator).places
    }

    /// The store that has the object's row, or is to have it.
    func store(for object: NSManagedObject) throws -> NSPersistentStore {
        // Where it stands tells it without an ID, which may not be made yet.
        guard let space = object.reservedSpace else {
            if let store = places[ObjectIdentifier(object)] { return store }
            return try storeForNew(object.shape)
        }
        if let last, space.store === last.tie { return last }
        guard let store = space.store?.target,
            store.persistentStoreCoordinator === coordinator
        else { throw PersistenceErrors.noStore(for: object.entity.name ?? "") }
        guard !store.isReadOnly else { throw PersistenceErrors.readOnly(store) }
        last = store
        return store
    }

    /// The first store that takes new objects of a shape.
    private func storeForNew(_ shape: ObjectLayout) throws -> NSPersistentStore {
        if let lastFresh, lastFresh.shape === shape { return lastFresh.store }
        let store =
            try fresh[ObjectIdentifier(shape)]
            ?? coordinator.storeForNew(shape, among: coordinator.persistentStores)
        fresh[ObjectIdentifier(shape)] = store
        lastFresh = (shape, store)
        return store
    }
}

extension NSManagedObject {
    /// Where its row is, or is to be; nil for a new object that nobody assigned.
    final var reservedSpace: ObjectIDTable? { shelf?.space ?? madeID?.reservedSpace }
}

extension NSManagedObjectContext {
    /// The choice that saves up to the stores would make for new objects as they are linked now;
    /// nil without a coordinator.
    ///
    /// `children` are those from whom it is asked. Cost: that of `StoreAffinity`.
    final func storeChoice(changedBelow children: [NSManagedObjectContext] = []) -> StoreChoice? {
        let line = children + [self]
        guard let parent else {
            return persistentStoreCoordinator.map {
                StoreChoice(of: line.flatMap(\.pending.changed), $0)
            }
        }
        return parent.queue.run(isReading: true) { parent.storeChoice(changedBelow: line) }
    }
}
