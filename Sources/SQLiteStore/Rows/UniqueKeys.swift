internal import ObjectModel
internal import SQLiteDriver
internal import Stores

/// Finds out which uniqueness constraint a row breaks, and who holds a unique key.
struct UniqueKeys {
    let connection: Connection
    let schema: StoreSchema
    let reader: RowReader

    /// The row that holds `values` for the properties `names`, among an entity and its subentities.
    func holder(of names: [String], values: [AttributeValue], in entity: Int32) throws -> RowID? {
        guard let layout = schema.layout.entity(entity), let columns = schema.columns(of: entity),
            names.count == values.count, !names.isEmpty
        else { throw schema.unknownEntity(entity) }
        var stored: [(column: String, value: SQLiteValue)] = []
        for (name, value) in zip(names, values) {
            guard let (column, kind) = Self.column(name, layout, columns),
                let encoded = ValueCoding.encode(value, as: kind)
            else {
                throw StoreError(
                    .invalidValue,
                    "A unique key names no column of the entity, or has another type.",
                    fields: ["entity": layout.name, "key": name])
            }
            stored.append((column, encoded))
        }
        let plan = try reader.plan(for: entity)
        return try holder(
            of: stored, in: columns.table, except: nil, condition: plan.entityCondition)
    }

    private static func column(
        _ name: String, _ layout: EntityLayout, _ columns: EntityColumns
    ) -> (String, ColumnKind)? {
        if let slot = layout.attributeSlot(name) {
            return (columns.attributes[slot].name, columns.attributes[slot].kind)
        }
        return layout.toOneSlot(name).map { (columns.toOnes[$0].key, .integer) }
    }

    private func holder(
        of stored: [(column: String, value: SQLiteValue)], in table: String, except key: Int64?,
        condition: String = ""
    ) throws -> RowID? {
        guard !stored.contains(where: \.value.isNull) else { return nil }
        let family = schema.columnsByNumber.values.filter { $0.table == table }
        var terms = stored.enumerated().map { index, entry in
            let (column, value) = (entry.column, "?\(index + 1)")
            guard family.contains(where: { $0.externalColumns.contains(column) }) else {
                return "\(column) = \(value)"
            }
            // Behind the marker stands the value itself.
            return "(\(column) = \(value) OR (substr(\(column), 1, 1) <> x'01' AND "
                + "\(ExternalFunctions.equals)(\(column), substr(\(value), 2))))"
        }
        if !condition.isEmpty { terms.append(condition) }
        let row = try connection.rows(
            "SELECT Z_PK, Z_ENT FROM \(table) WHERE \(terms.joined(separator: " AND ")) "
                + "AND Z_PK IS NOT ?\(stored.count + 1) LIMIT 1",
            stored.map(\.value) + [SQLiteValue(key)]
        ).first
        guard let row, let found = row[0].int64 else { return nil }
        let alone = schema.columnsByNumber.values.first { $0.table == table && $0.condition == nil }
        let number = alone?.number ?? Int32(truncatingIfNeeded: row[1].int64 ?? 0)
        return RowID(entity: number, key: found)
    }

    /// The constraint that `row` breaks, with the columns of its key; nil when it breaks none.
    func violation(
        by row: Row
    ) throws -> (violation: UniquenessViolation, columns: [String])? {
        guard let columns = schema.columns(of: row.id.entity) else { return nil }
        for constraint in schema.constraints where constraint.table == columns.table {
            var stored: [(column: String, value: SQLiteValue)] = []
            for column in constraint.columns {
                guard let value = Self.value(of: column, in: row, columns) else { break }
                stored.append((column, value))
            }
            guard stored.count == constraint.columns.count,
                let holder = try holder(of: stored, in: columns.table, except: row.id.key)
            else { continue }
            let violation = UniquenessViolation(
                entity: schema.name(of: constraint.entity), constraint: constraint.properties,
                id: row.id, holder: holder)
            return (violation, constraint.columns)
        }
        return nil
    }

    private static func value(
        of column: String, in row: Row, _ columns: EntityColumns
    ) -> SQLiteValue? {
        if let slot = columns.attributes.firstIndex(where: { $0.name == column }) {
            return ValueCoding.encode(row.attributes[slot], as: columns.attributes[slot].kind)
        }
        guard let slot = columns.toOnes.firstIndex(where: { $0.key == column }) else { return nil }
        return SQLiteValue(row.toOnes[slot]?.target.key)
    }
}

extension Row {
    /// The row after an update.
    func applying(_ update: RowUpdate) -> Row {
        var row = self
        for (slot, value) in update.attributes { row.attributes[slot] = value }
        for (slot, link) in update.toOnes { row.toOnes[slot] = link }
        return row
    }
}
