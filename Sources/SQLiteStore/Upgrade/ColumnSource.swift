internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Where the values of a column of a new table come from, for the rows of one entity.
enum ColumnSource {
    case null
    /// A column of the old table.
    case column(String)
    /// A column of the old table, and a value where it has none.
    case columnOr(String, SQLiteValue)
    case value(SQLiteValue)
    /// SQL over a row of the old table.
    case expression(String)

    /// The column of the old table that the values stand in as they are; nil for others.
    var column: String? {
        switch self {
        case .column(let name), .columnOr(let name, _): name
        case .null, .value, .expression: nil
        }
    }

    /// The SQL and the values to bind.
    var sql: (text: String, values: [SQLiteValue]) {
        switch self {
        case .null: ("NULL", [])
        case .column(let name): (name, [])
        case .columnOr(let name, let value): ("IFNULL(\(name), ?)", [value])
        case .value(let value): ("?", [value])
        case .expression(let text): (text, [])
        }
    }
}

extension UpgradePlan {
    /// The columns that the rows of an entity have in their new table, besides those every row has.
    func sources(of move: EntityMove) -> [(column: String, source: ColumnSource)] {
        var sources: [(String, ColumnSource)] = []
        for (slot, attribute) in move.new.attributes.enumerated() {
            let column = move.newColumns.attributes[slot]
            sources.append((column.name, source(of: attribute, column, in: move)))
        }
        for (slot, relationship) in move.new.toOnes.enumerated() {
            sources += linkSources(of: relationship, move.newColumns.toOnes[slot], in: move)
        }
        return sources + ownedSources(of: move)
    }

    // MARK: Attributes

    private func source(
        of slot: EntityLayout.AttributeSlot, _ column: AttributeColumn, in move: EntityMove
    ) -> ColumnSource {
        if slot.attribute is NSDerivedAttributeDescription {
            // It is computed from the new rows; where nobody can, it stays what it was.
            guard let former = formerSlot(of: slot.name, in: move),
                move.oldColumns.attributes[former].kind == column.kind
            else { return .null }
            return .column(move.oldColumns.attributes[former].name)
        }
        let given = ValueCoding.encode(defaults(slot.attribute), as: column.kind) ?? .null
        guard let former = formerSlot(of: slot.name, in: move) else {
            return given.isNull ? .null : .value(given)
        }
        let old = move.oldColumns.attributes[former]
        if let conversion = Self.conversion(from: old.kind, to: column.kind) {
            return .expression("\(conversion)(\(old.name))")
        }
        let wasOptional = move.old.attributes[former].attribute.isOptional
        let isFilled = !slot.attribute.isOptional && wasOptional && !given.isNull
        return isFilled ? .columnOr(old.name, given) : .column(old.name)
    }

    /// The function that turns a value of one kind into one of the other, where it needs one.
    private static func conversion(from old: ColumnKind, to new: ColumnKind) -> String? {
        switch (old, new) {
        case (.binary(external: true), .binary(external: false)): ExternalFunctions.value
        case (.binary(external: false), .binary(external: true)): UpgradeFunctions.marked
        default: nil
        }
    }

    // MARK: Links

    private func linkSources(
        of relationship: NSRelationshipDescription, _ link: LinkColumns, in move: EntityMove
    ) -> [(String, ColumnSource)] {
        var sources: [(String, ColumnSource)] = [(link.key, .null)]
        if let companion = link.companion { sources.append((companion, .null)) }
        if let order = link.order { sources.append((order, .null)) }
        let match = move.match.relationships.first { $0.destination === relationship }
        guard let former = match?.source else {
            let finds = LinkPairs.allReversed(of: relationship, in: move, plan: self).map {
                "SELECT \(key("o", from: $0.owner, to: link.destination)) AS o FROM (\($0.sql)) "
                    + "WHERE m = s.Z_PK\(staying("o", $0.owner, $0.ends.owner, relationship))"
            }
            if !finds.isEmpty { sources[0].1 = first(of: finds) }
            return sources
        }
        guard let slot = move.old.toOneSlot(former.name) else {
            if let pairs = LinkPairs(of: former, in: move, plan: self) {
                // Of several members the first stays: by its place, else by its key.
                let only = staying("m", pairs.member, pairs.ends.member, relationship)
                let found =
                    "(SELECT m FROM (\(pairs.sql)) WHERE o = s.Z_PK\(only) "
                    + "ORDER BY ord, m LIMIT 1)"
                sources[0].1 = .expression(key(found, from: pairs.member, to: link.destination))
            }
            return sources
        }
        let old = move.oldColumns.toOnes[slot]
        let offset = offset(from: old.destination, to: link.destination)
        sources[0].1 = offset == 0 ? .column(old.key) : .expression("\(old.key) + \(offset)")
        if let companion = link.companion,
            let place = sources.firstIndex(where: { $0.0 == companion })
        {
            sources[place].1 = companionSource(of: old, link)
        }
        if let order = link.order, let place = sources.firstIndex(where: { $0.0 == order }),
            let oldOrder = old.order
        {
            sources[place].1 = .column(oldOrder)
        }
        return sources
    }

    /// The condition that the old row with a key, of the family of `end`, is of an entity that the
    /// relationship leads to now; empty where all are.
    private func staying(
        _ key: String, _ number: Int32, _ end: NSEntityDescription,
        _ relationship: NSRelationshipDescription
    ) -> String {
        guard let wanted = relationship.destinationEntity, !remains(end, within: wanted),
            let columns = old.columns(of: number), columns.condition != nil
        else { return "" }
        let entities = moves.filter {
            $0.oldColumns.root == columns.root && $0.new.entity.isKindOf(entity: wanted)
        }
        let list = entities.map { "\($0.old.number)" }.joined(separator: ", ")
        return " AND EXISTS (SELECT 1 FROM \(former(columns.table)) AS t "
            + "WHERE t.Z_PK = \(key) AND t.Z_ENT IN (\(list)))"
    }

    /// The number of the entity a link leads to: of the row's old number, or of the one entity that
    /// the old link could lead to.
    private func companionSource(of old: LinkColumns, _ link: LinkColumns) -> ColumnSource {
        guard let end = self.old.layout.entity(old.destination) else { return .null }
        guard let companion = old.companion else {
            let number = move(from: old.destination)?.new.number ?? link.destination
            return .expression("CASE WHEN \(old.key) IS NULL THEN NULL ELSE \(number) END")
        }
        let renumbering = renumbering(of: self.old.layout.family(of: end))
        if renumbering.isEmpty { return .column(companion) }
        let cases = renumbering.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
        return .expression("CASE \(companion) \(cases) ELSE \(companion) END")
    }

    /// The columns of to-manys without inverse whose members are of the entity.
    private func ownedSources(of move: EntityMove) -> [(String, ColumnSource)] {
        new.layout.entities.flatMap { owner -> [(String, ColumnSource)] in
            guard let columns = new.columns(of: owner.number) else { return [] }
            return owner.toManys.enumerated().flatMap { slot, relationship in
                guard case .owned(let members) = columns.toManys[slot],
                    let wanted = relationship.destinationEntity,
                    move.new.entity.isKindOf(entity: wanted),
                    !isInherited(relationship, by: owner)
                else { return [(String, ColumnSource)]() }
                return ownedSources(relationship, members, owner, move)
            }
        }
    }

    /// Whether an entity of the new schema has a relationship of its parent.
    func isInherited(
        _ relationship: NSRelationshipDescription, by owner: EntityLayout
    ) -> Bool {
        SchemaBuilder.parent(of: owner, in: new.layout)?.entity
            .propertiesByName[relationship.name] != nil
    }

    private func ownedSources(
        _ relationship: NSRelationshipDescription, _ members: MemberColumns, _ owner: EntityLayout,
        _ move: EntityMove
    ) -> [(String, ColumnSource)] {
        var sources: [(String, ColumnSource)] = [(members.key, .null)]
        if let order = members.order { sources.append((order, .null)) }
        // In another tree the members' keys are other rows'.
        let all = LinkPairs.all(of: relationship, owner, plan: self).filter {
            old.columns(of: $0.member)?.root == move.oldColumns.root
        }
        guard let pairs = all.first else { return sources }
        if all.count == 1, pairs.memberTable == move.oldColumns.table,
            let column = pairs.ownerColumn,
            offset(from: pairs.owner, to: owner.number) == 0
        {
            sources[0].1 = .column(column)
            if members.order != nil, let order = pairs.orderColumn { sources[1].1 = .column(order) }
            return sources
        }
        let finds = all.map {
            "SELECT \(key("o", from: $0.owner, to: owner.number)) AS o FROM (\($0.sql)) "
                + "WHERE m = s.Z_PK"
        }
        sources[0].1 = first(of: finds)
        return sources
    }

    /// The lowest of the keys `o` that requests find.
    private func first(of finds: [String]) -> ColumnSource {
        .expression("(SELECT min(o) FROM (\(finds.joined(separator: " UNION ALL "))))")
    }
}
