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
    private var deletes: [Int32: DeletePlan] = [:]
    /// The plans used last: the next row mostly takes the same.
    private var lastInsert: InsertPlan?
    private var lastUpdate: UpdatePlan?
    private var lastDelete: DeletePlan?

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

    /// `orders` gives links of ordered relationships their places. A copy keeps the moment of its
    /// last save.
    func insert(_ row: Row, orders: ToManyWriter, isCopy: Bool = false) throws {
        let plan = try insertPlan(for: row.id.entity)
        try check(row, plan)
        let statement = plan.statement
        try bindValues(of: row, plan, to: statement)
        for slot in plan.toOnes {
            var link = row.toOnes[slot.slot]
            if slot.order > 0 { link = try orders.ordered(link, slot.slot, of: row.id.entity) }
            try slot.bind(link, to: statement)
        }
        for slot in plan.written {
            let source = slot.derivation.source.map { row.attributes[$0] }
            let isKept = isCopy && slot.derivation.isMoment
            try bind(
                source ?? .null, slot, of: row.id, to: statement,
                keeping: isKept ? row.attributes[slot.derivation.slot] : .null)
        }
        try statement.perform()
    }

    /// Writes the first of `rows` with one statement. Returns how many: 0 where they are to be
    /// written one by one, since they are few or special, or one of them breaks a rule.
    func insertSeveral(_ rows: ArraySlice<Row>) throws -> Int {
        let count = InsertPlan.rowsPerStatement
        guard rows.count >= count else { return 0 }
        let entity = rows[rows.startIndex].id.entity
        let plan = try insertPlan(for: entity)
        let several = rows.startIndex..<rows.startIndex + count
        guard plan.isPlain, several.allSatisfy({ rows[$0].id.entity == entity }) else { return 0 }
        let statement = try plan.several(connection)
        var offset = 0
        for index in several {
            let row = rows[index]
            try check(row, plan)
            try bindValues(of: row, plan, to: statement, offset: offset)
            for slot in plan.toOnes {
                try slot.bind(row.toOnes[slot.slot], to: statement, offset: offset)
            }
            offset += plan.width
        }
        do {
            try statement.perform()
        } catch let fault as SQLiteFault where fault.isConstraint {
            return 0
        }
        return count
    }

    /// Gives rows that were just inserted the versions that they had elsewhere.
    func keepVersions(of rows: [Row]) throws {
        var statements: [Int32: Statement] = [:]
        for row in rows where row.version != 1 {
            let table = schema.columns(of: row.id.entity)?.table ?? ""
            let statement =
                try statements[row.id.entity]
                ?? connection.compile("UPDATE \(table) SET Z_OPT = ?1 WHERE Z_PK = ?2")
            statements[row.id.entity] = statement
            try statement.bind(.integer(row.version), at: 1)
            try statement.bind(.integer(row.id.key), at: 2)
            try statement.perform()
        }
    }

    private func check(_ row: Row, _ plan: InsertPlan) throws {
        guard row.attributes.count == plan.attributeCount, row.toOnes.count == plan.toOneCount
        else {
            throw StoreError(
                .invalidValue,
                "A row does not have its entity's slots; make it from this store's layout.",
                fields: ["entity": schema.name(of: row.id.entity)])
        }
    }

    private func bindValues(
        of row: Row, _ plan: InsertPlan, to statement: Statement, offset: Int = 0
    ) throws {
        try statement.bind(.integer(row.id.key), at: offset + 1)
        for slot in plan.attributes {
            try bind(row.attributes[slot.slot], slot, of: row.id, to: statement, offset: offset)
        }
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
        let plan = try deletePlan(for: id.entity)
        if let external, !plan.columns.externalColumns.isEmpty {
            try external.leaving(
                plan.columns.externalColumns, of: id.key, table: plan.columns.table)
        }
        try plan.statement.bind(.integer(id.key), at: 1)
        try plan.statement.bind(SQLiteValue(delete.expectedVersion), at: 2)
        guard try plan.statement.perform() > 0 else { return false }
        for statement in plan.clearing {
            try statement.bind(.integer(id.key), at: 1)
            try statement.perform()
        }
        return true
    }

    /// Empties columns of a row for a moment, so that another row can take its unique key.
    func park(_ row: RowID, columns: [String]) throws {
        guard let table = schema.columns(of: row.entity)?.table else { return }
        let list = columns.map { "\($0) = NULL" }.joined(separator: ", ")
        try connection.run("UPDATE \(table) SET \(list) WHERE Z_PK = ?", [.integer(row.key)])
    }

    private func bind(
        _ value: AttributeValue, _ slot: AttributeBinding, of id: RowID, to statement: Statement,
        offset: Int = 0
    ) throws {
        guard slot.index > 0 else { return }
        let index = offset + slot.index
        if slot.kind == .binary(external: true), let external, case .data(let data) = value,
            let columns = schema.columns(of: id.entity),
            let reference = try external.reference(
                to: data, table: columns.table, column: columns.attributes[slot.slot].name,
                key: id.key)
        {
            return try statement.bind(.blob(reference), at: index)
        }
        guard try ValueCoding.bind(value, as: slot.kind, to: statement, at: index) else {
            let names = schema.layout.entity(id.entity)?.attributes
            throw StoreError(
                .invalidValue, "A value is not of its attribute's type; convert it before saving.",
                fields: [
                    "entity": schema.name(of: id.entity),
                    "attribute": names?[slot.slot].name ?? "",
                ])
        }
    }

    /// Binds what is computed from `source`, and tells it; a value that is kept stays instead.
    private func bind(
        _ source: AttributeValue, _ slot: WrittenBinding, of id: RowID, to statement: Statement,
        keeping kept: AttributeValue = .null
    ) throws {
        let value =
            kept != .null ? kept : slot.derivation.value(of: source, now: platform.clock.now())
        _ = try ValueCoding.bind(value, as: slot.kind, to: statement, at: slot.index)
        derived.note(value, slot: slot.derivation.slot, of: id)
    }

    // MARK: Plans

    private func insertPlan(for entity: Int32) throws -> InsertPlan {
        if let lastInsert, lastInsert.entity == entity { return lastInsert }
        let plan = try inserts[entity] ?? InsertPlan(columns: columns(of: entity), connection)
        inserts[entity] = plan
        lastInsert = plan
        return plan
    }

    private func updatePlan(for update: RowUpdate) throws -> UpdatePlan {
        if let lastUpdate, lastUpdate.shape.fits(update) { return lastUpdate }
        let shape = UpdateShape(
            entity: update.id.entity, attributes: update.attributes.map(\.slot),
            toOnes: update.toOnes.map(\.slot), isChecked: update.expectedVersion != nil)
        if let known = updates[shape] {
            lastUpdate = known
            return known
        }
        let columns = try columns(of: shape.entity)
        guard shape.attributes.allSatisfy(columns.attributes.indices.contains),
            shape.toOnes.allSatisfy(columns.toOnes.indices.contains)
        else { throw schema.unknownEntity(shape.entity) }
        if updates.count >= Self.updatePlansMax { updates.removeAll() }
        let plan = try UpdatePlan(shape: shape, columns: columns, connection)
        updates[shape] = plan
        lastUpdate = plan
        return plan
    }

    private func deletePlan(for entity: Int32) throws -> DeletePlan {
        if let lastDelete, lastDelete.columns.number == entity { return lastDelete }
        let plan = try deletes[entity] ?? DeletePlan(columns: columns(of: entity), connection)
        deletes[entity] = plan
        lastDelete = plan
        return plan
    }

    private func columns(of entity: Int32) throws -> EntityColumns {
        guard let columns = schema.columns(of: entity) else { throw schema.unknownEntity(entity) }
        return columns
    }

    private static let updatePlansMax = 256
}

extension StoreSchema {
    func name(of entity: Int32) -> String { layout.entity(entity)?.name ?? "\(entity)" }
}
