internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// A query's predicate and sort order as trees: for stores, and for objects in memory.
struct PredicateTranslation {
    let predicate: PredicateNode?
    let sort: [NSSortDescriptor]
    /// Whether a store can answer by itself. Blocks, comparators, unnamed Swift key paths and
    /// comparisons of transformed values need objects.
    let isStorable: Bool
    private let entity: NSEntityDescription

    init(_ query: ObjectQuery) {
        entity = query.entity
        let read = query.predicate.map { RequestReading(of: query.entity).read(node(of: $0)) }
        predicate = query.coordinator.map { read?.naming(rowsIn: $0) } ?? read
        sort = query.sort.map { SortNaming.named($0, entity: query.entity) }
        isStorable =
            !(predicate?.hasOpaquePart ?? false)
            && !(predicate.map(TransformedValues(of: query.entity).areTested) ?? false)
            && sort.allSatisfy { descriptor in
                key(of: descriptor).map { $0.comparison != .custom } ?? false
            }
    }

    /// Whether the predicate asks for what all objects of the entity have, too: then it cannot be
    /// told of one whether it matches.
    var hasAggregates: Bool { predicate.map(AggregateCalls(of: entity).areIn) ?? false }

    /// The predicate with objects, IDs and entities replaced by what stands for them in `store`;
    /// others match nothing.
    func predicate(for store: NSPersistentStore) -> PredicateNode? {
        predicate?.mapConstants { Self.row(of: $0, in: store) }
    }

    /// The row of an object or ID, also of one that another coordinator of the store's file has,
    /// which is none where it is of another store; the store's entity of a description's name; any
    /// other constant as it is.
    static func row(of constant: Any?, in store: NSPersistentStore) -> Any? {
        if let entity = constant as? NSEntityDescription {
            return RowEntity(store.rowStore.layout.number(of: entity) ?? 0)
        }
        guard
            let given = (constant as? NSManagedObject)?.objectID ?? constant as? NSManagedObjectID
        else { return constant }
        let id = store.persistentStoreCoordinator?.ownID(of: given) ?? given
        if let row = id.rowID, id.persistentStore === store { return row }
        let number = store.layout(of: ObjectLayout.of(id.entity))?.number ?? 0
        return RowID(entity: number, key: -1)
    }

    /// Whether an object matches. Throws for keys the object does not have.
    func matches(_ object: NSManagedObject) throws -> Bool {
        guard let predicate else { return true }
        return try UndefinedKeys.throwing { try evaluate(predicate, with: object) }
    }

    func sorted(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
        guard !sort.isEmpty else { return objects }
        let order = order
        return try UndefinedKeys.throwing {
            try objects.enumerated().sorted { first, second in
                let result = try order(first.element, second.element)
                guard result == .orderedSame else { return result == .orderedAscending }
                return first.offset < second.offset
            }.map(\.element)
        }
    }

    /// How the sort descriptors order two objects. Used within `UndefinedKeys.throwing`.
    var order: (NSManagedObject, NSManagedObject) throws -> ComparisonResult {
        let orders = sort.map(Self.order)
        return { first, second in
            for order in orders {
                let result = try order(first, second)
                if result != .orderedSame { return result }
            }
            return .orderedSame
        }
    }

    private static func order(
        of descriptor: NSSortDescriptor
    ) -> (NSManagedObject, NSManagedObject) throws -> ComparisonResult {
        if let key = key(of: descriptor), key.comparison != .custom {
            return { try key.order($0, $1) }
        }
        return { descriptor.compare($0, to: $1) }
    }
}

extension PredicateNode {
    /// The same with the coordinator's own IDs for those of other coordinators of its files.
    fileprivate func naming(rowsIn coordinator: NSPersistentStoreCoordinator) -> PredicateNode {
        func replacement(_ constant: Any?) -> NSManagedObjectID? {
            guard
                let id = (constant as? NSManagedObject)?.objectID ?? constant as? NSManagedObjectID,
                let own = coordinator.ownID(of: id), own !== id
            else { return nil }
            return own
        }
        // Only then: what is mapped has arrays for sets, which are slower to look through.
        var isForeign = false
        _ = mapConstants { constant in
            isForeign = isForeign || replacement(constant) != nil
            return constant
        }
        return isForeign ? mapConstants { replacement($0) ?? $0 } : self
    }
}
