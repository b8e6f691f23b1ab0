internal import Foundation
internal import ObjectModel
internal import Predicates
internal import SQLiteDriver
internal import Stores

/// A compiled part of an expression among the constants of its tree.
struct CompiledPart: CustomStringConvertible {
    var operand: Operand
    /// The expression it was made of, for messages.
    var description: String
}

/// How a value of a line is read.
enum LineColumn {
    case value(ValueKind)
    /// Read from two columns: key and entity.
    case object(EntityLayout)
}

/// A value query as SQL.
struct CompiledValues {
    var query: CompiledQuery
    var columns: [LineColumn]
}

/// Values of rows and of groups of rows.
extension QueryCompiler {
    func compile(_ query: ValueQuery) throws -> CompiledValues {
        guard let layout = schema.layout.entity(query.rows.entity) else {
            throw schema.unknownEntity(query.rows.entity)
        }
        let parts = try parts(of: query.rows)
        let lines = LineCompiler(
            query: query, entity: layout.entity, compiler: parts.compiler, context: parts.context)
        var selected: [SQLFragment] = []
        var columns: [LineColumn] = []
        for column in query.columns {
            let (sql, kind) = try lines.column(try lines.operand(column.expression), column.name)
            selected += sql
            columns.append(kind)
        }
        let grouping = try query.grouping.map { try lines.sql($0) }
        let having = try query.groupCondition.map { try lines.condition($0) }
        let order = try order(of: query, lines, grouping, selected)
        // The joins are known once every part is compiled.
        let list = SQLFragment.list(selected)
        var sql: SQLFragment = """
            SELECT \(name: query.isDistinct ? "DISTINCT " : "")\(list) \
            FROM \(name: parts.plan.table) \(name: parts.scope.alias)\(parts.scope.joins)
            """
        if !parts.conditions.isEmpty {
            sql = "\(sql) WHERE \(SQLFragment.tree(parts.conditions, "AND", empty: "1"))"
        }
        if !grouping.isEmpty { sql = "\(sql) GROUP BY \(SQLFragment.list(grouping))" }
        if let having { sql = "\(sql) HAVING \(having)" }
        sql = "\(sql)\(order)\(bounds(of: query.rows))"
        return CompiledValues(
            query: CompiledQuery(sql: sql, longLists: parts.compiler.longLists), columns: columns)
    }

    private func order(
        of query: ValueQuery, _ lines: LineCompiler, _ grouping: [SQLFragment],
        _ selected: [SQLFragment]
    ) throws -> SQLFragment {
        var terms = try query.rows.sort.map { descriptor in
            let key = try sortKey(of: descriptor)
            if let place = query.column(sortedBy: key, in: lines.entity) {
                let operand = try lines.operand(query.columns[place].expression)
                return try term(of: key, lines.compiler.unmarked(operand))
            }
            return try term(of: key, lines.compiler, lines.context)
        }
        if query.isDistinct {
            terms += selected
        } else if !grouping.isEmpty {
            terms += grouping
        } else if !query.isAggregated(lines.calls) {
            terms.append("\(name: lines.context.scope.alias).Z_PK")
        }
        return terms.isEmpty ? "" : " ORDER BY \(SQLFragment.list(terms))"
    }
}

/// Compiles what a line consists of.
struct LineCompiler {
    let query: ValueQuery
    let entity: NSEntityDescription
    let compiler: PredicateCompiler
    let context: PredicateCompiler.Context
    let calls: AggregateCalls

    init(
        query: ValueQuery, entity: NSEntityDescription, compiler: PredicateCompiler,
        context: PredicateCompiler.Context
    ) {
        self.query = query
        self.entity = entity
        self.compiler = compiler
        self.context = context
        calls = AggregateCalls(of: entity)
    }

    func operand(_ node: ExpressionNode) throws -> Operand {
        try compiler.operand(calls.replacing(in: node, replacement), context)
    }

    func condition(_ node: PredicateNode) throws -> SQLFragment {
        try compiler.condition(calls.replacing(in: node, replacement), context)
    }

    /// A single value or an object's key.
    func sql(_ node: ExpressionNode) throws -> SQLFragment {
        guard let sql = compiler.unmarked(try operand(node)).sql else {
            throw compiler.unsupported("to-many key not allowed here")
        }
        return sql
    }

    /// What a column selects, and how it is read.
    func column(_ operand: Operand, _ name: String) throws -> ([SQLFragment], LineColumn) {
        switch compiler.unmarked(operand) {
        case .value(_, .entity):
            throw compiler.unsupported("The entity is no value to fetch (\(name)); fetch its ID")
        case .value(let sql, let kind): return ([sql], .value(kind))
        case .object(let key, let layout):
            return ([key, try entityNumber(of: key, layout)], .object(layout))
        case .constant(let value):
            let kind = PredicateCompiler.kind(of: value) ?? .number
            guard let sql = try compiler.sql(operand, as: kind) else {
                throw compiler.unsupported("Unsupported constant value expression for \(name)")
            }
            return ([sql], .value(kind))
        case .composite:
            throw compiler.unsupported(
                "A composite is no single value (\(name)); fetch its elements")
        case .collection: throw compiler.unsupported("to-many key not allowed here")
        }
    }

    /// The entity number of the row that has a key.
    private func entityNumber(of key: SQLFragment, _ layout: EntityLayout) throws -> SQLFragment {
        guard let columns = compiler.schema.columns(of: layout.number) else {
            throw compiler.schema.unknownEntity(layout.number)
        }
        guard columns.condition != nil else { return "\(number: Int(layout.number))" }
        return "(SELECT Z_ENT FROM \(name: columns.table) WHERE Z_PK = \(key))"
    }

    private func replacement(
        _ function: AggregateFunction, _ argument: ExpressionNode
    ) throws -> ExpressionNode {
        try compiler.aggregate(function, argument, context) { $0 }
    }
}

extension LineColumn {
    /// The value at a place of the statement's present row, as a plain constant. Moves the place
    /// behind it.
    func read(_ statement: Statement, _ place: inout Int) -> Any? {
        defer { place += 1 }
        if statement.isNull(at: place) {
            if case .object = self { place += 1 }
            return nil
        }
        switch self {
        case .value(let kind): return Self.plain(statement.value(at: place), kind)
        case .object(let layout):
            let key = statement.int64(at: place)
            place += 1
            let named = statement.isNull(at: place) ? nil : statement.int64(at: place)
            let entity = named.flatMap { Int32(exactly: $0) } ?? layout.number
            return RowID(entity: entity, key: key)
        }
    }

    private static func plain(_ value: SQLiteValue, _ kind: ValueKind) -> Any? {
        switch (kind, value) {
        case (_, .null): nil
        case (.date, .integer), (.date, .real):
            value.double.map { Date(timeIntervalSinceReferenceDate: $0) }
        case (.uri, .text(let text)): URL(string: text)
        case (.uuid, .blob(let data)) where data.count == 16:
            UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        case (_, .integer(let integer)): Int(integer)
        case (_, .real(let real)): real
        case (_, .text(let text)): text
        case (_, .blob(let data)): data
        }
    }
}
