internal import Foundation
internal import ObjectModel
internal import Stores

/// A query over the stores of a coordinator.
struct StoreQuery {
    private let query: ObjectQuery
    private let coordinator: NSPersistentStoreCoordinator
    private let stores: [(store: NSPersistentStore, rows: RowQuery)]

    init(_ query: ObjectQuery, coordinator: NSPersistentStoreCoordinator) {
        self.query = query
        self.coordinator = coordinator
        let shape = EntityShape.of(query.entity)
        stores = (query.stores ?? coordinator.persistentStores).compactMap { store in
            guard let layout = store.layout(of: shape) else { return nil }
            var rows = RowQuery(entity: layout.number)
            rows.includesSubentities = query.includesSubentities
            return (store, rows)
        }
    }

    func find() throws -> [FoundObject] {
        var found: [FoundObject] = []
        for (store, rows) in stores {
            found += try coordinator.translating {
                try store.rowStore.rows(matching: rows).map {
                    FoundObject(id: store.id(for: $0.id), snapshot: store.snapshot($0))
                }
            }
        }
        return found
    }

    func findIDs() throws -> [NSManagedObjectID] { try find().map(\.id) }

    func count() throws -> Int { try find().count }
}
