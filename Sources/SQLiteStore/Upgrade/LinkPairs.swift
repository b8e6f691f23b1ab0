internal import ObjectModel
internal import Stores

/// The links of one relationship of the old schema, as SQL: `o` is the owner's key, `m` the
/// member's, `ord` the member's place among the owner's, `inv` the owner's among the member's.
struct LinkPairs {
    let sql: String
    /// The old entities at the ends.
    let owner: Int32
    let member: Int32
    /// The old entities that, with all that inherit from them, may be at the ends.
    let ends: (owner: NSEntityDescription, member: NSEntityDescription)
    /// The old table of the members where a column of it names the owner, with the columns.
    private(set) var memberTable: String?
    private(set) var ownerColumn: String?
    private(set) var orderColumn: String?
    /// The join table, where there is one.
    private(set) var join: JoinSide?

    /// Whether each pair comes with the member's place.
    var hasOrder: Bool { orderColumn != nil || join?.order != nil }

    var reversed: (sql: String, owner: Int32, member: Int32) {
        ("SELECT m AS o, o AS m, inv AS ord, ord AS inv FROM (\(sql))", member, owner)
    }

    /// Nil where the old store does not hold the links.
    init?(of relationship: NSRelationshipDescription, in move: EntityMove, plan: UpgradePlan) {
        let columns = move.oldColumns
        guard let end = relationship.destinationEntity else { return nil }
        owner = move.old.number
        if let slot = move.old.toOneSlot(relationship.name) {
            let link = columns.toOnes[slot]
            guard plan.old.layout.entity(link.destination) != nil else { return nil }
            member = link.destination
            ends = (move.old.entity, end)
            let condition = columns.condition.map { " AND \($0)" } ?? ""
            sql =
                "SELECT Z_PK AS o, \(link.key) AS m, NULL AS ord, \(link.order ?? "NULL") AS inv "
                + "FROM \(plan.former(columns.table)) WHERE \(link.key) NOT NULL\(condition)"
            return
        }
        guard let slot = move.old.toManySlot(relationship.name) else { return nil }
        ends = (relationship.entity, end)
        switch columns.toManys[slot] {
        case .inverse(let members), .owned(let members):
            member = members.member
            memberTable = members.table
            ownerColumn = members.key
            orderColumn = members.order
            sql =
                "SELECT \(members.key) AS o, Z_PK AS m, \(members.order ?? "NULL") AS ord, "
                + "NULL AS inv FROM \(plan.former(members.table)) WHERE \(members.key) NOT NULL"
        case .join(let side):
            member = side.destination
            join = side
            sql =
                "SELECT \(side.owner) AS o, \(side.member) AS m, \(side.order ?? "NULL") AS ord, "
                + "\(side.inverseOrder ?? "NULL") AS inv FROM \(plan.former(side.table))"
        case .absent: return nil
        }
    }

    /// The links of the inverse of `relationship`, which itself is new to the rows of `move`, of
    /// each entity that has the inverse; none where it could not lead to them before.
    static func allReversed(
        of relationship: NSRelationshipDescription, in move: EntityMove, plan: UpgradePlan
    ) -> [LinkPairs] {
        guard let inverse = relationship.inverseRelationship else { return [] }
        return matched(inverse, plan: plan).filter { pairs in
            guard let end = plan.old.layout.entity(pairs.member)?.entity else { return false }
            return move.old.entity.isKindOf(entity: end)
        }
    }

    /// What the links of a new relationship of `owner` come from: its own former links, else its
    /// inverse's, the other way round.
    static func all(
        of relationship: NSRelationshipDescription, _ owner: EntityLayout, plan: UpgradePlan
    ) -> [LinkPairs] {
        let own = matched(relationship, plan: plan)
        if !own.isEmpty { return own }
        guard let inverse = relationship.inverseRelationship else { return [] }
        return matched(inverse, plan: plan).map { pairs in
            LinkPairs(
                sql: pairs.reversed.sql, owner: pairs.member, member: pairs.owner,
                ends: (pairs.ends.member, pairs.ends.owner))
        }
    }

    private init(
        sql: String, owner: Int32, member: Int32,
        ends: (owner: NSEntityDescription, member: NSEntityDescription)
    ) {
        self.sql = sql
        self.owner = owner
        self.member = member
        self.ends = ends
    }

    /// The former links of a relationship, wherever in the tree they were declared.
    private static func matched(
        _ relationship: NSRelationshipDescription, plan: UpgradePlan
    ) -> [LinkPairs] {
        var seen: Set<String> = []
        return plan.moves.compactMap { move in
            let match = move.match.relationships.first { $0.destination === relationship }
            guard let former = match?.source,
                let pairs = LinkPairs(of: former, in: move, plan: plan)
            else { return nil }
            return seen.insert(pairs.sql).inserted ? pairs : nil
        }
    }
}
