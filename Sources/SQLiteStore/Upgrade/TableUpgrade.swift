internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Makes the tables of the new schema of those of the old, within a transaction.
struct TableUpgrade {
    private(set) var plan: UpgradePlan
    private let connection: Connection
    private var fates: [String: TableFate] = [:]
    private var keptJoins: Set<String> = []
    /// What stays to be dropped later.
    private(set) var left: [DeferredWork.Piece] = []

    init(plan: UpgradePlan, connection: Connection) {
        self.plan = plan
        self.connection = connection
    }

    /// `tell` is told which share of the tables' rows have their new place.
    mutating func run(telling tell: ((Float) -> Void)? = nil) throws {
        try connection.script("PRAGMA legacy_alter_table = ON")
        try decide()
        let numbers = plan.new.layout.members.map(\.number)
        let fresh = Dictionary(grouping: numbers) { plan.new.columns(of: $0)?.table ?? "" }
        try UnknownRows(schema: plan.old, connection: connection)
            .refuse(in: plan.setAside, givenAnew: fresh.mapValues(Set.init))
        try dropTriggers()
        for table in plan.setAside.sorted() {
            try connection.script("ALTER TABLE \(table) RENAME TO \(plan.former(table))")
        }
        if plan.new.tables.contains(where: { $0.virtual != nil }) {
            try connection.script("PRAGMA trusted_schema = ON")
        }
        for table in plan.new.tables where isMade(table) { try connection.script(table.statement) }
        try fillTables(telling: tell)
        for join in joins() where !keptJoins.contains(join.side.table) { try fill(join) }
        for table in plan.new.tables { try alter(table) }
        for table in plan.setAside.sorted() { try drop(plan.former(table)) }
        let links = LinkUpgrade(plan: plan, connection: connection)
        try links.run(joins())
        left += try ValueUpgrade(plan: plan, connection: connection).run()
    }

    /// A table that is dropped later lets go of its indexes now: others take their names.
    private mutating func drop(_ table: String) throws {
        guard plan.defers else { return try connection.script("DROP TABLE \(table)") }
        let indexes = try connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? "
                + "AND sql NOT NULL", [.text(table)])
        for row in indexes {
            if let name = row[0].string { try connection.script("DROP INDEX \(quoted(name))") }
        }
        left.append(.table(table))
    }

    // MARK: What stays

    private mutating func decide() throws {
        let present = try TableColumns.all(in: connection)
        let finder = TableFates(plan: plan, present: present)
        for entity in plan.new.layout.entities {
            guard let columns = plan.new.columns(of: entity.number), columns.root == entity.number,
                let table = plan.new.tables.first(where: { $0.name == columns.table })
            else { continue }
            fates[table.name] = finder.fate(of: table, root: entity.number)
        }
        for join in joins() where isKept(join, present) { keptJoins.insert(join.side.table) }
        var former: Set<String> = []
        for entity in plan.old.layout.entities {
            guard let columns = plan.old.columns(of: entity.number) else { continue }
            former.insert(columns.table)
            for case .join(let side) in columns.toManys { former.insert(side.table) }
        }
        plan.setAside = former.filter { isRebuilt($0) && !keptJoins.contains($0) }
    }

    private func isRebuilt(_ table: String) -> Bool {
        if case .altered = fates[table] { false } else { true }
    }

    private func isMade(_ table: TableSchema) -> Bool {
        if table.virtual != nil { return true }
        return isRebuilt(table.name) && !keptJoins.contains(table.name)
    }

    private func isKept(_ join: NewJoin, _ present: [String: TableColumns]) -> Bool {
        guard join.pairs.count == 1, let former = join.pairs[0].join,
            let columns = present[join.side.table]
        else { return false }
        let wanted = [join.side.owner, join.side.member, join.side.order, join.side.inverseOrder]
        let had = [former.owner, former.member, former.order, former.inverseOrder]
        return former.table == join.side.table && wanted == had
            && former.isReflexive == join.side.isReflexive
            && Set(columns.columns.map(\.name)) == Set(wanted.compactMap { $0 })
            && plan.offset(from: join.pairs[0].owner, to: join.owner.number) == 0
            && plan.offset(from: join.pairs[0].member, to: join.side.destination) == 0
    }

    /// The join tables of the new schema, each seen from one of its ends.
    private func joins() -> [NewJoin] {
        var seen: Set<String> = []
        return plan.new.layout.entities.flatMap { entity -> [NewJoin] in
            let places = plan.new.columns(of: entity.number)?.toManys ?? []
            return zip(entity.toManys, places).compactMap { relationship, place in
                guard case .join(let side) = place, seen.insert(side.table).inserted else {
                    return nil
                }
                return NewJoin(
                    side: side, owner: entity, relationship: relationship,
                    pairs: LinkPairs.all(of: relationship, entity, plan: plan))
            }
        }
    }

    /// Triggers would run while rows move; trees over places are made afresh.
    private func dropTriggers() throws {
        let triggers = try connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name GLOB 'Z*'")
        for row in triggers {
            if let name = row[0].string { try connection.script("DROP TRIGGER \(quoted(name))") }
        }
        let trees = try connection.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_RT_*' "
                + "AND sql LIKE 'CREATE VIRTUAL TABLE % USING RTREE%'")
        for row in trees {
            if let name = row[0].string { try connection.script("DROP TABLE \(quoted(name))") }
        }
    }

    private func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }

    // MARK: Rows

    /// Filling is most of the work: what follows counts for a fifth.
    private func fillTables(telling tell: ((Float) -> Void)?) throws {
        let moves = plan.moves.filter { isRebuilt($0.newColumns.table) }
        var counts: [Int64] = []
        if tell != nil { counts = try moves.map(rowCount) }
        let total = Float(max(counts.reduce(0, +), 1))
        var done: Int64 = 0
        for (place, move) in moves.enumerated() {
            try fill(move)
            guard let tell else { continue }
            done += counts[place]
            tell(0.8 * Float(done) / total)
        }
    }

    private func rowCount(of move: EntityMove) throws -> Int64 {
        let condition = move.oldColumns.condition.map { " WHERE \($0)" } ?? ""
        return try connection.value(
            "SELECT count(*) FROM \(plan.former(move.oldColumns.table))\(condition)")?.int64 ?? 0
    }

    /// The old tables, each with whether its rows are written anew.
    func forecast() throws -> [(table: String, isRewritten: Bool)] {
        var decided = self
        try decided.decide()
        var tables: [String: Bool] = [:]
        for move in plan.moves {
            let isRewritten = decided.isRebuilt(move.newColumns.table)
            tables[move.oldColumns.table] =
                isRewritten || (tables[move.oldColumns.table] ?? false)
        }
        for entity in plan.old.layout.entities {
            guard let table = plan.old.columns(of: entity.number)?.table else { continue }
            tables[table] = tables[table] ?? false
        }
        return tables.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func fill(_ move: EntityMove) throws {
        let sources = plan.sources(of: move)
        let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + sources.map(\.column)
        let key = plan.key("Z_PK", from: move.old.number, to: move.new.number)
        let values = [key, "\(move.new.number)", "Z_OPT"] + sources.map(\.source.sql.text)
        let condition = move.oldColumns.condition.map { " WHERE \($0)" } ?? ""
        try connection.run(
            "INSERT INTO \(move.newColumns.table) (\(columns.joined(separator: ", "))) "
                + "SELECT \(values.joined(separator: ", ")) "
                + "FROM \(plan.former(move.oldColumns.table)) AS s\(condition)",
            sources.flatMap(\.source.sql.values))
    }

    private func fill(_ join: NewJoin) throws {
        let side = join.side
        for pairs in join.pairs {
            let owner = plan.key("o", from: pairs.owner, to: join.owner.number)
            let member = plan.key("m", from: pairs.member, to: side.destination)
            let columns = [
                (side.owner, owner), (side.member, member), (side.order, "ord"),
                (side.inverseOrder, "inv"),
            ].compactMap { name, value in name.map { ($0, value) } }
            try connection.run(
                "INSERT OR IGNORE INTO \(side.table) "
                    + "(\(columns.map(\.0).joined(separator: ", "))) "
                    + "SELECT \(columns.map(\.1).joined(separator: ", ")) FROM (\(pairs.sql))")
        }
    }

    private mutating func alter(_ table: TableSchema) throws {
        guard case .altered(let changes) = fates[table.name] else { return }
        for change in changes {
            switch change {
            case .renamed(let former, let name):
                try connection.script(
                    "ALTER TABLE \(table.name) RENAME COLUMN \(former) TO \(name)")
            case .added(let column, let value):
                try connection.script(
                    "ALTER TABLE \(table.name) ADD COLUMN \(column.name) \(column.type)")
                guard !value.isNull else { continue }
                try connection.run(
                    "UPDATE \(table.name) SET \(column.name) = ?\(rows(with: column.name, table))",
                    [value])
            case .filled(let column, let value):
                try connection.run(
                    "UPDATE \(table.name) SET \(column) = ? WHERE \(column) IS NULL"
                        + rows(with: column, table).replacing(" WHERE", with: " AND"), [value])
            case .left(let column): left.append(.column(column, of: table.name))
            }
        }
    }

    /// The rows of the entities that have the column's attribute.
    private func rows(with column: String, _ table: TableSchema) -> String {
        let tree = plan.moves.filter { $0.newColumns.table == table.name }
        let having = tree.filter { move in
            move.newColumns.attributes.contains { $0.name == column }
        }
        if having.count == tree.count { return "" }
        return " WHERE Z_ENT IN (\(having.map { "\($0.new.number)" }.joined(separator: ", ")))"
    }
}

/// A join table of the new schema, seen from one of its ends, and what its pairs come from.
struct NewJoin {
    let side: JoinSide
    let owner: EntityLayout
    let relationship: NSRelationshipDescription
    let pairs: [LinkPairs]
}
