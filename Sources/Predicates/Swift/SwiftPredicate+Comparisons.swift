internal import Foundation

// Comparisons and logic.

extension PredicateExpressions.Equal: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        try equality(lhs, rhs, translator)
            ?? .compare(
                translator.value(lhs), .equalTo, translator.value(rhs))
    }
}

extension PredicateExpressions.NotEqual: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        if let equal = try equality(lhs, rhs, translator) { return .not(equal) }
        return try .compare(translator.value(lhs), .notEqualTo, translator.value(rhs))
    }
}

/// `condition == true` and `condition == false`, which optional chains need in Swift; nil for
/// other equalities.
private func equality(
    _ left: Any, _ right: Any, _ translator: SwiftPredicateTranslator
) throws -> PredicateNode? {
    let sides = [(left, right), (right, left)]
    for (side, other) in sides {
        guard let constant = (other as? any ConstantExpression)?.anyValue,
            let wanted = plainConstant(constant) as? Bool
        else { continue }
        if let chain = side as? any ChainedCondition {
            let (origin, inner) = try chain.chain(translator)
            guard let inner else { return nil }
            if wanted { return inner }
            return .and([.compare(origin, .notEqualTo, .constant(nil)), .not(inner)])
        }
        guard side is any TranslatableCondition else { return nil }
        let inner = try translator.condition(side)
        return wanted ? inner : .not(inner)
    }
    return nil
}

extension PredicateExpressions.Comparison: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let operation: ComparisonNode.Operator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: throw PredicateTranslationError.unsupported(self)
            }
        return try .compare(translator.value(lhs), operation, translator.value(rhs))
    }
}

extension PredicateExpressions.Conjunction: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let (left, right) = (try translator.condition(lhs), try translator.condition(rhs))
        // Chains are flat, as the parser makes them.
        if case .and(let parts) = left { return .and(parts + [right]) }
        return .and([left, right])
    }
}

extension PredicateExpressions.Disjunction: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let (left, right) = (try translator.condition(lhs), try translator.condition(rhs))
        if case .or(let parts) = left { return .or(parts + [right]) }
        return .or([left, right])
    }
}

extension PredicateExpressions.Negation: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        .not(try translator.condition(wrapped))
    }
}

// MARK: Optional chains

/// An optional chain, whose last step may be a condition.
protocol ChainedCondition {
    /// What the chain starts from, and its last step as a condition; nil where that is a value.
    func chain(
        _ translator: SwiftPredicateTranslator
    ) throws -> (origin: ExpressionNode, condition: PredicateNode?)
}

extension PredicateExpressions.OptionalFlatMap: TranslatableValue, ChainedCondition {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        let origin = try translator.value(wrapped)
        return try translator.binding(variable, to: origin).value(transform)
    }

    func chain(
        _ translator: SwiftPredicateTranslator
    ) throws -> (origin: ExpressionNode, condition: PredicateNode?) {
        let origin = try translator.value(wrapped)
        guard transform is any TranslatableCondition else { return (origin, nil) }
        return (origin, try translator.binding(variable, to: origin).condition(transform))
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableValue, TranslatableCondition {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        let left = try translator.value(lhs)
        return .conditional(
            .compare(left, .notEqualTo, .constant(nil)), left, try translator.value(rhs))
    }

    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let other = try translator.condition(rhs)
        if let chain = lhs as? any ChainedCondition,
            case let (origin, inner?) = try chain.chain(translator)
        {
            let isMissing = PredicateNode.compare(origin, .equalTo, .constant(nil))
            if case .constant(false) = other { return inner }
            if case .constant(true) = other { return .or([isMissing, inner]) }
            return .or([inner, .and([isMissing, other])])
        }
        let left = try translator.value(lhs)
        let isTrue = PredicateNode.compare(left, .equalTo, .constant(true))
        if case .constant(false) = other { return isTrue }
        return .or([isTrue, .and([.compare(left, .equalTo, .constant(nil)), other])])
    }
}
