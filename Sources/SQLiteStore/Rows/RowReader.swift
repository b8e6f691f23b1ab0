internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Reads rows and links by key. Used under the store's lock.
final class RowReader {
    let connection: Connection
    let schema: StoreSchema
    private let files: ExternalFiles?
    /// By entity: for its own rows, and for those of its subentities, too.
    private var plans: [Int32: Plans] = [:]
    private var byKey: [Int32: (plan: ReadPlan, statement: Statement)] = [:]

    private struct Plans {
        var own: ReadPlan?
        var family: ReadPlan?
    }

    init(connection: Connection, schema: StoreSchema, files: ExternalFiles?) {
        self.connection = connection
        self.schema = schema
        self.files = files
    }

    /// The plan for the rows of an entity, with or without those of its subentities.
    func plan(for entity: Int32, includesSubentities: Bool = true) throws -> ReadPlan {
        var known = plans[entity] ?? Plans()
        if let plan = includesSubentities ? known.family : known.own { return plan }
        guard let layout = schema.layout.entity(entity) else { throw schema.unknownEntity(entity) }
        let family = includesSubentities ? schema.layout.family(of: layout) : [entity]
        guard let plan = ReadPlan(schema: schema, family: family) else {
            throw schema.unknownEntity(entity)
        }
        if includesSubentities { known.family = plan } else { known.own = plan }
        plans[entity] = known
        return plan
    }

    func row(_ id: RowID) throws -> Row? {
        let (plan, statement) = try lookup(for: id.entity)
        defer { statement.rewind() }
        try statement.bind(.integer(id.key), at: 1)
        return try statement.step() ? try row(from: statement, plan) : nil
    }

    private func row(from statement: Statement, _ plan: ReadPlan) throws -> Row {
        try plan.row(from: statement, files: files) { try entity(of: $1, in: $0) }
    }

    /// The entity of the row that has a key in a declared entity's tree.
    func entity(of key: Int64, in declared: Int32) throws -> Int32? {
        guard let table = schema.columns(of: declared)?.table else { return nil }
        let number = try connection.value(
            "SELECT Z_ENT FROM \(table) WHERE Z_PK = ?", [.integer(key)])
        return number?.int64.flatMap { Int32(exactly: $0) }
    }

    private func lookup(for entity: Int32) throws -> (plan: ReadPlan, statement: Statement) {
        if let known = byKey[entity] { return known }
        let plan = try plan(for: entity)
        let condition = plan.entityCondition.isEmpty ? "" : " AND \(plan.entityCondition)"
        let statement = try connection.compile(
            "SELECT \(plan.list()) FROM \(plan.table) WHERE Z_PK = ?\(condition)")
        byKey[entity] = (plan, statement)
        return (plan, statement)
    }

    /// The rows that exist among `ids`, in their order. Keys that lie close together, as those of a
    /// batch do, are read with one statement.
    func rows(_ ids: [RowID]) throws -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(ids.count)
        var begin = 0
        while begin < ids.count {
            let entity = ids[begin].entity
            let end = ids[begin...].firstIndex { $0.entity != entity } ?? ids.count
            if let span = KeySpan(ids[begin..<end]) {
                try add(ids[begin..<end], within: span, to: &rows)
            } else {
                for id in ids[begin..<end] {
                    if let row = try row(id) { rows.append(row) }
                }
            }
            begin = end
        }
        return rows
    }

    /// A statement for all rows between two keys, by their keys. The caller resets it.
    func statement(for plan: ReadPlan, within span: KeySpan) throws -> Statement {
        let condition = plan.entityCondition.isEmpty ? "" : " AND \(plan.entityCondition)"
        let statement = try connection.prepare(
            "SELECT \(plan.list()) FROM \(plan.table) "
                + "WHERE Z_PK BETWEEN ?1 AND ?2\(condition) ORDER BY Z_PK")
        try statement.bind(.integer(span.first), at: 1)
        try statement.bind(.integer(span.last), at: 2)
        return statement
    }

    private func add(
        _ ids: ArraySlice<RowID>, within span: KeySpan, to rows: inout [Row]
    ) throws {
        let plan = try plan(for: ids[ids.startIndex].entity)
        let statement = try statement(for: plan, within: span)
        defer { statement.reset() }
        guard !span.isAscending else {
            // The rows come as they are asked for: others between them are passed over.
            var wanted = ids.startIndex
            while try statement.step() {
                let key = statement.int64(at: 0)
                while wanted < ids.endIndex, ids[wanted].key < key { wanted += 1 }
                guard wanted < ids.endIndex else { return }
                if ids[wanted].key == key { rows.append(try row(from: statement, plan)) }
            }
            return
        }
        var found: [Row?] = Array(repeating: nil, count: span.count)
        while try statement.step() {
            found[Int(statement.int64(at: 0) &- span.first)] = try row(from: statement, plan)
        }
        for id in ids {
            if let row = found[Int(id.key &- span.first)] { rows.append(row) }
        }
    }

    /// Hands the rows of exactly one entity to `body` by key, at most `count` at a time. Memory
    /// does not grow with the table; `body` may read meanwhile.
    func forEachBatch(of entity: Int32, count: Int, _ body: ([Row]) throws -> Void) throws {
        let plan = try plan(for: entity, includesSubentities: false)
        let condition = plan.entityCondition.isEmpty ? "" : " WHERE \(plan.entityCondition)"
        var batch: [Row] = []
        try connection.forEachRow(
            "SELECT \(plan.list()) FROM \(plan.table)\(condition) ORDER BY Z_PK"
        ) { statement in
            batch.append(try row(from: statement, plan))
            guard batch.count >= count else { return }
            try body(batch)
            batch.removeAll(keepingCapacity: true)
        }
        if !batch.isEmpty { try body(batch) }
    }

    /// The rows of a statement whose select list is the plan's.
    func rows(of statement: Statement, plan: ReadPlan) throws -> [Row] {
        var rows: [Row] = []
        while try statement.step() { rows.append(try row(from: statement, plan)) }
        return rows
    }

    // MARK: Links

    /// The members of a to-many relationship, in order where it is ordered, else by key.
    func members(of owner: RowID, toMany slot: Int) throws -> [Link] {
        guard let columns = schema.columns(of: owner.entity), columns.toManys.indices.contains(slot)
        else { throw schema.unknownEntity(owner.entity) }
        switch columns.toManys[slot] {
        case .absent: return []
        case .inverse(let place), .owned(let place): return try members(of: owner, in: place)
        case .join(let side): return try members(of: owner, in: side)
        }
    }

    /// The place of one member in an ordered to-many; nil where it is none, or the relationship has
    /// no order. Cost: one look-up, however many members there are.
    func place(of member: RowID, in owner: RowID, toMany slot: Int) throws -> Int64? {
        guard let columns = schema.columns(of: owner.entity), columns.toManys.indices.contains(slot)
        else { throw schema.unknownEntity(owner.entity) }
        let (table, ownerKey, memberKey, order): (String, String, String, String?)
        switch columns.toManys[slot] {
        case .absent: return nil
        case .inverse(let place), .owned(let place):
            (table, ownerKey, memberKey, order) = (place.table, place.key, "Z_PK", place.order)
        case .join(let side):
            (table, ownerKey, memberKey, order) = (side.table, side.owner, side.member, side.order)
        }
        guard let order else { return nil }
        return try connection.value(
            "SELECT \(order) FROM \(table) WHERE \(ownerKey) = ? AND \(memberKey) = ?",
            [.integer(owner.key), .integer(member.key)])?.int64
    }

    private func members(of owner: RowID, in place: MemberColumns) throws -> [Link] {
        let order = place.order ?? "NULL"
        return try links(
            "SELECT Z_PK, Z_ENT, \(order) FROM \(place.table) WHERE \(place.key) = ? "
                + "ORDER BY \(place.order.map { "\($0), " } ?? "")Z_PK",
            [.integer(owner.key)], destination: place.member)
    }

    private func members(of owner: RowID, in side: JoinSide) throws -> [Link] {
        let order = side.order.map { "j.\($0)" } ?? "NULL"
        func half(_ owner: String, _ member: String, _ order: String) -> String {
            "SELECT d.Z_PK, d.Z_ENT, \(order) AS place FROM \(side.table) j "
                + "JOIN \(side.destinationTable) d ON d.Z_PK = j.\(member) WHERE j.\(owner) = ?1"
        }
        var text = half(side.owner, side.member, order)
        if side.isReflexive {
            // A pair may stand there in one direction or in both; only its own has its place.
            let other = half(side.member, side.owner, "NULL")
            let both = "\(text) UNION ALL \(other)"
            text = "SELECT Z_PK, Z_ENT, max(place) AS place FROM (\(both)) GROUP BY 1"
        }
        text += side.order == nil ? " ORDER BY 1" : " ORDER BY 3, 1"
        return try links(text, [.integer(owner.key)], destination: side.destination)
    }

    private func links(
        _ sql: String, _ values: [SQLiteValue], destination: Int32
    ) throws -> [Link] {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var links: [Link] = []
        while try statement.step() {
            links.append(
                Link(
                    schema.id(key: 0, entity: 1, of: statement, in: destination),
                    orderKey: statement.isNull(at: 2) ? nil : statement.int64(at: 2)))
        }
        return links
    }

    /// The rows whose to-one links point at `id`. Cost: one index look-up for each such
    /// relationship.
    func referrers(of id: RowID) throws -> [(row: RowID, toOneSlot: Int)] {
        guard let target = schema.layout.entity(id.entity) else {
            throw schema.unknownEntity(id.entity)
        }
        var found: [(row: RowID, toOneSlot: Int)] = []
        var seen: Set<String> = []
        for source in schema.layout.entities {
            guard let columns = schema.columns(of: source.number) else { continue }
            for link in columns.toOnes {
                guard let destination = schema.layout.entity(link.destination),
                    target.entity.isKindOf(entity: destination.entity),
                    seen.insert("\(columns.table).\(link.key)").inserted
                else { continue }
                let rows = try links(
                    "SELECT Z_PK, Z_ENT, NULL FROM \(columns.table) WHERE \(link.key) = ?",
                    [.integer(id.key)], destination: source.number)
                for row in rows.map(\.target) {
                    let own = schema.columns(of: row.entity)?.toOnes
                    guard let slot = own?.firstIndex(where: { $0.key == link.key }) else {
                        continue
                    }
                    found.append((row, slot))
                }
            }
        }
        return found
    }

    /// The many-to-many pairs of `id`, seen from it.
    func pairs(of id: RowID) throws -> [(toManySlot: Int, other: RowID)] {
        guard let columns = schema.columns(of: id.entity) else {
            throw schema.unknownEntity(id.entity)
        }
        var found: [(toManySlot: Int, other: RowID)] = []
        for (slot, place) in columns.toManys.enumerated() {
            guard case .join(let side) = place else { continue }
            found += try members(of: id, in: side).map { (slot, $0.target) }
        }
        return found
    }
}

extension StoreSchema {
    /// The id in two columns of a row of `entity` or of one that inherits from it.
    func id(key: Int, entity: Int, of statement: Statement, in declared: Int32) -> RowID {
        let isAlone = columns(of: declared)?.condition == nil
        let number =
            isAlone || statement.isNull(at: entity)
            ? declared : Int32(truncatingIfNeeded: statement.int64(at: entity))
        return RowID(entity: number, key: statement.int64(at: key))
    }

    func unknownEntity(_ number: Int32) -> StoreError {
        failure(of: number)
            ?? StoreError(
                .missingRow,
                "The store has no such entity or relationship; use identifiers of this store.",
                fields: ["entity": "\(number)"])
    }
}
