internal import Foundation
internal import ObjectModel
internal import Stores

/// A coordinator's stores as the source of a context's objects: as they are, or as they were in the
/// context's generation.
struct StoreSource: ObjectSource {
    let coordinator: NSPersistentStoreCoordinator
    /// Nil for a context that is not pinned.
    let pin: GenerationPin?

    /// The generation to read from; nil for the stores as they are.
    func generation() throws -> QueryGeneration? { try pin?.generation(of: coordinator) }

    private func reader(of store: NSPersistentStore) throws -> any RowReading {
        guard pin != nil, let generation = try generation() else { return store.rowStore }
        return try generation.reader(of: store)
    }

    func snapshot(of id: NSManagedObjectID) throws -> ObjectSnapshot? {
        guard let row = id.rowID, let store = id.persistentStore else { return nil }
        return try coordinator.translating {
            let found = try reader(of: store).row(row)
            if found == nil, pin != nil { try checkIsGone([row], of: store) }
            return found.map(store.snapshot)
        }
    }

    /// A row that came after the generation is not one that is gone: its object must not count as
    /// deleted.
    private func checkIsGone(_ rows: [RowID], of store: NSPersistentStore) throws {
        guard try generation() != nil else { return }
        guard try store.rowStore.rows(rows).isEmpty else { throw PersistenceErrors.notInGeneration }
    }

    func snapshots(of ids: [NSManagedObjectID]) throws -> [FoundObject] {
        var found: [FoundObject] = []
        for (store, ids) in byStore(ids) {
            let rows = try coordinator.translating {
                try reader(of: store).rows(ids.compactMap(\.rowID))
            }
            found += rows.map {
                FoundObject(id: store.id(for: $0.id), snapshot: store.snapshot($0))
            }
        }
        return found
    }

    /// The rows of one store in packs, by their keys; nil where it gives none.
    func packs(_ rows: [RowID], of store: NSPersistentStore) throws -> [RowPack]? {
        try coordinator.translating { try reader(of: store).packs(rows) }
    }

    /// The rows of one store, where all are there: in the order of `rows`.
    func rows(_ rows: [RowID], of store: NSPersistentStore) throws -> [Row]? {
        let found = try coordinator.translating { try reader(of: store).rows(rows) }
        return found.lazy.map(\.id).elementsEqual(rows) ? found : nil
    }

    func members(of id: NSManagedObjectID, toMany slot: Int) throws -> [NSManagedObjectID] {
        guard let row = id.rowID, let store = id.persistentStore else { return [] }
        return try coordinator.translating {
            store.ids(of: try reader(of: store).members(of: row, toMany: slot).map(\.target))
        }
    }

    func members(
        of ids: [NSManagedObjectID], toMany slot: Int
    ) throws -> [[NSManagedObjectID]] {
        // By their IDs: rows of two stores may have the same keys.
        var members: [Reference: [NSManagedObjectID]] = [:]
        for (store, owners) in byStore(ids) {
            let found = try coordinator.translating {
                try reader(of: store).members(ofEach: owners.compactMap(\.rowID), toMany: slot)
            }
            for owner in owners {
                guard let links = owner.rowID.flatMap({ found[$0] }) else { continue }
                members[Reference(owner)] = store.ids(of: links.map(\.target))
            }
        }
        return ids.map { members[Reference($0)] ?? [] }
    }

    private func byStore(
        _ ids: [NSManagedObjectID]
    ) -> [(store: NSPersistentStore, ids: [NSManagedObjectID])] {
        let groups = Dictionary(grouping: ids) { $0.persistentStore.map(ObjectIdentifier.init) }
        return groups.values.compactMap { ids in
            ids.first?.persistentStore.map { ($0, ids) }
        }
    }

    // MARK: Queries

    func find(_ query: ObjectQuery) throws -> [FoundObjects] {
        try StoreQuery(query, source: self).find()
    }

    func findIDs(_ query: ObjectQuery) throws -> [NSManagedObjectID] {
        try StoreQuery(query, source: self).findIDs()
    }

    func count(_ query: ObjectQuery) throws -> Int { try StoreQuery(query, source: self).count() }

    func answersWhole(_ query: ObjectQuery) -> Bool {
        let shape = ObjectLayout.of(query.entity)
        let stores = (query.stores ?? coordinator.persistentStores)
            .filter { $0.layout(of: shape) != nil }
        return stores.count <= 1
    }
}
