internal import Predicates
internal import Stores

// Members of ordered relationships by their places.
extension PredicateCompiler {
    /// `x[FIRST]`, `x[LAST]`, `x[n]` of an ordered relationship and `x[SIZE]` of any, then `path`;
    /// and every index of a list of constants. Nil for what has no order, and for places that are
    /// computed.
    func element(
        _ arguments: [ExpressionNode], then path: [String] = [], _ context: Context
    ) throws -> Operand? {
        guard arguments.count == 2 else { return nil }
        let whole = try operand(arguments[0], context)
        if whole.isConstant, path.isEmpty { return constant(FunctionName.index, arguments) }
        guard case .collection(var members) = whole else { return nil }
        if case .function(FunctionName.sizeSymbol, _) = arguments[1] {
            return path.isEmpty ? try aggregate("@count", of: members) : nil
        }
        members.path += path
        return try member(at: arguments[1], of: members)
    }

    /// Rows of one place stand in the order of their keys, as they do when they are read.
    private func member(
        at place: ExpressionNode, of collection: MemberSource
    ) throws -> Operand? {
        var found: Operand?
        let rows = try self.rows(of: collection) { member, _ in
            let single = self.unmarked(member)
            guard let sql = single.sql else { throw self.unsupported(Self.severalToManys) }
            found = single
            return sql
        }
        guard let order = rows.order, let found else { return nil }
        let chosen: SQLFragment
        switch place {
        case .function(FunctionName.firstSymbol, _): chosen = "\(order.place), \(order.key) LIMIT 1"
        case .function(FunctionName.lastSymbol, _):
            chosen = "\(order.place) DESC, \(order.key) DESC LIMIT 1"
        case .constant(let value):
            guard let number = plainConstant(value) as? Int else { return nil }
            // No place is negative; SQLite would begin at the first.
            guard number >= 0 else { return .constant(nil) }
            chosen = "\(order.place), \(order.key) LIMIT 1 OFFSET \(number: number)"
        default: return nil
        }
        let sql: SQLFragment = "(SELECT \(rows.value)\(rows.sql) ORDER BY \(chosen))"
        return switch found {
        case .value(_, let kind): .value(sql, kind)
        case .object(_, let layout): .object(sql, layout)
        case .constant, .composite, .collection: nil
        }
    }
}
