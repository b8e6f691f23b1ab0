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
        guard let target = link.destinationTable, let end = relationship.destinationEntity else {
            return
        }
        if former?.isToMany ?? (relationship.inverseRelationship != nil),
            let companion = link.companion
        {
            try connection.run(
                "UPDATE \(table) SET \(companion) = "
                    + "(SELECT t.Z_ENT FROM \(target) AS t WHERE t.Z_PK = \(table).\(link.key)) "
                    + "WHERE Z_ENT = \(move.new.number) AND \(link.key) NOT NULL")
        }
        let isWhole =
            former.map { plan.leadsWhole($0, relationship) }
            ?? LinkPairs.allReversed(of: relationship, in: move, plan: plan)
            .allSatisfy { plan.remains($0.ends.owner, within: end) }
        if !isWhole {
            let row = row(of: end, target, key: "\(table).\(link.key)")
            try clear(link, in: move, where: "NOT EXISTS (\(row))")
        }
        guard let former else { return }
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

    /// The row of an entity's family that has a key. Some tables of one entity have no numbers.
    private func row(of entity: NSEntityDescription, _ table: String, key: String) -> String {
        let family = plan.new.layout.members.filter { $0.entity.isKindOf(entity: entity) }
            .map(\.number)
        let found = "SELECT 1 FROM \(table) AS t WHERE t.Z_PK = \(key)"
        if family.count == 1, plan.new.columns(of: family[0])?.condition == nil { return found }
        return "\(found) AND t.Z_ENT IN (\(family.map(String.init).joined(separator: ", ")))"
    }

    // MARK: To-manys

    private func settle(_ join: NewJoin) throws {
        guard let owner = plan.new.columns(of: join.owner.number),
            let end = join.relationship.destinationEntity
        else { return }
        let (side, start) = (join.side, join.relationship.entity)
        let isWhole = join.pairs.allSatisfy {
            plan.remains($0.ends.owner, within: start) && plan.remains($0.ends.member, within: end)
        }
        if isWhole, plan.mapping.removed.isEmpty { return }
        for (column, entity, table) in [
            (side.owner, start, owner.table), (side.member, end, side.destinationTable),
        ] {
            let row = row(of: entity, table, key: "\(side.table).\(column)")
            try connection.run("DELETE FROM \(side.table) WHERE NOT EXISTS (\(row))")
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
            try clear(members, of: entity, relationship, pairs)
            if isFresh { try number(members, pairs: pairs) }
        case .join(let side):
            guard isFresh, let order = side.order, !pairs.isEmpty else { return }
            try number(side.table, "rowid", owner: side.owner, by: side.member, order)
        case .absent: break
        }
    }

    /// Lets members go whose owner is gone, or has no such relationship any more.
    private func clear(
        _ members: MemberColumns, of entity: EntityLayout,
        _ relationship: NSRelationshipDescription, _ pairs: [LinkPairs]
    ) throws {
        let isWhole = pairs.allSatisfy {
            plan.remains($0.ends.owner, within: relationship.entity)
        }
        guard !isWhole || !plan.mapping.removed.isEmpty,
            !plan.isInherited(relationship, by: entity),
            let owner = plan.new.columns(of: entity.number)
        else { return }
        let cleared = [members.key, members.order].compactMap { $0.map { "\($0) = NULL" } }
        let row = row(of: relationship.entity, owner.table, key: "\(members.table).\(members.key)")
        try connection.run(
            "UPDATE \(members.table) SET \(cleared.joined(separator: ", ")) "
                + "WHERE \(members.key) NOT NULL AND NOT EXISTS (\(row))")
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
