internal import Foundation
internal import Predicates
internal import SQLiteDriver
internal import Stores

/// Updates of many rows in one statement. Used under the store's lock, inside a transaction.
extension OpenStore {
    /// Nil where more than a statement is needed: for links, large values in files, and values that
    /// are computed where a row is written.
    func update(_ batch: BatchUpdate) throws -> [RowID]? {
        guard batch.links.isEmpty, let columns = try assignedColumns(of: batch) else { return nil }
        do {
            return try connection.transaction {
                let updated = try write(batch, columns)
                derived.take()
                try writer.recordUpdates(of: updated, by: batch)
                return updated
            }
        } catch {
            forget()
            throw violation(by: error, batch, columns)
        }
    }

    private func assignedColumns(of batch: BatchUpdate) throws -> [AttributeColumn]? {
        guard let layout = schema.layout.entity(batch.rows.entity),
            let own = schema.columns(of: layout.number)
        else { throw schema.unknownEntity(batch.rows.entity) }
        let family = schema.layout.family(of: layout)
        guard family.allSatisfy({ schema.columns(of: $0)?.written.isEmpty == true }) else {
            return nil
        }
        var columns: [AttributeColumn] = []
        for (name, _) in batch.assignments {
            guard let slot = layout.attributeSlot(name) else { return nil }
            let column = own.attributes[slot]
            guard column.kind != .binary(external: true), !column.isDerived else { return nil }
            columns.append(column)
        }
        return columns
    }

    /// The new values are computed of all rows before the first one changes.
    private func write(_ batch: BatchUpdate, _ columns: [AttributeColumn]) throws -> [RowID] {
        let parts = try reading.queries.parts(of: batch.rows)
        var selected: [SQLFragment] = ["\(name: parts.scope.alias).Z_PK AS k"]
        var changes: [SQLFragment] = ["Z_OPT = IFNULL(Z_OPT, 0) + 1"]
        for (place, column) in columns.enumerated() {
            let assignment = batch.assignments[place].value
            selected.append("\(try sql(assignment, column, parts)) AS v\(number: place)")
            changes.append("\(name: column.name) = n.v\(number: place)")
        }
        let table = parts.plan.table
        let isAlone = schema.columns(of: batch.rows.entity)?.condition == nil
        let sql: SQLFragment = """
            UPDATE \(name: table) SET \(SQLFragment.list(changes)) \
            FROM (SELECT \(SQLFragment.list(selected)) \
            FROM \(name: table) \(name: parts.scope.alias)\(parts.scope.joins) \
            WHERE \(SQLFragment.tree(parts.conditions, "AND", empty: "1"))) AS n \
            WHERE \(name: table).Z_PK = n.k RETURNING Z_PK\(name: isAlone ? "" : ", Z_ENT")
            """
        let compiled = CompiledQuery(sql: sql, longLists: parts.compiler.longLists)
        return try reading.run(compiled) { statement in
            var updated: [RowID] = []
            while try statement.step() {
                let entity =
                    isAlone ? batch.rows.entity : Int32(truncatingIfNeeded: statement.int64(at: 1))
                updated.append(RowID(entity: entity, key: statement.int64(at: 0)))
            }
            return updated.sorted()
        }
    }

    private func sql(
        _ assignment: BatchUpdate.Assignment, _ column: AttributeColumn,
        _ parts: QueryCompiler.Parts
    ) throws -> SQLFragment {
        switch assignment {
        case .value(let value):
            guard let encoded = ValueCoding.encode(value, as: column.kind) else {
                throw misfit(column, "a constant")
            }
            return "\(value: encoded)"
        case .expression(let node):
            let compiler = parts.compiler
            let operand = compiler.unmarked(try compiler.operand(node, parts.context))
            guard let sql = try compiler.sql(operand, as: ValueKind(column.kind)) else {
                throw misfit(column, node.description)
            }
            switch column.kind {
            case .integer: return "CAST(\(sql) AS INTEGER)"
            case .boolean: return "(\(sql)) <> 0"
            case .double, .float, .date: return "CAST(\(sql) AS REAL)"
            case .decimal, .text, .uuid, .uri, .transformable, .binary: return sql
            }
        }
    }

    private func misfit(_ column: AttributeColumn, _ found: String) -> StoreError {
        StoreError(
            .invalidValue,
            "The new value of an attribute is not of its type; cast it or choose another.",
            fields: ["column": column.name, "value": found])
    }

    /// The broken uniqueness constraint, where that is why the statement failed.
    private func violation(
        by error: any Error, _ batch: BatchUpdate, _ columns: [AttributeColumn]
    ) -> any Error {
        guard let fault = error as? SQLiteFault, fault.isConstraint,
            let table = schema.columns(of: batch.rows.entity)?.table,
            let broken = schema.constraints.first(where: { constraint in
                constraint.table == table
                    && columns.contains { constraint.columns.contains($0.name) }
            })
        else { return error }
        return UniquenessViolation(
            entity: schema.name(of: broken.entity), constraint: broken.properties,
            id: RowID(entity: batch.rows.entity, key: 0), holder: nil)
    }
}

extension ChangeWriter {
    /// Writes the history of rows that one statement updated.
    func recordUpdates(of rows: [RowID], by batch: BatchUpdate) throws {
        guard let history, !rows.isEmpty else { return }
        var bitmaps: [Int32: ChangeBitmap] = [:]
        for entity in Set(rows.map(\.entity)) {
            guard let layout = schema.layout.entity(entity) else { continue }
            var update = RowUpdate(id: RowID(entity: entity, key: 0))
            update.attributes = batch.assignments.compactMap { assignment in
                layout.attributeSlot(assignment.attribute).map { ($0, .null) }
            }
            bitmaps[entity] = history.reader.columns(of: entity).map {
                ChangeBitmap($0.bitmap(of: update))
            }
        }
        let number = try history.log.begin(author: batch.author, contextName: batch.contextName)
        try history.log.write(count: rows.count, transaction: number) { index in
            .init(kind: .update, id: rows[index], bitmap: bitmaps[rows[index].entity])
        }
    }
}
