internal import Foundation
internal import Predicates
internal import SQLiteDriver
internal import Stores

extension PredicateCompiler {
    func compare(
        _ left: Operand, _ comparison: ComparisonNode, _ right: Operand, _ context: Context
    ) throws -> SQLFragment {
        if left.isConstant, right.isConstant { return try compareConstants(comparison) }
        switch comparison.operator {
        case .equalTo, .notEqualTo: return try equality(left, comparison, right)
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return try order(left, comparison, right)
        case .between: return try between(left, comparison, right)
        case .in: return try membership(of: left, in: right, comparison)
        case .contains: return try membership(of: right, in: left, comparison)
        case .beginsWith, .endsWith, .like, .matches: return try textTest(left, comparison, right)
        case .customSelector: throw unimplemented(comparison, "LHS")
        }
    }

    /// Decided once; a predicate that cannot be evaluated is refused.
    private func compareConstants(_ comparison: ComparisonNode) throws -> SQLFragment {
        var plain = comparison
        plain.modifier = .direct
        do {
            return try evaluate(.comparison(plain), with: nil, platform: platform) ? "1" : "0"
        } catch {
            throw StoreError(
                .unsupported, "A comparison of constants cannot be decided.", cause: error)
        }
    }

    // MARK: Equality

    private func equality(
        _ left: Operand, _ comparison: ComparisonNode, _ right: Operand
    ) throws -> SQLFragment {
        let isEqual = comparison.operator == .equalTo
        switch (left, right) {
        case (.collection, _), (_, .collection):
            throw unsupported("to-many key not allowed here", comparison)
        case (.constant(let value), let other) where plainConstant(value) == nil,
            (let other, .constant(let value)) where plainConstant(value) == nil:
            if case .composite(let elements) = other { return absence(of: elements, isEqual) }
            guard let sql = other.sql else { throw unimplemented(comparison, "LHS") }
            return isEqual ? "\(sql) IS NULL" : "\(sql) IS NOT NULL"
        case (.object(let key, let layout), .constant(let value)),
            (.constant(let value), .object(let key, let layout)):
            guard let id = plainConstant(value) as? RowID else {
                throw unimplemented(comparison, "RHS")
            }
            guard sharesTree(id.entity, layout) else { return never(key, isEqual) }
            return isEqual
                ? "\(key) = \(value: .integer(id.key))" : "\(key) <> \(value: .integer(id.key))"
        case (.object(let key, let layout), .object(let other, let target)):
            guard sharesTree(target.number, layout) else { return never(key, isEqual) }
            return isEqual ? "\(key) = \(other)" : "\(key) <> \(other)"
        default: return try valueEquality(left, comparison, right)
        }
    }

    /// A composite is there where one of its elements is.
    private func absence(of elements: [SQLFragment], _ isEqual: Bool) -> SQLFragment {
        isEqual
            ? .tree(elements.map { "\($0) IS NULL" }, "AND", empty: "1")
            : .tree(elements.map { "\($0) IS NOT NULL" }, "OR", empty: "0")
    }

    /// Nothing of another kind is equal; everything that is there differs from it.
    private func never(_ sql: SQLFragment, _ isEqual: Bool) -> SQLFragment {
        isEqual ? "0" : "\(sql) IS NOT NULL"
    }

    func sharesTree(_ entity: Int32, _ layout: EntityLayout) -> Bool {
        guard let columns = schema.columns(of: entity) else { return false }
        return columns.root == schema.columns(of: layout.number)?.root
    }

    private func valueEquality(
        _ left: Operand, _ comparison: ComparisonNode, _ right: Operand
    ) throws -> SQLFragment {
        let isEqual = comparison.operator == .equalTo
        if let found = markedEquality(left, right) { return isEqual ? found : "NOT \(found)" }
        let (left, right) = (unmarked(left), unmarked(right))
        guard let kind = valueKind(left, right) else { throw unimplemented(comparison, "LHS") }
        guard let a = try sql(left, as: kind), let b = try sql(right, as: kind) else {
            guard let present = left.sql ?? right.sql else {
                throw unimplemented(comparison, "RHS")
            }
            return never(present, isEqual)
        }
        if let options = textOptions(comparison, kind) {
            let order: SQLFragment = "\(name: TextFunctions.order)(\(a), \(b), \(options))"
            return isEqual ? "\(order) = 0" : "\(order) <> 0"
        }
        return isEqual ? "\(a) = \(b)" : "\(a) <> \(b)"
    }

    /// The comparison of a column that may refer to a file with a constant.
    private func markedEquality(_ left: Operand, _ right: Operand) -> SQLFragment? {
        switch (left, right) {
        case (.value(let column, .data(isMarked: true)), .constant(let constant)),
            (.constant(let constant), .value(let column, .data(isMarked: true))):
            (plainConstant(constant) as? Data).map { marked(column, equals: $0) }
        default: nil
        }
    }

    /// The kind in which two single values are compared: that of the computed one.
    private func valueKind(_ left: Operand, _ right: Operand) -> ValueKind? {
        if case .value(_, let kind) = left { return kind }
        if case .value(_, let kind) = right { return kind }
        return nil
    }

    /// The options as a parameter, where they change how texts compare.
    private func textOptions(_ comparison: ComparisonNode, _ kind: ValueKind) -> SQLFragment? {
        let options = comparison.options
        guard kind.isText, !options.isEmpty, !options.contains(.normalized) else { return nil }
        return "\(value: .integer(Int64(options.rawValue)))"
    }

    // MARK: Order

    private func order(
        _ left: Operand, _ comparison: ComparisonNode, _ right: Operand
    ) throws -> SQLFragment {
        if case .collection = left { throw unsupported("to-many key not allowed here", comparison) }
        let (left, right) = (unmarked(left), unmarked(right))
        guard let kind = valueKind(left, right) else { throw unimplemented(comparison, "LHS") }
        guard let a = try sql(left, as: kind), let b = try sql(right, as: kind) else {
            throw unimplemented(comparison, "RHS")
        }
        if kind == .entity { throw unimplemented(comparison, "LHS") }
        let word = comparison.operator.word
        if let options = textOptions(comparison, kind) {
            return "\(name: TextFunctions.order)(\(a), \(b), \(options)) \(name: word) 0"
        }
        return "\(a) \(name: word) \(b)"
    }

    private func between(
        _ left: Operand, _ comparison: ComparisonNode, _ right: Operand
    ) throws -> SQLFragment {
        var bounds: [Operand] = []
        if case .constant(let value) = right {
            if let list = value as? ExpressionList {
                bounds = try list.elements.map { try operand($0, list.context) }
            } else {
                bounds = (listElements(of: value) ?? []).map { .constant($0) }
            }
        }
        guard bounds.count == 2 else {
            throw unsupported("BETWEEN needs a list of two bounds.", comparison)
        }
        var (lower, upper) = (comparison, comparison)
        lower.operator = .greaterThanOrEqualTo
        upper.operator = .lessThanOrEqualTo
        return "(\(try order(left, lower, bounds[0])) AND \(try order(left, upper, bounds[1])))"
    }

    // MARK: Texts

    func textTest(
        _ left: Operand, _ comparison: ComparisonNode, _ right: Operand
    ) throws -> SQLFragment {
        guard let function = TextFunctions.name(of: comparison.operator) else {
            throw unimplemented(comparison, "LHS")
        }
        if case .collection = left { throw unsupported("to-many key not allowed here", comparison) }
        guard let text = try sql(left, as: .text) else { throw unimplemented(comparison, "LHS") }
        guard let part = try sql(right, as: .text) else { throw unimplemented(comparison, "RHS") }
        if comparison.operator == .matches { try checkPattern(right) }
        let options = SQLiteValue.integer(Int64(comparison.options.rawValue))
        return "\(name: function)(\(text), \(part), \(value: options))"
    }

    /// A pattern that is no regular expression is refused before the query runs.
    private func checkPattern(_ right: Operand) throws {
        guard case .constant(let value) = right, let pattern = plainConstant(value) as? String
        else { return }
        do {
            _ = try TextRules.matches("", pattern, [])
        } catch {
            throw StoreError(
                .unsupported,
                "Can't do regex matching, reason: the pattern is no regular expression.",
                fields: ["operator": "MATCHES"], cause: error)
        }
    }
}

extension Operand {
    /// The SQL of a single value or of a row's key.
    var sql: SQLFragment? {
        switch self {
        case .value(let sql, _), .object(let sql, _): sql
        case .constant, .composite, .collection: nil
        }
    }
}

extension ComparisonNode.Operator {
    /// The operator as SQL or as a predicate's text spells it.
    var word: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .customSelector: "a custom selector"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}
