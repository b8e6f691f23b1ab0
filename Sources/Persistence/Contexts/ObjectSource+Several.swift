internal import Stores

// Rows and members of several objects at once.
extension NSPersistentStoreCoordinator {
    func snapshots(of ids: [NSManagedObjectID]) throws -> [FoundObject] {
        var found: [FoundObject] = []
        for (store, ids) in byStore(ids) {
            let rows = try translating { try store.rowStore.rows(ids.compactMap(\.rowID)) }
            found += rows.map {
                FoundObject(id: store.id(for: $0.id), snapshot: store.snapshot($0))
            }
        }
        return found
    }

    func members(
        of ids: [NSManagedObjectID], toMany slot: Int
    ) throws -> [[NSManagedObjectID]] {
        var members: [RowID: [NSManagedObjectID]] = [:]
        for (store, ids) in byStore(ids) {
            let found = try translating {
                try store.rowStore.members(ofEach: ids.compactMap(\.rowID), toMany: slot)
            }
            for (owner, links) in found { members[owner] = links.map { store.id(for: $0.target) } }
        }
        return ids.map { $0.rowID.flatMap { members[$0] } ?? [] }
    }

    private func byStore(
        _ ids: [NSManagedObjectID]
    ) -> [(store: NSPersistentStore, ids: [NSManagedObjectID])] {
        let groups = Dictionary(grouping: ids) { $0.persistentStore.map(ObjectIdentifier.init) }
        return groups.values.compactMap { ids in
            ids.first?.persistentStore.map { ($0, ids) }
        }
    }
}

extension ParentSource {
    func snapshots(of ids: [NSManagedObjectID]) throws -> [FoundObject] {
        try ids.map { FoundObject(id: $0, snapshot: try snapshot(of: $0)) }
    }

    func members(
        of ids: [NSManagedObjectID], toMany slot: Int
    ) throws -> [[NSManagedObjectID]] {
        try ids.map { try members(of: $0, toMany: slot) }
    }
}
