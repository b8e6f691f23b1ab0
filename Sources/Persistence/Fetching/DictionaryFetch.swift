internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// Makes dictionaries of values that stores compute: of rows, or of groups of rows.
///
/// They show what is stored; a context's unsaved changes take no part, as with Apple.
struct DictionaryFetch {
    private let choice: FetchChoice
    private let query: ObjectQuery
    private let fetched: FetchedColumns
    private let source: StoreSource
    private var coordinator: NSPersistentStoreCoordinator { source.coordinator }

    /// Throws 134091 for what cannot be asked for.
    init(
        _ choice: FetchChoice, _ query: ObjectQuery, in context: NSManagedObjectContext
    ) throws {
        guard let source = context.root.source as? StoreSource else {
            throw PersistenceErrors.noCoordinator
        }
        self.choice = choice
        self.query = query
        self.source = source
        fetched = try FetchedColumns(choice.values, of: query.entity)
    }

    func run() throws -> [NSDictionary] {
        let shape = ObjectLayout.of(query.entity)
        let generation = try source.generation()
        if let generation, generation.isOver { throw PersistenceErrors.expiredGeneration }
        let stores = (query.stores ?? coordinator.persistentStores).filter {
            $0.layout(of: shape) != nil && generation?.includes($0) ?? true
        }
        guard !stores.isEmpty else { return [] }
        let translation = PredicateTranslation(query)
        if stores.count == 1, translation.isStorable, let store = stores.first,
            let number = store.layout(of: shape)?.number
        {
            let found = try coordinator.translating {
                try store.values(of: values(number, translation, store), in: reader(of: store))
            }
            if let found { return found.map { dictionary($0) { store.id(for: $0) } } }
        }
        return try ofObjects(translation)
    }

    /// The store as it is, or as it was in the generation that the context is pinned to.
    private func reader(of store: NSPersistentStore) throws -> any RowReading {
        try source.generation()?.reader(of: store) ?? store.rowStore
    }

    /// What a store is asked; where none is given, constants stay as they are.
    private func values(
        _ entity: Int32, _ translation: PredicateTranslation, _ store: NSPersistentStore?
    ) -> ValueQuery {
        var rows = RowQuery(entity: entity)
        rows.includesSubentities = query.includesSubentities
        rows.predicate = store.map { translation.predicate(for: $0) } ?? translation.predicate
        rows.sort = translation.sort
        rows.transformed = TransformableCoding.decode
        rows.limit = query.limit
        rows.offset = query.offset
        func constant(_ value: Any?) -> Any? {
            store.map { PredicateTranslation.row(of: value, in: $0) } ?? value
        }
        var values = ValueQuery(
            rows: rows,
            columns: fetched.columns.map { column in
                let expression = column.expression.mapExpressions { node in
                    guard case .constant(let value) = node else { return node }
                    return .constant(constant(value))
                }
                return .init(name: column.name, expression: expression)
            })
        values.grouping = fetched.grouping
        values.having = fetched.having.map {
            RequestReading(of: query.entity).read($0).mapConstants(constant)
        }
        values.isDistinct = choice.flags.returnsDistinctResults
        return values
    }

    /// The lines of several stores, or of one that computes none: of its objects, in a context of
    /// their own, so that they are as they are stored.
    private func ofObjects(_ translation: PredicateTranslation) throws -> [NSDictionary] {
        var values = values(0, translation, nil)
        let isSorted = translation.sort.allSatisfy { key(of: $0)?.comparison ?? .custom != .custom }
        let isOfRows = !values.isAggregated(AggregateCalls(of: query.entity))
        guard isSorted || isOfRows else {
            throw PersistenceErrors.unsupported(
                "unsupported NSSortDescriptor (comparator blocks are not supported)")
        }
        var all = query
        all.limit = 0
        all.offset = 0
        if isSorted { all.sort = [] } else { values.rows.sort = [] }
        let scratch = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        scratch.persistentStoreCoordinator = coordinator
        scratch.pin = try source.generation().map { GenerationPin($0) }
        let evaluation = ValueEvaluation(
            values, entity: query.entity, platform: coordinator.platform,
            key: { ($0 as? NSManagedObject).flatMap(Self.objectKey) })
        return try scratch.performAndWait {
            let objects = try scratch.objects(matching: all, includingPending: false)
            let lines = try UndefinedKeys.throwing { try evaluation.answer(from: objects) }
            return lines.map { line in
                dictionary(line.map { ($0 as? NSManagedObject)?.objectID ?? $0 }) { _ in
                    NSManagedObjectID(temporaryFor: ObjectLayout.of(query.entity))
                }
            }
        }
    }

    /// What tells a stored object from those of all stores.
    private static func objectKey(_ object: NSManagedObject) -> ObjectKey? {
        object.reservedRow.map {
            ObjectKey($0.key, in: object.shelf?.space?.store.map(ObjectIdentifier.init))
        }
    }

    private func dictionary(
        _ line: [Any?], id: (RowID) -> NSManagedObjectID
    ) -> NSDictionary {
        var values: [String: Any] = [:]
        for (column, value) in zip(fetched.columns, line) {
            guard let shown = column.present(value, id: id) else { continue }
            Self.put(shown, at: [column.name] + column.element, in: &values)
        }
        return NSDictionary(dictionary: values)
    }

    /// Puts a value into the dictionary that a path leads to.
    private static func put(_ value: Any, at path: [String], in values: inout [String: Any]) {
        guard path.count > 1 else {
            values[path[0]] = value
            return
        }
        var inner = values[path[0]] as? [String: Any] ?? [:]
        put(value, at: Array(path.dropFirst()), in: &inner)
        values[path[0]] = inner
    }
}
