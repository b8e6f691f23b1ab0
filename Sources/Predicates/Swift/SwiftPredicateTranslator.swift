public import Foundation

/// Turns Foundation's `Predicate`, as `#Predicate` makes it, into a tree of ours.
///
/// What is translated: comparisons, logic, arithmetic, optional chains and `??`, ranges,
/// `contains`, `localizedStandardContains`, `localizedCompare`, `caseInsensitiveCompare`,
/// `starts(with:)`, `allSatisfy`, `filter`, `count` and
/// `isEmpty` of relationships and texts, `?:`. Everything else throws `PredicateTranslationError`.
public struct SwiftPredicateTranslator {
    private let naming: (AnyKeyPath) -> String?
    private var variables: [PredicateExpressions.VariableID: ExpressionNode] = [:]

    /// `naming` knows the model's names of Swift key paths.
    public init(naming: @escaping (AnyKeyPath) -> String?) { self.naming = naming }

    /// The predicate as a tree. Throws `PredicateTranslationError`.
    public func node<Input>(of predicate: Predicate<Input>) throws -> PredicateNode {
        var inner = self
        inner.variables[predicate.variable.key] = .evaluatedObject
        return try inner.condition(predicate.expression).normalized
    }

    /// The translator in a closure whose variable stands for `node`.
    func binding<Output>(
        _ variable: PredicateExpressions.Variable<Output>, to node: ExpressionNode
    ) -> SwiftPredicateTranslator {
        var inner = self
        inner.variables[variable.key] = node
        return inner
    }

    /// A name for the variable of a subquery, which no other around it has.
    var freshName: String { "x\(variables.count)" }

    /// What a variable stands for.
    func node(of key: PredicateExpressions.VariableID) -> ExpressionNode? { variables[key] }

    /// The model's name of what a key path reads.
    func name(of path: AnyKeyPath) throws -> [String] {
        guard let name = naming(path) else { throw PredicateTranslationError.unnamed(path) }
        return name.split(separator: ".").map(String.init)
    }

    /// An expression as a condition: a Boolean value is compared with true.
    func condition(_ expression: Any) throws -> PredicateNode {
        if let condition = expression as? any TranslatableCondition {
            return try condition.condition(self)
        }
        let value = try value(expression)
        if case .constant(let constant as Bool) = value { return .constant(constant) }
        return .comparison(ComparisonNode(left: value, operator: .equalTo, right: .constant(true)))
    }

    /// An expression as a value: a condition is 1 or 0.
    func value(_ expression: Any) throws -> ExpressionNode {
        if let value = expression as? any TranslatableValue { return try value.value(self) }
        if expression is any TranslatableCondition {
            return .conditional(try condition(expression), .constant(true), .constant(false))
        }
        throw PredicateTranslationError.unsupported(expression)
    }
}

/// A part of a Swift predicate that is true or false.
protocol TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode
}

/// A part of a Swift predicate that has a value.
protocol TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode
}

extension PredicateNode {
    /// `left operator right`, direct and without options.
    static func compare(
        _ left: ExpressionNode, _ operation: ComparisonNode.Operator, _ right: ExpressionNode
    ) -> PredicateNode {
        .comparison(ComparisonNode(left: left, operator: operation, right: right))
    }
}
