internal import Foundation
internal import Platform
internal import Predicates
internal import SQLiteDriver
internal import Stores

/// A query as SQL, with the lists that must be in temporary tables while it runs.
struct CompiledQuery {
    var sql: SQLFragment
    var longLists: [[SQLiteValue]]
}

/// Turns row queries into SQL.
struct QueryCompiler {
    let schema: StoreSchema
    let reader: RowReader
    let platform: Environment

    /// What a query selects.
    enum Selection {
        /// The plan's columns.
        case rows
        /// Entity and key.
        case ids
        /// The key alone, in an order that matters only where the query has bounds.
        case keys
        case count
    }

    func compile(_ query: RowQuery, _ selection: Selection) throws -> CompiledQuery {
        let plan = try reader.plan(
            for: query.entity, includesSubentities: query.includesSubentities)
        guard let layout = schema.layout.entity(query.entity) else {
            throw schema.unknownEntity(query.entity)
        }
        let names = AliasNames()
        let scope = QueryScope(layout: layout, names: names)
        let compiler = PredicateCompiler(schema: schema, names: names, platform: platform)
        let context = PredicateCompiler.Context(
            scope: scope, variables: [PredicateCompiler.outerVariable: scope])
        var conditions: [SQLFragment] = []
        if !plan.entityCondition.isEmpty {
            conditions.append("\(name: scope.alias).\(name: plan.entityCondition)")
        }
        if let predicate = query.predicate {
            conditions.append(try compiler.condition(predicate, context))
        }
        let order = try order(of: query, selection, compiler, context)
        var sql: SQLFragment =
            """
            SELECT \(list(selection, plan, scope)) \
            FROM \(name: plan.table) \(name: scope.alias)\(scope.joins)
            """
        if !conditions.isEmpty {
            sql = "\(sql) WHERE \(SQLFragment.tree(conditions, "AND", empty: "1"))"
        }
        sql = "\(sql)\(order)"
        if query.limit > 0 || query.offset > 0 {
            let limit = query.limit > 0 ? query.limit : -1
            sql = "\(sql) LIMIT \(number: limit) OFFSET \(number: max(query.offset, 0))"
        }
        if case .count = selection { sql = "SELECT count(*) FROM (\(sql))" }
        return CompiledQuery(sql: sql, longLists: compiler.longLists)
    }

    private func list(_ selection: Selection, _ plan: ReadPlan, _ scope: QueryScope) -> SQLFragment
    {
        switch selection {
        case .rows: "\(name: plan.list(prefix: scope.alias + "."))"
        case .ids: "\(name: scope.alias).Z_ENT, \(name: scope.alias).Z_PK"
        case .keys: "\(name: scope.alias).Z_PK"
        case .count: "1"
        }
    }

    // MARK: Sorting

    /// Keys come last, so that rows that sort alike always come in the same order.
    private func order(
        of query: RowQuery, _ selection: Selection, _ compiler: PredicateCompiler,
        _ context: PredicateCompiler.Context
    ) throws -> SQLFragment {
        if !isOrdered(selection), query.limit <= 0, query.offset <= 0 { return "" }
        let terms = try query.sort.map { try term(of: $0, compiler, context) }
        return " ORDER BY \(SQLFragment.list(terms + ["\(name: context.scope.alias).Z_PK"]))"
    }

    private func isOrdered(_ selection: Selection) -> Bool {
        switch selection {
        case .rows, .ids: true
        case .keys, .count: false
        }
    }

    private func term(
        of descriptor: NSSortDescriptor, _ compiler: PredicateCompiler,
        _ context: PredicateCompiler.Context
    ) throws -> SQLFragment {
        guard let key = key(of: descriptor) else {
            throw StoreError(
                .unsupported,
                "unsupported NSSortDescriptor (the store knows no Swift key paths; sort by a key)"
            )
        }
        guard key.comparison != .custom else {
            throw StoreError(
                .unsupported, "unsupported NSSortDescriptor (comparator blocks are not supported)")
        }
        let operand = compiler.unmarked(
            try compiler.resolve(key.path, from: context.scope, context.variables))
        guard let sql = operand.sql else {
            throw StoreError(
                .unsupported, "to-many key not allowed here",
                fields: ["key": key.path.joined(separator: ".")])
        }
        let direction = key.ascending ? "ASC" : "DESC"
        guard case .value(_, let kind) = operand, kind.isText, key.comparison != .compare else {
            return "\(sql) \(name: direction)"
        }
        return "\(sql) COLLATE \(name: key.comparison.collation) \(name: direction)"
    }
}
