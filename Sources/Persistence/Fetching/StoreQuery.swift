internal import Foundation
internal import ObjectModel
internal import Stores

/// A query over the stores of a coordinator. Each store sorts its own; several are sorted anew by
/// the context.
struct StoreQuery {
    private let coordinator: NSPersistentStoreCoordinator
    private let stores: [(store: NSPersistentStore, rows: RowQuery)]
    private let bounds: ObjectQuery

    init(_ query: ObjectQuery, coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        bounds = query
        let shape = ObjectLayout.of(query.entity)
        let translation = PredicateTranslation(query)
        var stores: [(NSPersistentStore, RowQuery)] = []
        for store in query.stores ?? coordinator.persistentStores {
            guard let layout = store.layout(of: shape) else { continue }
            var rows = RowQuery(entity: layout.number)
            rows.includesSubentities = query.includesSubentities
            rows.predicate = translation.predicate(for: store)
            rows.sort = translation.sort
            rows.transformed = TransformableCoding.decode
            stores.append((store, rows))
        }
        if stores.count == 1 {
            stores[0].1.limit = query.limit
            stores[0].1.offset = query.offset
        }
        self.stores = stores
    }

    /// Whether the results come from one store, in order and within the query's bounds.
    var isFinal: Bool { stores.count <= 1 }

    func find() throws -> [FoundObjects] {
        try eachStore { store, rows in [try store.find(bounds, rows: rows)] }
    }

    func findIDs() throws -> [NSManagedObjectID] {
        try eachStore { store, rows in
            try store.findIDs(bounds, rows: rows)
        }
    }

    /// The rows alone, where one store has them all; nil where several are asked.
    func findRows() throws -> (NSPersistentStore, [RowID])? {
        guard stores.count == 1, let (store, rows) = stores.first else { return nil }
        return try coordinator.translating {
            try store.findRows(bounds, rows: rows).map { (store, $0) }
        }
    }

    func count() throws -> Int {
        let total = try eachStore { store, rows in [try store.count(bounds, rows: rows)] }
            .reduce(0, +)
        return isFinal ? total : bounds.bounded(total)
    }

    private func eachStore<Value>(
        _ work: (NSPersistentStore, RowQuery) throws -> [Value]
    ) throws -> [Value] {
        if stores.count == 1 {
            return try coordinator.translating { try work(stores[0].store, stores[0].rows) }
        }
        return try stores.flatMap { entry in
            try coordinator.translating { try work(entry.store, entry.rows) }
        }
    }
}
