internal import ObjectModel
internal import Stores

/// One end of a many-to-many relationship.
private struct JoinEnd {
    var relationship: NSRelationshipDescription
    var entity: EntityLayout
}

extension SchemaBuilder {
    /// Makes the join tables of all many-to-many relationships, each once.
    mutating func buildJoins() {
        var done: Set<ObjectIdentifier> = []
        var tables = NameRegister(taken: Set(trees.map { tableName(of: $0[0]) }))
        let pairs = joinPairs().filter { pair in
            guard done.insert(ObjectIdentifier(pair.0.relationship)).inserted else { return false }
            done.insert(ObjectIdentifier(pair.1.relationship))
            return true
        }
        let columns = joinColumns(of: pairs)
        for (place, pair) in pairs.enumerated() {
            build(naming: pair.0, other: pair.1, columns: columns[place], tables: &tables)
        }
    }

    /// The key columns of each pair's table. Where several tables ask for one name, they get it,
    /// and the numbers after it, in the order of the entities at the other ends, by name: 13 of 14
    /// such names of real files are told apart so.
    private func joinColumns(of pairs: [(JoinEnd, JoinEnd)]) -> [(first: String, second: String)] {
        var claims: [(base: String, other: String, place: Int, isFirst: Bool)] = []
        for (place, (naming, other)) in pairs.enumerated() {
            let (here, there) = (naming.entity, other.entity)
            claims.append(
                (
                    "Z_\(here.number)\(other.relationship.name.uppercased())", there.name, place,
                    true
                ))
            guard naming.relationship !== other.relationship else { continue }
            claims.append(
                (
                    "Z_\(there.number)\(naming.relationship.name.uppercased())", here.name, place,
                    false
                ))
        }
        var register = NameRegister()
        var columns = pairs.map { _ in (first: "", second: "REFLEXIVE") }
        let order: (String, String) -> Bool = EntityNumbering.precedes
        for claim in claims.enumerated().sorted(by: {
            order($0.element.other, $1.element.other)
                || !order($1.element.other, $0.element.other) && $0.offset < $1.offset
        }).map(\.element) {
            let name = register.claim(claim.base)
            if claim.isFirst {
                columns[claim.place].first = name
            } else {
                columns[claim.place].second = name
            }
        }
        return columns
    }

    /// The pairs in the order of their tables, the naming end first.
    private func joinPairs() -> [(JoinEnd, JoinEnd)] {
        layout.entities.flatMap { entity -> [(JoinEnd, JoinEnd)] in
            let isOwn = ownNames(of: entity)
            return entity.toManys.compactMap { relationship in
                guard isOwn(relationship.name), let inverse = relationship.inverseRelationship,
                    inverse.isToMany, let destination = destination(of: relationship)
                else { return nil }
                let here = JoinEnd(relationship: relationship, entity: entity)
                let there = JoinEnd(
                    relationship: inverse, entity: declaring(inverse.name, seenFrom: destination))
                return names(here, before: there) ? (here, there) : nil
            }
        }
    }

    /// Whether the join table is named by `left`: the end that has subentities, else the lower
    /// number. Within one entity Apple's choice is not stable between versions of one model; the
    /// ordered end and then the later name are what most files show (docs/FORMAT.md, section 5).
    private func names(_ left: JoinEnd, before right: JoinEnd) -> Bool {
        if left.entity.number != right.entity.number {
            let (first, second) = (hasSubentities(left.entity), hasSubentities(right.entity))
            return first == second ? left.entity.number < right.entity.number : first
        }
        if left.relationship.isOrdered != right.relationship.isOrdered {
            return left.relationship.isOrdered
        }
        let (first, second) = (left.relationship.name, right.relationship.name)
        return !first.utf8.lexicographicallyPrecedes(second.utf8)
    }

    private mutating func build(
        naming: JoinEnd, other: JoinEnd, columns: (first: String, second: String),
        tables: inout NameRegister
    ) {
        let isReflexive = naming.relationship === other.relationship
        let name = "Z_\(naming.entity.number)\(naming.relationship.name.uppercased())"
        let (first, second) = columns
        // The key in a column named after an end belongs to that end's members.
        let secondOrder =
            naming.relationship.isOrdered ? Self.orderColumn(for: second) : nil
        let firstOrder =
            other.relationship.isOrdered && !isReflexive ? Self.orderColumn(for: first) : nil
        let side = JoinSide(
            table: tables.claim(name), owner: first, member: second, order: secondOrder,
            inverseOrder: firstOrder, destination: other.entity.number,
            destinationTable: tableName(of: other.entity), isReflexive: isReflexive)
        add(side, naming: naming, other: other)
    }

    private mutating func add(_ side: JoinSide, naming: JoinEnd, other: JoinEnd) {
        joins[naming.entity.number, default: [:]][naming.relationship.name] = side
        if !side.isReflexive {
            joins[other.entity.number, default: [:]][other.relationship.name] = side.reversed(
                to: naming.entity.number, table: tableName(of: naming.entity))
        }
        let columns = [side.owner, side.member, side.inverseOrder, side.order].compactMap { $0 }
        joinTables[naming.entity.number, default: []].append(
            TableSchema(
                name: side.table, columns: columns.map { .init(name: $0, type: "INTEGER") },
                primaryKey: [side.owner, side.member]))
    }

    private static func orderColumn(for column: String) -> String {
        column.hasPrefix("Z_") ? "Z_FOK_\(column.dropFirst(2))" : "Z_FOK_\(column)"
    }
}

extension JoinSide {
    /// The same table seen from the other end.
    func reversed(to destination: Int32, table destinationTable: String) -> JoinSide {
        var other = self
        (other.owner, other.member) = (member, owner)
        (other.order, other.inverseOrder) = (inverseOrder, order)
        (other.destination, other.destinationTable) = (destination, destinationTable)
        return other
    }
}
