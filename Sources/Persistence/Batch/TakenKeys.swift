internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// Who has which unique value of one constraint, among the rows that a batch insertion meets. A key
/// with a missing part is never taken.
struct TakenKeys {
    private let rowStore: any RowStore
    /// The entity that declares the constraint.
    private let declaring: EntityLayout
    private let names: [String]
    private let inserted: EntityLayout
    /// The names' slots in the inserted entity.
    private let slots: [Int]
    private var holders: [[AttributeValue]: RowID] = [:]

    /// The constraints that rows of an entity are under. Those with relationships cannot be broken
    /// by rows that have none.
    static func all(of layout: EntityLayout, in rowStore: any RowStore) -> [TakenKeys] {
        var keys: [TakenKeys] = []
        var entity: NSEntityDescription? = layout.entity
        while let here = entity {
            entity = here.superentity
            guard let declaring = rowStore.layout.entity(named: here.name ?? "") else { continue }
            for constraint in here.uniquenessConstraints {
                let names = constraint.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
                let slots = names.compactMap(layout.attributeSlot)
                guard slots.count == names.count, !names.isEmpty else { continue }
                keys.append(
                    TakenKeys(
                        rowStore: rowStore, declaring: declaring, names: names, inserted: layout,
                        slots: slots))
            }
        }
        return keys
    }

    func holder(of row: Row) -> RowID? { key(of: row).flatMap { holders[$0] } }

    mutating func take(_ row: Row) {
        if let key = key(of: row) { holders[key] = row.id }
    }

    /// A row gets other values: it holds their key, and its former one no more.
    mutating func move(_ former: Row, to row: Row) {
        if let key = key(of: former), holders[key] == former.id { holders[key] = nil }
        take(row)
    }

    /// Reads the rows that have the keys of rows to be inserted.
    mutating func findHolders(of rows: [Row]) throws -> [Row] {
        let wanted = rows.compactMap(key)
        guard !wanted.isEmpty else { return [] }
        var query = RowQuery(entity: declaring.number)
        let tests = names.enumerated().map { place, name in
            let constants = Set(wanted.map { $0[place] }).map { value -> Any? in
                declaring.attributeSlot(name).flatMap { slot in
                    AttributeCoding.present(value, for: declaring.attributes[slot].attribute)
                }
            }
            return PredicateNode.comparison(
                ComparisonNode(left: .keyPath([name]), operator: .in, right: .constant(constants)))
        }
        query.predicate = .and(tests)
        let found = try rowStore.rows(matching: query)
        for row in found { take(row) }
        return found
    }

    private func key(of row: Row) -> [AttributeValue]? {
        let key = slots(of: row).map { row.attributes[$0] }
        return key.count < names.count || key.contains(.null) ? nil : key
    }

    private func slots(of row: Row) -> [Int] {
        guard row.id.entity != inserted.number else { return slots }
        guard let own = rowStore.layout.entity(row.id.entity) else { return [] }
        return names.compactMap(own.attributeSlot)
    }
}
