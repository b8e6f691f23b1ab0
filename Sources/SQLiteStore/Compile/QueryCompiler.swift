internal import Predicates
internal import SQLiteDriver
internal import Stores

/// SQL text and the values bound to its parameters, left to right.
struct CompiledQuery {
    var sql: String
    var values: [SQLiteValue]
}

/// Turns row queries into SQL.
struct QueryCompiler {
    let schema: StoreSchema
    let reader: RowReader

    /// Selects `list` (columns with the prefix `t.`) of the rows that match.
    func select(_ list: (ReadPlan) -> String, _ query: RowQuery) throws -> CompiledQuery {
        let plan = try reader.plan(
            for: query.entity, includesSubentities: query.includesSubentities)
        guard query.predicate == nil, query.sort.isEmpty else {
            throw StoreError(.unsupported, "Predicates and sorting have no SQL.")
        }
        var sql = "SELECT \(list(plan)) FROM \(plan.table) t"
        if !plan.entityCondition.isEmpty { sql += " WHERE t.\(plan.entityCondition)" }
        sql += " ORDER BY t.Z_PK"
        if query.limit > 0 || query.offset > 0 {
            sql += " LIMIT \(query.limit > 0 ? query.limit : -1) OFFSET \(max(query.offset, 0))"
        }
        return CompiledQuery(sql: sql, values: [])
    }
}
