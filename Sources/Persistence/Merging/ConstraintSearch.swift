internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// Finds all objects of a save that want a unique value somebody has, once a store has refused one.
struct ConstraintSearch {
    let context: NSManagedObjectContext
    let store: NSPersistentStore
    let layout: EntityLayout
    let names: [String]

    /// One conflict for each value that is wanted twice.
    func conflicts() throws -> [NSConstraintConflict] {
        let claims = claims()
        guard !claims.isEmpty else { return [] }
        let holders = try holders(of: claims)
        var conflicts: [NSConstraintConflict] = []
        for (key, claimants) in claims {
            let holder = holders[key].map { context.object(with: store.id(for: $0)) }
            guard holder != nil || claimants.count > 1 else { continue }
            holder?.willAccessValue(forKey: nil)
            conflicts.append(
                NSConstraintConflict(
                    constraint: names, database: holder,
                    databaseSnapshot: holder.flatMap { holder in holder.snapshot.map(holder.values)
                    },
                    conflicting: claimants, conflictingSnapshots: []))
        }
        return conflicts
    }

    /// The objects to be written, by their values; values with an empty part are free.
    private func claims() -> [[AttributeValue]: [NSManagedObject]] {
        var claims: [[AttributeValue]: [NSManagedObject]] = [:]
        for object in context.pending.objects
        where object.isPending && !object.isDeleted
            && object.objectID.persistentStore === store
            && object.entity.isKindOf(entity: layout.entity)
        {
            let slots = names.compactMap { object.shape.layout.attributeSlot($0) }
            let key = slots.map { object.attributes[$0] }
            guard key.count == names.count, !key.contains(.null) else { continue }
            claims[key, default: []].append(object)
        }
        return claims
    }

    /// The stored rows with those values, without those the save itself rewrites or deletes.
    private func holders(
        of claims: [[AttributeValue]: [NSManagedObject]]
    ) throws -> [[AttributeValue]: RowID] {
        var query = RowQuery(entity: layout.number)
        let parts = names.enumerated().map { index, name in
            let values = Set(claims.keys.map { $0[index] })
            let attribute = layout.attributeSlot(name).map { layout.attributes[$0].attribute }
            let constants = values.map { value in
                attribute.flatMap { AttributeCoding.present(value, for: $0) }
            }
            return PredicateNode.comparison(
                ComparisonNode(left: .keyPath([name]), operator: .in, right: .constant(constants)))
        }
        query.predicate = .and(parts)
        let rewritten = Set(context.pending.objects.compactMap { $0.identity?.reservedRow })
        var holders: [[AttributeValue]: RowID] = [:]
        for row in try store.rowStore.rows(matching: query) where !rewritten.contains(row.id) {
            guard let own = store.rowStore.layout.entity(row.id.entity) else { continue }
            holders[names.compactMap { own.attributeSlot($0) }.map { row.attributes[$0] }] = row.id
        }
        return holders
    }
}
