internal import Foundation
internal import Predicates
internal import SQLiteDriver
internal import Stores

// Functions over rows: of a group, or of a whole entity.
extension PredicateCompiler {
    /// The function as a part of a tree that is compiled next; `place` says where its rows come
    /// from. Throws `.unsupported` for what the function cannot take.
    func aggregate(
        _ function: AggregateFunction, _ argument: ExpressionNode, _ context: Context,
        _ place: (SQLFragment) -> SQLFragment
    ) throws -> ExpressionNode {
        let operand = unmarked(try self.operand(argument, context))
        let text = "\(function.rawValue)(\(argument))"
        let refusal = unsupported("Unsupported function expression \(text)")
        guard let sql = operand.sql else { throw refusal }
        func part(_ result: SQLFragment, _ kind: ValueKind) -> ExpressionNode {
            let placed = place(result).fraction(sql.isFraction && function != .count)
            return .constant(CompiledPart(operand: .value(placed, kind), description: text))
        }
        if function == .count { return part("count(\(sql))", .number) }
        guard case .value(_, let kind) = operand, kind != .entity else { throw refusal }
        let result: SQLFragment
        switch function {
        case .sum: result = "IFNULL(sum(\(sql)), 0)"
        case .average: result = "avg(\(sql))"
        case .minimum: result = "min(\(sql))"
        case .maximum, .count: result = "max(\(sql))"
        }
        if function == .sum || function == .average, kind != .number { throw refusal }
        return part(result, kind)
    }
}

extension QueryCompiler {
    /// A condition on single rows with each function over all rows that may be found as a
    /// subselect: `age == max:(age)`. What else the condition asks does not matter to it, as with
    /// Apple.
    func selectingAggregates(
        in condition: PredicateNode, of layout: EntityLayout, _ plan: ReadPlan,
        _ compiler: PredicateCompiler
    ) throws -> PredicateNode {
        let calls = AggregateCalls(of: layout.entity)
        guard calls.areIn(condition) else { return condition }
        return try calls.replacingOverEntity(in: condition) { function, argument in
            let scope = QueryScope(layout: layout, names: compiler.names)
            let context = PredicateCompiler.Context(
                scope: scope, variables: [PredicateCompiler.outerVariable: scope])
            return try compiler.aggregate(function, argument, context) { result in
                let rows: SQLFragment =
                    "\(name: plan.table) \(name: scope.alias)\(scope.joins)"
                guard !plan.entityCondition.isEmpty else {
                    return "(SELECT \(result) FROM \(rows))"
                }
                return """
                    (SELECT \(result) FROM \(rows) \
                    WHERE \(name: scope.alias).\(name: plan.entityCondition))
                    """
            }
        }
    }
}
