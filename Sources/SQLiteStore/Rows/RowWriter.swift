internal import Platform
internal import SQLiteDriver
internal import Stores

/// Writes single rows with statements that are compiled once for each shape. Used under the store's
/// lock.
final class RowWriter {
    private let connection: Connection
    private let schema: StoreSchema
    private let external: ExternalWrites?
    private let derived: DerivedValues
    private let platform: Environment
    private var inserts: [Int32: InsertPlan] = [:]
    private var updates: [UpdateShape: UpdatePlan] = [:]
    private var deletes: [Int32: Statement] = [:]
    /// The plan of the last update: the next one is mostly of the same shape.
    private var lastUpdate: (shape: UpdateShape, plan: UpdatePlan)?

    init(
        connection: Connection, schema: StoreSchema, external: ExternalWrites?,
        derived: DerivedValues, platform: Environment
    ) {
        self.derived = derived
        self.platform = platform
        self.connection = connection
        self.schema = schema
        self.external = external
    }

    func insert(_ row: Row) throws {
        let plan = try insertPlan(for: row.id.entity)
        guard row.attributes.count == plan.attributeCount, row.toOnes.count == plan.toOneCount
        else {
            throw StoreError(
                .invalidValue,
                "A row does not have its entity's slots; make it from this store's layout.",
                fields: ["entity": schema.name(of: row.id.entity)])
        }
        let statement = plan.statement
        try statement.bind(.integer(row.id.key), at: 1)
        for slot in plan.attributes {
            try bind(row.attributes[slot.slot], slot, of: row.id, to: statement)
        }
        for slot in plan.toOnes { try slot.bind(row.toOnes[slot.slot], to: statement) }
        for slot in plan.written {
            let source = slot.derivation.source.map { row.attributes[$0] }
            try bind(source ?? .null, slot, of: row.id, to: statement)
        }
        try statement.perform()
    }

    /// Writes the changed columns and the next version. Returns that version; nil when there is
    /// no such row of the expected version.
    func update(_ update: RowUpdate) throws -> Int64? {
        let plan = try updatePlan(for: update)
        let statement = plan.statement
        if let external, let columns = plan.externalColumns {
            try external.leaving(columns.names, of: update.id.key, table: columns.table)
        }
        for (value, slot) in zip(update.attributes, plan.attributes) {
            try bind(value.value, slot, of: update.id, to: statement)
        }
        for (value, slot) in zip(update.toOnes, plan.toOnes) {
            try slot.bind(value.link, to: statement)
        }
        for slot in plan.written {
            let source = update.attributes.last { $0.slot == slot.derivation.source }
            try bind(source?.value ?? .null, slot, of: update.id, to: statement)
        }
        try statement.bind(.integer(update.id.key), at: plan.keyIndex)
        if let expected = update.expectedVersion {
            try statement.bind(.integer(expected), at: plan.keyIndex + 1)
            return try statement.perform() == 0 ? nil : expected &+ 1
        }
        defer { statement.rewind() }
        guard try statement.step() else { return nil }
        let version = statement.int64(at: 0)
        while try statement.step() {}
        return version
    }

    /// Returns whether there was such a row of the expected version.
    func delete(_ delete: RowDelete) throws -> Bool {
        let id = delete.id
        if let external, let columns = schema.columns(of: id.entity) {
            try external.leaving(columns.externalColumns, of: id.key, table: columns.table)
        }
        let statement = try deleteStatement(for: id.entity)
        try statement.bind(.integer(id.key), at: 1)
        try statement.bind(SQLiteValue(delete.expectedVersion), at: 2)
        guard try statement.perform() > 0 else { return false }
        guard let columns = schema.columns(of: id.entity) else { return true }
        for place in columns.toManys { try clear(place, of: id.key) }
        return true
    }

    /// Empties columns of a row for a moment, so that another row can take its unique key.
    func park(_ row: RowID, columns: [String]) throws {
        guard let table = schema.columns(of: row.entity)?.table else { return }
        let list = columns.map { "\($0) = NULL" }.joined(separator: ", ")
        try connection.run("UPDATE \(table) SET \(list) WHERE Z_PK = ?", [.integer(row.key)])
    }

    /// Takes a deleted owner out of join tables and of the columns of members without inverse.
    private func clear(_ place: ToManyPlace, of key: Int64) throws {
        switch place {
        case .inverse, .absent: return
        case .owned(let members):
            let order = members.order.map { ", \($0) = NULL" } ?? ""
            try connection.run(
                "UPDATE \(members.table) SET \(members.key) = NULL\(order) "
                    + "WHERE \(members.key) = ?",
                [.integer(key)])
        case .join(let side):
            let other = side.isReflexive ? " OR \(side.member) = ?1" : ""
            try connection.run(
                "DELETE FROM \(side.table) WHERE \(side.owner) = ?1\(other)", [.integer(key)])
        }
    }

    private func bind(
        _ value: AttributeValue, _ slot: AttributeBinding, of id: RowID, to statement: Statement
    ) throws {
        guard slot.index > 0 else { return }
        if slot.kind == .binary(external: true), let external, case .data(let data) = value,
            let columns = schema.columns(of: id.entity),
            let reference = try external.reference(
                to: data, table: columns.table, column: columns.attributes[slot.slot].name,
                key: id.key)
        {
            return try statement.bind(.blob(reference), at: slot.index)
        }
        guard try ValueCoding.bind(value, as: slot.kind, to: statement, at: slot.index) else {
            let names = schema.layout.entity(id.entity)?.attributes
            throw StoreError(
                .invalidValue, "A value is not of its attribute's type; convert it before saving.",
                fields: [
                    "entity": schema.name(of: id.entity),
                    "attribute": names?[slot.slot].name ?? "",
                ])
        }
    }

    /// Binds what is computed from `source`, and tells it.
    private func bind(
        _ source: AttributeValue, _ slot: WrittenBinding, of id: RowID, to statement: Statement
    ) throws {
        let value = slot.derivation.value(of: source, now: platform.clock.now())
        _ = try ValueCoding.bind(value, as: slot.kind, to: statement, at: slot.index)
        derived.note(value, slot: slot.derivation.slot, of: id)
    }

    // MARK: Plans

    private func insertPlan(for entity: Int32) throws -> InsertPlan {
        if let known = inserts[entity] { return known }
        guard let columns = schema.columns(of: entity) else { throw schema.unknownEntity(entity) }
        let plan = try InsertPlan(columns: columns, connection: connection)
        inserts[entity] = plan
        return plan
    }

    private func updatePlan(for update: RowUpdate) throws -> UpdatePlan {
        if let lastUpdate, lastUpdate.shape.fits(update) { return lastUpdate.plan }
        let shape = UpdateShape(
            entity: update.id.entity, attributes: update.attributes.map(\.slot),
            toOnes: update.toOnes.map(\.slot), isChecked: update.expectedVersion != nil)
        if let known = updates[shape] {
            lastUpdate = (shape, known)
            return known
        }
        guard let columns = schema.columns(of: shape.entity),
            shape.attributes.allSatisfy(columns.attributes.indices.contains),
            shape.toOnes.allSatisfy(columns.toOnes.indices.contains)
        else { throw schema.unknownEntity(shape.entity) }
        if updates.count >= Self.updatePlansMax { updates.removeAll() }
        let plan = try UpdatePlan(shape: shape, columns: columns, connection: connection)
        updates[shape] = plan
        return plan
    }

    private func deleteStatement(for entity: Int32) throws -> Statement {
        if let known = deletes[entity] { return known }
        guard let columns = schema.columns(of: entity) else { throw schema.unknownEntity(entity) }
        let statement = try connection.compile(
            "DELETE FROM \(columns.table) WHERE Z_PK = ?1 AND \(columns.condition ?? "1") "
                + "AND (?2 IS NULL OR IFNULL(Z_OPT, 0) = ?2)")
        deletes[entity] = statement
        return statement
    }

    private static let updatePlansMax = 256
}

extension StoreSchema {
    func name(of entity: Int32) -> String { layout.entity(entity)?.name ?? "\(entity)" }
}
