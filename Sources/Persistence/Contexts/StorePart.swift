internal import Foundation
internal import ObjectModel
internal import Stores

/// The objects that one save writes to one store. Lives for one attempt.
///
/// New objects get their keys in the transaction that writes them. Where it fails the keys come
/// back, and their IDs are as they were.
final class StorePart {
    let store: NSPersistentStore
    private(set) var objects: [NSManagedObject] = []
    /// New objects without rows, by their shapes.
    private var fresh: [(shape: ObjectLayout, objects: [NSManagedObject])] = []
    /// Whether the rows of `fresh` were reserved for this attempt alone.
    private var holdsRows = false
    /// The IDs that this attempt made permanent.
    private var published: [NSManagedObjectID] = []

    init(_ store: NSPersistentStore) { self.store = store }

    func add(_ object: NSManagedObject) {
        objects.append(object)
        guard object.isInserted, object.reservedRow == nil else { return }
        if fresh.last?.shape === object.shape {
            fresh[fresh.count - 1].objects.append(object)
        } else if let index = fresh.firstIndex(where: { $0.shape === object.shape }) {
            fresh[index].objects.append(object)
        } else {
            fresh.append((object.shape, [object]))
        }
    }

    /// Writes the objects in one transaction. No code of the program runs within it, but that of a
    /// store of its own.
    func write(
        for context: NSManagedObjectContext
    ) throws -> (gathered: ChangeSetBuilder, outcome: SaveOutcome) {
        do {
            return try store.rowStore.writing { writer in
                try reserveRows(by: writer)
                let gathered = ChangeSetBuilder(store: store, context: context)
                for object in objects { try gathered.add(object) }
                // Before others can see the rows, so that nobody makes other IDs for them.
                publish(gathered)
                return (gathered, try store.write(gathered, of: context, by: writer))
            }
        } catch {
            withdraw()
            throw error
        }
    }

    // MARK: Rows of new objects

    private func reserveRows(by writer: any RowWriting) throws {
        holdsRows = !store.namesRowsItself
        for (shape, objects) in fresh {
            guard let layout = store.layout(of: shape) else {
                throw PersistenceErrors.noStore(for: shape.layout.name)
            }
            let rows = try store.reserveRows(for: objects, layout, by: writer)
            for (object, row) in zip(objects, rows) { object.objectID.reserve(row, in: store) }
        }
    }

    private func publish(_ gathered: ChangeSetBuilder) {
        for group in fresh {
            let ids = group.objects.map(\.objectID)
            ids.first?.reservedSpace?.publish(ids)
            published += ids
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

    /// Takes back the rows of new objects once `work` is done, which may still ask for them.
    func releasingRows(_ work: () throws -> Void) rethrows {
        defer { releaseRows() }
        try work()
    }

    /// Takes back the rows of new objects, which were not written.
    func releaseRows() {
        guard holdsRows else { return }
        holdsRows = false
        for group in fresh { for object in group.objects { object.objectID.forgetRow() } }
    }
}

/// Finds the store of each object of a save; neighbours mostly have the same.
final class StoreChoice {
    private let coordinator: NSPersistentStoreCoordinator
    private var last: NSPersistentStore?
    private var fresh: [ObjectIdentifier: NSPersistentStore] = [:]
    private var lastFresh: (shape: ObjectLayout, store: NSPersistentStore)?

    init(_ coordinator: NSPersistentStoreCoordinator) { self.coordinator = coordinator }

    /// The store that has the object's row, or is to have it.
    func store(for object: NSManagedObject) throws -> NSPersistentStore {
        let id = object.objectID
        guard let space = id.reservedSpace else { return try storeForNew(object.shape) }
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
            fresh[ObjectIdentifier(shape)]
            ?? coordinator.persistentStores.first { !$0.isReadOnly && $0.layout(of: shape) != nil }
        guard let store else { throw PersistenceErrors.noStore(for: shape.layout.name) }
        fresh[ObjectIdentifier(shape)] = store
        lastFresh = (shape, store)
        return store
    }
}
