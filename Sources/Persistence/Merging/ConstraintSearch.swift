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

    /// One part of a unique key.
    private enum Part: Hashable {
        case value(AttributeValue)
        case row(RowID)
        case nothing
    }

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
    private func claims() -> [[Part]: [NSManagedObject]] {
        var claims: [[Part]: [NSManagedObject]] = [:]
        for object in context.pending.objects
        where object.isPending && !object.isDeleted
            && object.objectID.persistentStore === store
            && object.entity.isKindOf(entity: layout.entity)
        {
            let key = names.compactMap { part($0, of: object) }
            guard key.count == names.count, !key.contains(.nothing) else { continue }
            claims[key, default: []].append(object)
        }
        return claims
    }

    private func part(_ name: String, of object: NSManagedObject) -> Part? {
        switch object.shape.slot(name) {
        case .attribute(let slot):
            let value = object.attributes[slot]
            return value.isNull ? .nothing : .value(value)
        case .toOne(let slot): return object.toOnes[slot]?.reservedRow.map(Part.row) ?? .nothing
        default: return nil
        }
    }

    private func part(_ name: String, of row: Row, _ own: EntityLayout) -> Part? {
        if let slot = own.attributeSlot(name) { return .value(row.attributes[slot]) }
        guard let slot = own.toOneSlot(name) else { return nil }
        return row.toOnes[slot].map { .row($0.target) } ?? .nothing
    }

    /// The stored rows with those values, without those that the save itself takes them from, or
    /// writes them to.
    private func holders(
        of claims: [[Part]: [NSManagedObject]]
    ) throws -> [[Part]: RowID] {
        var query = RowQuery(entity: layout.number)
        let parts = names.enumerated().map { index, name in
            let values = Set(claims.keys.map { $0[index] })
            let attribute = layout.attributeSlot(name).map { layout.attributes[$0].attribute }
            let constants = values.map { part -> Any? in
                switch part {
                case .value(let value):
                    attribute.flatMap { AttributeCoding.present(value, for: $0) }
                case .row(let row): row
                case .nothing: nil
                }
            }
            return PredicateNode.comparison(
                ComparisonNode(left: .keyPath([name]), operator: .in, right: .constant(constants)))
        }
        query.predicate = .and(parts)
        // The rows of new objects are not there yet, whatever keys were reserved for them.
        let stored = context.pending.objects.lazy.filter { $0.isPending && !$0.isInserted }
        let written = Dictionary(
            stored.compactMap { object in (object.identity?.reservedRow).map { ($0, object) } },
            uniquingKeysWith: { first, _ in first })
        var holders: [[Part]: RowID] = [:]
        for row in try store.rowStore.rows(matching: query) {
            guard let own = store.rowStore.layout.entity(row.id.entity) else { continue }
            let key = names.compactMap { part($0, of: row, own) }
            if let object = written[row.id], !leaves(key, to: object) { continue }
            holders[key] = row.id
        }
        return holders
    }

    /// Whether the row of an object that is written has the key afterwards, without its knowledge:
    /// another context gave it the key since the object was read, and the save changes other
    /// things.
    private func leaves(_ key: [Part], to object: NSManagedObject) -> Bool {
        guard !object.isDeleted, names.compactMap({ part($0, of: object) }) != key else {
            return false
        }
        return !object.changedSlots().contains { names.contains($0.0) }
    }
}
