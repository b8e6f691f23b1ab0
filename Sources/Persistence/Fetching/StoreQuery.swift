internal import Foundation
internal import ObjectModel
internal import Stores

/// A query over the stores of a coordinator. Each store sorts its own; several are sorted anew by
/// the context.
struct StoreQuery {
    /// One store's part of the query.
    private struct Part {
        var store: NSPersistentStore
        var reader: any RowReading
        var rows: RowQuery
    }

    private let coordinator: NSPersistentStoreCoordinator
    private let parts: [Part]
    private let bounds: ObjectQuery

    /// All stores are read in one generation, where the source has one.
    init(_ query: ObjectQuery, source: StoreSource) throws {
        coordinator = source.coordinator
        let generation = try source.generation()
        if let generation, generation.isOver { throw PersistenceErrors.expiredGeneration }
        bounds = query
        let shape = ObjectLayout.of(query.entity)
        let translation = PredicateTranslation(query)
        var parts: [Part] = []
        for store in query.stores ?? coordinator.persistentStores {
            guard let layout = store.layout(of: shape) else { continue }
            if let generation, !generation.includes(store) { continue }
            var rows = RowQuery(entity: layout.number)
            rows.includesSubentities = query.includesSubentities
            rows.predicate = translation.predicate(for: store)
            rows.sort = translation.sort
            rows.transformed = TransformableCoding.decode
            let reader = try generation?.reader(of: store) ?? store.rowStore
            parts.append(Part(store: store, reader: reader, rows: rows))
        }
        if parts.count == 1 {
            parts[0].rows.limit = query.limit
            parts[0].rows.offset = query.offset
        }
        self.parts = parts
    }

    /// Whether the results come from one store, in order and within the query's bounds.
    var isFinal: Bool { parts.count <= 1 }

    func find() throws -> [FoundObjects] {
        try eachStore { [try $0.store.find(bounds, rows: $0.rows, in: $0.reader)] }
    }

    func findIDs() throws -> [NSManagedObjectID] {
        try eachStore { try $0.store.findIDs(bounds, rows: $0.rows, in: $0.reader) }
    }

    /// The rows alone, where one store has them all; nil where several are asked.
    func findRows() throws -> (NSPersistentStore, [RowID])? {
        guard parts.count == 1, let part = parts.first else { return nil }
        return try coordinator.translating {
            try part.store.findRows(bounds, rows: part.rows, in: part.reader)
                .map { (part.store, $0) }
        }
    }

    func count() throws -> Int {
        let total = try eachStore { [try $0.store.count(bounds, rows: $0.rows, in: $0.reader)] }
            .reduce(0, +)
        return isFinal ? total : bounds.bounded(total)
    }

    private func eachStore<Value>(_ work: (Part) throws -> [Value]) throws -> [Value] {
        if parts.count == 1 { return try coordinator.translating { try work(parts[0]) } }
        return try parts.flatMap { part in try coordinator.translating { try work(part) } }
    }
}
