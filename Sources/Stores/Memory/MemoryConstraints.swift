internal import ObjectModel

/// Who holds which unique key. A key with an empty value is never taken, as in SQL.
struct MemoryConstraints {
    private enum Slot {
        case attribute(Int)
        case toOne(Int)
    }

    private struct Constraint {
        var entity: String
        var names: [String]
        /// Slots of the names, for each entity of the family.
        var slots: [Int32: [Slot]] = [:]
        var holders: [[AttributeValue]: RowID] = [:]

        /// The value of each name; of a to-one it is the key of the row pointed at.
        func key(of row: Row) -> [AttributeValue]? {
            guard let slots = slots[row.id.entity] else { return nil }
            let key = slots.map { slot -> AttributeValue in
                switch slot {
                case .attribute(let place): row.attributes[place]
                case .toOne(let place): row.toOnes[place].map { .integer($0.target.key) } ?? .null
                }
            }
            return key.contains(.null) ? nil : key
        }
    }

    private var constraints: [Constraint] = []

    init(layout: ModelLayout) {
        for entity in layout.entities {
            for names in entity.entity.uniquenessConstraints {
                var constraint = Constraint(
                    entity: entity.name,
                    names: names.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" })
                for number in layout.family(of: entity) {
                    let slots = constraint.names.compactMap { name -> Slot? in
                        guard let entity = layout.entity(number) else { return nil }
                        return entity.attributeSlot(name).map { .attribute($0) }
                            ?? entity.toOneSlot(name).map { .toOne($0) }
                    }
                    if slots.count == names.count { constraint.slots[number] = slots }
                }
                constraints.append(constraint)
            }
        }
    }

    /// Throws `UniquenessViolation` when `rows` could not stand beside what stays in the store.
    func check(writing rows: [Row], deleting: [Row], former: (RowID) -> Row?) throws {
        guard !constraints.isEmpty else { return }
        for constraint in constraints {
            var freed = Set<RowID>(deleting.map(\.id))
            for row in rows {
                if let old = former(row.id), constraint.key(of: old) != constraint.key(of: row) {
                    freed.insert(row.id)
                }
            }
            var claims: [[AttributeValue]: RowID] = [:]
            for row in rows {
                guard let key = constraint.key(of: row) else { continue }
                let holder =
                    claims.updateValue(row.id, forKey: key)
                    ?? constraint.holders[key].flatMap { freed.contains($0) ? nil : $0 }
                guard holder == nil || holder == row.id else {
                    throw UniquenessViolation(
                        entity: constraint.entity, constraint: constraint.names, id: row.id,
                        holder: holder)
                }
            }
        }
    }

    mutating func replace(_ former: Row?, with row: Row?) {
        for index in constraints.indices {
            if let former, let key = constraints[index].key(of: former),
                constraints[index].holders[key] == former.id
            {
                constraints[index].holders[key] = nil
            }
            if let row, let key = constraints[index].key(of: row) {
                constraints[index].holders[key] = row.id
            }
        }
    }
}
