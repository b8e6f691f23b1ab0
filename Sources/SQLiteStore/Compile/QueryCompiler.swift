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
        /// The key alone, in the query's order.
        case orderedKeys
        case count
    }

    /// What every query of rows has: its rows, and where expressions stand.
    struct Parts {
        var plan: ReadPlan
        var compiler: PredicateCompiler
        var context: PredicateCompiler.Context
        var conditions: [SQLFragment] = []
        var scope: QueryScope { context.scope }
    }

    func parts(of query: RowQuery) throws -> Parts {
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
        var parts = Parts(plan: plan, compiler: compiler, context: context)
        if !plan.entityCondition.isEmpty {
            parts.conditions.append("\(name: scope.alias).\(name: plan.entityCondition)")
        }
        if let predicate = query.predicate {
            let whole = try selectingAggregates(in: predicate, of: layout, plan, compiler)
            parts.conditions.append(try compiler.condition(whole, context))
        }
        return parts
    }

    func compile(_ query: RowQuery, _ selection: Selection) throws -> CompiledQuery {
        let parts = try parts(of: query)
        let order = try order(of: query, selection, parts.compiler, parts.context)
        var sql: SQLFragment =
            """
            SELECT \(list(selection, parts.plan, parts.scope)) \
            FROM \(name: parts.plan.table) \(name: parts.scope.alias)\(parts.scope.joins)
            """
        if !parts.conditions.isEmpty {
            sql = "\(sql) WHERE \(SQLFragment.tree(parts.conditions, "AND", empty: "1"))"
        }
        sql = "\(sql)\(order)\(bounds(of: query))"
        if case .count = selection { sql = "SELECT count(*) FROM (\(sql))" }
        return CompiledQuery(sql: sql, longLists: parts.compiler.longLists)
    }

    func bounds(of query: RowQuery) -> SQLFragment {
        guard query.limit > 0 || query.offset > 0 else { return "" }
        let limit = query.limit > 0 ? query.limit : -1
        return " LIMIT \(number: limit) OFFSET \(number: max(query.offset, 0))"
    }

    private func list(_ selection: Selection, _ plan: ReadPlan, _ scope: QueryScope) -> SQLFragment
    {
        switch selection {
        case .rows: "\(name: plan.list(prefix: scope.alias + "."))"
        case .ids: "\(name: scope.alias).Z_ENT, \(name: scope.alias).Z_PK"
        case .keys, .orderedKeys: "\(name: scope.alias).Z_PK"
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
        let terms = try query.sort.map { try term(of: sortKey(of: $0), compiler, context) }
        return " ORDER BY \(SQLFragment.list(terms + ["\(name: context.scope.alias).Z_PK"]))"
    }

    private func isOrdered(_ selection: Selection) -> Bool {
        switch selection {
        case .rows, .ids, .orderedKeys: true
        case .keys, .count: false
        }
    }

    func sortKey(of descriptor: NSSortDescriptor) throws -> SortKey {
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
        return key
    }

    func term(
        of key: SortKey, _ compiler: PredicateCompiler, _ context: PredicateCompiler.Context
    ) throws -> SQLFragment {
        let operand = try compiler.resolve(key.path, from: context.scope, context.variables)
        return try term(of: key, compiler.unmarked(operand))
    }

    func term(of key: SortKey, _ operand: Operand) throws -> SQLFragment {
        if case .composite = operand {
            throw StoreError(
                .unsupported, "A composite has no order; sort by one of its elements.",
                fields: ["key": key.path.joined(separator: ".")])
        }
        guard let sql = operand.sql else {
            throw StoreError(
                .unsupported, "to-many key not allowed here",
                fields: ["key": key.path.joined(separator: ".")])
        }
        if case .value(_, .entity) = operand {
            throw StoreError(
                .unsupported, "A store does not sort by the entity; sort by an attribute.",
                fields: ["key": key.path.joined(separator: ".")])
        }
        let direction = key.ascending ? "ASC" : "DESC"
        guard case .value(_, let kind) = operand, kind.isText, key.comparison != .compare else {
            return "\(sql) \(name: direction)"
        }
        return "\(sql) COLLATE \(name: key.comparison.collation) \(name: direction)"
    }
}
