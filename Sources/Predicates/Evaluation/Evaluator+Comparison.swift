internal import Foundation

extension Evaluator {
    func holds(_ comparison: ComparisonNode) throws -> Bool {
        let left = try value(of: comparison.left)
        let right = try constant(of: comparison.right)
        switch comparison.modifier {
        case .direct: return try compare(Constant(left), comparison, right)
        case .any:
            return try elements(left).contains { try compare(Constant($0), comparison, right) }
        case .all:
            return try elements(left).allSatisfy { try compare(Constant($0), comparison, right) }
        }
    }

    /// The members of all lists within lists: a path over two to-many relationships is one
    /// collection.
    private func elements(_ value: Any?) throws -> [Any?] {
        switch Constant(value) {
        case .null: return []
        case .list(let elements): return elements.flatMap(flattened)
        default:
            throw EvaluationError(
                .notACollection,
                """
                The left hand side for an ALL or ANY operator must be either an NSArray or an \
                NSSet.
                """
            )
        }
    }

    private func flattened(_ value: Any?) -> [Any?] {
        guard case .list(let elements) = Constant(value) else { return [value] }
        return elements.flatMap(flattened)
    }

    private func compare(
        _ first: Constant, _ comparison: ComparisonNode, _ second: Constant
    ) throws -> Bool {
        let options = comparison.options
        let left = identified(first, comparison.left, beside: second)
        let right = identified(second, comparison.right, beside: first)
        switch comparison.operator {
        case .equalTo: return ValueRules.equal(left, right, options)
        case .notEqualTo: return !ValueRules.equal(left, right, options)
        case .lessThan: return try order(left, right, options, [.orderedAscending])
        case .lessThanOrEqualTo:
            return try order(left, right, options, [.orderedAscending, .orderedSame])
        case .greaterThan: return try order(left, right, options, [.orderedDescending])
        case .greaterThanOrEqualTo:
            return try order(left, right, options, [.orderedDescending, .orderedSame])
        case .in: return try isMember(left, of: right, comparison)
        case .contains: return try isMember(right, of: left, comparison)
        case .between: return try isBetween(left, right, options)
        case .matches, .like, .beginsWith, .endsWith:
            return try compareTexts(left, comparison, right)
        case .customSelector: return try send(comparison.selectorName ?? "CUSTOM", left, right)
        }
    }

    /// A text that the predicate itself gives, beside an identifier: the one that it spells. A text
    /// that an object has is none.
    private func identified(
        _ value: Constant, _ node: ExpressionNode, beside other: Constant
    ) -> Constant {
        guard case .uuid = other, case .text(let text) = value, node.constantValue != nil,
            let id = UUID(uuidString: text)
        else { return value }
        return .uuid(id)
    }

    private func send(_ name: String, _ left: Constant, _ right: Constant) throws -> Bool {
        guard let function = CustomSelectors.function(named: name) else {
            throw EvaluationError(
                .unsupported,
                """
                Nobody registered the selector of a comparison: \
                NSExpression.register(selector:_:) does, or use a block.
                """, fields: ["operator": name])
        }
        switch Constant(try function(left.plain, [right.plain])) {
        case .bool(let holds): return holds
        case .integer(let number): return number != 0
        default: return false
        }
    }

    private func order(
        _ left: Constant, _ right: Constant, _ options: ComparisonNode.Options,
        _ wanted: [ComparisonResult]
    ) throws -> Bool {
        guard let order = try ValueRules.order(left, right, options) else { return false }
        return wanted.contains(order)
    }

    private func isMember(
        _ element: Constant, of whole: Constant, _ comparison: ComparisonNode
    ) throws -> Bool {
        switch (whole, element) {
        case (.null, _): return false
        case (.list(let elements), _):
            let isGiven = comparison.collectionSide.constantValue != nil
            return elements.contains { listed in
                let listed = Constant(listed)
                guard !isGiven else {
                    return ValueRules.isListed(element, as: listed, comparison.options)
                }
                let own = identified(element, comparison.elementSide, beside: listed)
                return ValueRules.equal(listed, own, comparison.options)
            }
        case (.text, .null), (.url, .null): return false
        case (.text, _) where element.spelling != nil, (.url, _) where element.spelling != nil:
            return TextRules.contains(
                whole.spelling ?? "", element.spelling ?? "", comparison.options)
        case (.other(let value as [AnyHashable: Any]), _):
            return value.values.contains {
                ValueRules.equal(Constant($0), element, comparison.options)
            }
        default: throw mismatch(comparison.operator, whole)
        }
    }

    private func isBetween(
        _ value: Constant, _ bounds: Constant, _ options: ComparisonNode.Options
    ) throws -> Bool {
        guard case .list(let ends) = bounds, ends.count == 2 else {
            throw EvaluationError(
                .typeMismatch, "BETWEEN needs a list of two bounds.",
                fields: ["operator": "BETWEEN"])
        }
        let bounds = ends.map { identified(Constant($0), .constant($0), beside: value) }
        return try order(value, bounds[0], options, [.orderedDescending, .orderedSame])
            && order(value, bounds[1], options, [.orderedAscending, .orderedSame])
    }

    private func compareTexts(
        _ left: Constant, _ comparison: ComparisonNode, _ right: Constant
    ) throws -> Bool {
        if left.isNull || right.isNull { return false }
        guard let text = left.spelling else { throw mismatch(comparison.operator, left) }
        guard let part = right.spelling else { throw mismatch(comparison.operator, right) }
        let options = comparison.options
        switch comparison.operator {
        case .matches: return try TextRules.matches(text, part, options)
        case .like: return TextRules.like(text, part, options)
        case .beginsWith: return TextRules.begins(text, with: part, options)
        default: return TextRules.ends(text, with: part, options)
        }
    }

    private func mismatch(
        _ name: ComparisonNode.Operator, _ value: Constant
    ) -> EvaluationError {
        EvaluationError(
            .typeMismatch, "\(name.text) cannot take a \(value.kindName).",
            fields: ["operator": name.text])
    }
}

extension ComparisonNode {
    /// The side of IN or CONTAINS that is searched.
    fileprivate var collectionSide: ExpressionNode { `operator` == .in ? right : left }
    /// The side that is looked for in the other.
    fileprivate var elementSide: ExpressionNode { `operator` == .in ? left : right }
}
