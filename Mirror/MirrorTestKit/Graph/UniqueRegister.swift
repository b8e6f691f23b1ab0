internal import ObjectModel
internal import SQLiteStore
internal import Stores

/// Knows the unique keys of a store and of rows that are still to be written.
struct UniqueRegister {
    /// A uniqueness constraint, where it is declared, and its properties.
    struct Constraint: Hashable {
        var entity: String
        var properties: [String]
    }

    private let store: StoreTransaction
    private let constraints: [Int32: [Constraint]]
    private var taken: [Constraint: Set<[AttributeValue]>] = [:]

    init(store: StoreTransaction) {
        self.store = store
        constraints = Dictionary(
            store.layout.entities.map { ($0.number, Self.constraints(of: $0)) },
            uniquingKeysWith: { one, _ in one })
    }

    private static func constraints(of entity: EntityLayout) -> [Constraint] {
        var found: [Constraint] = []
        var current: NSEntityDescription? = entity.entity
        while let declaring = current {
            found += declaring.uniquenessConstraintNames.filter { !$0.isEmpty }.map {
                Constraint(entity: declaring.name ?? "", properties: $0)
            }
            current = declaring.superentity
        }
        return found
    }

    /// The constraints that rows of the entity must keep, inherited ones included.
    func constraints(of entity: Int32) -> [Constraint] { constraints[entity] ?? [] }

    /// The first constraint whose key another row has; where there is none, the row's keys are
    /// taken.
    mutating func claim(_ row: Row) throws -> Constraint? {
        let own = constraints(of: row.id.entity)
        guard !own.isEmpty, let layout = store.layout.entity(row.id.entity) else { return nil }
        var keys: [(Constraint, [AttributeValue])] = []
        for constraint in own {
            guard let key = Self.key(of: row, layout, constraint) else { continue }
            if taken[constraint]?.contains(key) == true { return constraint }
            let declaring = store.layout.entity(named: constraint.entity)?.number
            let holder = try store.holder(
                of: constraint.properties, values: key, in: declaring ?? row.id.entity)
            if holder != nil { return constraint }
            keys.append((constraint, key))
        }
        for (constraint, key) in keys { taken[constraint, default: []].insert(key) }
        return nil
    }

    /// The row's values for a constraint; nil when one is null, since then it holds no key.
    private static func key(
        of row: Row, _ layout: EntityLayout, _ constraint: Constraint
    ) -> [AttributeValue]? {
        var key: [AttributeValue] = []
        for property in constraint.properties {
            if let slot = layout.attributeSlot(property), !row.attributes[slot].isNull {
                key.append(row.attributes[slot])
            } else if let slot = layout.toOneSlot(property), let link = row.toOnes[slot] {
                key.append(.integer(link.target.key))
            } else {
                return nil
            }
        }
        return key
    }
}
