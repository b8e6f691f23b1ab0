internal import Foundation

// Relationships, lists, texts and ranges.

extension PredicateExpressions.SequenceContains: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let members = try translator.value(sequence)
        let member = try translator.value(element)
        if case .constant = members { return .compare(member, .in, members) }
        return .comparison(
            ComparisonNode(left: members, operator: .equalTo, right: member, modifier: .any))
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let found = try subquery(sequence, variable, translator) { try $0.condition(test) }
        return .compare(.path(from: found, ["@count"]), .greaterThan, .constant(0))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let others = try subquery(sequence, variable, translator) { .not(try $0.condition(test)) }
        return .compare(.path(from: others, ["@count"]), .equalTo, .constant(0))
    }
}

extension PredicateExpressions.Filter: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        try subquery(sequence, variable, translator) { try $0.condition(filter) }
    }
}

/// `SUBQUERY(sequence, $x, …)`.
private func subquery<Element>(
    _ sequence: Any, _ variable: PredicateExpressions.Variable<Element>,
    _ translator: SwiftPredicateTranslator,
    _ test: (SwiftPredicateTranslator) throws -> PredicateNode
) throws -> ExpressionNode {
    let name = translator.freshName
    let inner = translator.binding(variable, to: .variable(name))
    return .subquery(
        collection: try translator.value(sequence), variable: name, predicate: try test(inner))
}

// MARK: Texts

extension PredicateExpressions.CollectionContainsCollection: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        guard Base.Output.self == String.self || Base.Output.self == Substring.self else {
            throw PredicateTranslationError.unsupported(self)
        }
        return .compare(try translator.value(base), .contains, try translator.value(other))
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        guard Base.Output.self == String.self || Base.Output.self == Substring.self else {
            throw PredicateTranslationError.unsupported(self)
        }
        return .compare(try translator.value(base), .beginsWith, try translator.value(prefix))
    }
}

// MARK: Ranges

/// A range, written in the predicate or held by a constant.
protocol TranslatableRange {
    func bounds(_ translator: SwiftPredicateTranslator) throws -> RangeBounds
}

/// The ends of a range that a value must lie between.
struct RangeBounds {
    var lower: ExpressionNode?
    var upper: ExpressionNode?
    var includesUpper = false

    func contain(_ element: ExpressionNode) -> PredicateNode {
        var parts: [PredicateNode] = []
        if let lower { parts.append(.compare(element, .greaterThanOrEqualTo, lower)) }
        if let upper {
            parts.append(.compare(element, includesUpper ? .lessThanOrEqualTo : .lessThan, upper))
        }
        return parts.count == 1 ? parts[0] : .and(parts)
    }
}

extension PredicateExpressions.Range: TranslatableRange {
    func bounds(_ translator: SwiftPredicateTranslator) throws -> RangeBounds {
        RangeBounds(lower: try translator.value(lower), upper: try translator.value(upper))
    }
}

extension PredicateExpressions.ClosedRange: TranslatableRange {
    func bounds(_ translator: SwiftPredicateTranslator) throws -> RangeBounds {
        RangeBounds(
            lower: try translator.value(lower), upper: try translator.value(upper),
            includesUpper: true)
    }
}

/// A range of Swift's with its ends.
private protocol RangeReading {
    var readBounds: RangeBounds { get }
}

extension Range: RangeReading {
    fileprivate var readBounds: RangeBounds {
        RangeBounds(
            lower: .constant(plainConstant(lowerBound)), upper: .constant(plainConstant(upperBound))
        )
    }
}

extension ClosedRange: RangeReading {
    fileprivate var readBounds: RangeBounds {
        RangeBounds(
            lower: .constant(plainConstant(lowerBound)),
            upper: .constant(plainConstant(upperBound)), includesUpper: true)
    }
}

extension PartialRangeFrom: RangeReading {
    fileprivate var readBounds: RangeBounds {
        RangeBounds(lower: .constant(plainConstant(lowerBound)))
    }
}

extension PartialRangeUpTo: RangeReading {
    fileprivate var readBounds: RangeBounds {
        RangeBounds(upper: .constant(plainConstant(upperBound)))
    }
}

extension PartialRangeThrough: RangeReading {
    fileprivate var readBounds: RangeBounds {
        RangeBounds(upper: .constant(plainConstant(upperBound)), includesUpper: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        let element = try translator.value(element)
        if let range = range as? any TranslatableRange {
            return try range.bounds(translator).contain(element)
        }
        if let held = (range as? any ConstantExpression)?.anyValue as? any RangeReading {
            return held.readBounds.contain(element)
        }
        throw PredicateTranslationError.unsupported(self)
    }
}
