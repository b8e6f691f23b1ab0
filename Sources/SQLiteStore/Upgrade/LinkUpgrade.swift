internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Settles links after all rows have their place: takes away those that lead nowhere any more, and
/// gives places to members of relationships that became ordered.
struct LinkUpgrade {
    let plan: UpgradePlan
    let connection: Connection

    func run(_ joins: [NewJoin]) throws {
        for move in plan.moves {
            for (relationship, link) in zip(move.new.toOnes, move.newColumns.toOnes) {
                try settle(relationship, link, in: move)
            }
        }
        for join in joins { try settle(join) }
        for entity in plan.new.layout.entities {
            guard let columns = plan.new.columns(of: entity.number) else { continue }
            for (relationship, place) in zip(entity.toManys, columns.toManys) {
                try settle(relationship, place, of: entity)
            }
        }
    }

    // MARK: To-ones

    private func settle(
        _ relationship: NSRelationshipDescription, _ link: LinkColumns, in move: EntityMove
    ) throws {
        let table = move.newColumns.table
        let former = move.match.relationships.first { $0.destination === relationship }?.source
        guard let target = link.destinationTable else { return }
        if former?.isToMany ?? (relationship.inverseRelationship != nil),
            let companion = link.companion
        {
            try connection.run(
                "UPDATE \(table) SET \(companion) = "
                    + "(SELECT t.Z_ENT FROM \(target) AS t WHERE t.Z_PK = \(table).\(link.key)) "
                    + "WHERE Z_ENT = \(move.new.number) AND \(link.key) NOT NULL")
        }
        guard let former else { return }
        if !plan.leadsWhole(former, relationship) {
            let end = row(of: link.destination, target, key: "\(table).\(link.key)")
            try clear(link, in: move, where: "NOT EXISTS (\(end))")
        }
        try settleOneToOne(relationship, link, former, in: move)
    }

    private func clear(
        _ link: LinkColumns, in move: EntityMove, where condition: String
    ) throws {
        let cleared = [link.key, link.companion, link.order].compactMap { $0 }
            .map { "\($0) = NULL" }.joined(separator: ", ")
        try connection.run(
            "UPDATE \(move.newColumns.table) SET \(cleared) WHERE Z_ENT = \(move.new.number) "
                + "AND \(link.key) NOT NULL AND \(condition)")
    }

    /// Where several led to one that knows a single one now, only that one does still.
    private func settleOneToOne(
        _ relationship: NSRelationshipDescription, _ link: LinkColumns,
        _ former: NSRelationshipDescription, in move: EntityMove
    ) throws {
        guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
            former.isToMany || former.inverseRelationship?.isToMany ?? true,
            let target = link.destinationTable,
            let end = plan.new.layout.entity(link.destination),
            let slot = end.toOneSlot(inverse.name),
            let back = plan.new.columns(of: end.number)?.toOnes[slot].key
        else { return }
        let table = move.newColumns.table
        try clear(
            link, in: move,
            where: "NOT EXISTS (SELECT 1 FROM \(target) AS t WHERE t.Z_PK = \(table).\(link.key) "
                + "AND t.\(back) = \(table).Z_PK)")
    }

    /// The row of an entity's family that has a key.
    private func row(of entity: Int32, _ table: String, key: String) -> String {
        let family = plan.new.layout.entity(entity).map { plan.new.layout.family(of: $0) } ?? []
        let list = family.map { "\($0)" }.joined(separator: ", ")
        return "SELECT 1 FROM \(table) AS t WHERE t.Z_PK = \(key) AND t.Z_ENT IN (\(list))"
    }

    // MARK: To-manys

    private func settle(_ join: NewJoin) throws {
        guard !plan.mapping.removed.isEmpty,
            let owner = plan.new.columns(of: join.owner.number)
        else { return }
        let side = join.side
        for (column, table) in [
            (side.owner, owner.table), (side.member, side.destinationTable),
        ] {
            try connection.run(
                "DELETE FROM \(side.table) WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(table) AS t WHERE t.Z_PK = \(side.table).\(column))")
        }
    }

    private func settle(
        _ relationship: NSRelationshipDescription, _ place: ToManyPlace, of entity: EntityLayout
    ) throws {
        let pairs = LinkPairs.all(of: relationship, entity, plan: plan)
        let isFresh = relationship.isOrdered && !pairs.contains(where: \.hasOrder)
        switch place {
        case .inverse(let members):
            if isFresh { try number(members, pairs: pairs) }
        case .owned(let members):
            if !plan.mapping.removed.isEmpty, let owner = plan.new.columns(of: entity.number) {
                try connection.run(
                    "UPDATE \(members.table) SET \(members.key) = NULL WHERE \(members.key) "
                        + "NOT NULL AND NOT EXISTS (SELECT 1 FROM \(owner.table) AS t "
                        + "WHERE t.Z_PK = \(members.table).\(members.key))")
            }
            if isFresh { try number(members, pairs: pairs) }
        case .join(let side):
            guard isFresh, let order = side.order, !pairs.isEmpty else { return }
            try number(side.table, "rowid", owner: side.owner, by: side.member, order)
        case .absent: break
        }
    }

    private func number(_ members: MemberColumns, pairs: [LinkPairs]) throws {
        guard let order = members.order, !pairs.isEmpty else { return }
        try number(members.table, "Z_PK", owner: members.key, by: "Z_PK", order)
    }

    /// Gives members the places that a new store would give them, in the order of their keys.
    private func number(
        _ table: String, _ key: String, owner: String, by member: String, _ order: String
    ) throws {
        try connection.run(
            "UPDATE \(table) SET \(order) = x.n FROM (SELECT \(key) AS k, "
                + "\(OrderKeys.first - OrderKeys.step) + \(OrderKeys.step) * row_number() "
                + "OVER (PARTITION BY \(owner) ORDER BY \(member)) AS n FROM \(table) "
                + "WHERE \(owner) NOT NULL) AS x "
                + "WHERE \(table).\(key) = x.k AND \(table).\(order) IS NULL")
    }
}
