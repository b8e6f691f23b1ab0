internal import Foundation

// Constants, variables, key paths and arithmetic.

/// A constant of a Swift predicate.
protocol ConstantExpression {
    var anyValue: Any { get }
}

extension PredicateExpressions.Value: TranslatableValue, ConstantExpression {
    var anyValue: Any { value }

    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .constant(Self.plain(value))
    }

    /// Enumerations stand for their raw values, as in the model.
    private static func plain(_ value: Any) -> Any? {
        if let raw = value as? any RawRepresentable { return plainConstant(raw.rawValue) }
        if let members = listElements(of: value) { return members.map { plain($0 as Any) } }
        return plainConstant(value)
    }
}

extension PredicateExpressions.NilLiteral: TranslatableValue, ConstantExpression {
    var anyValue: Any { NSNull() }

    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode { .constant(nil) }
}

extension PredicateExpressions.Variable: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        guard let node = translator.node(of: key) else {
            throw PredicateTranslationError.unsupported(self)
        }
        return node
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        try translator.value(inner)
    }
}

extension PredicateExpressions.ForceCast: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        try translator.value(input)
    }
}

extension PredicateExpressions.Conditional: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .conditional(
            try translator.condition(test), try translator.value(trueBranch),
            try translator.value(falseBranch))
    }
}

extension PredicateExpressions.KeyPath: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        let origin = try translator.value(root)
        switch kind {
        case .collectionCount: return Self.count(of: origin)
        case .collectionIsEmpty:
            return .conditional(
                .compare(Self.count(of: origin), .equalTo, .constant(0)), .constant(true),
                .constant(false))
        case .collectionFirst, .bidirectionalCollectionLast:
            throw PredicateTranslationError.unsupported(self)
        case nil: break
        @unknown default: throw PredicateTranslationError.unsupported(self)
        }
        return .path(from: origin, try translator.name(of: keyPath)).normalized
    }

    /// Whether the path tells of a collection that is has no members.
    fileprivate var isEmptiness: Bool { kind == .collectionIsEmpty }

    fileprivate func emptiness(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        .compare(Self.count(of: try translator.value(root)), .equalTo, .constant(0))
    }

    /// The number of a text's characters, or of a relationship's members.
    private static func count(of origin: ExpressionNode) -> ExpressionNode {
        let isText = Root.Output.self == String.self || Root.Output.self == String?.self
        return isText
            ? .function("length:", [origin]) : .path(from: origin, ["@count"]).normalized
    }
}

extension PredicateExpressions.KeyPath: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        if isEmptiness { return try emptiness(translator) }
        return .compare(try value(translator), .equalTo, .constant(true))
    }
}

extension PredicateExpressions.Arithmetic: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        let name =
            switch op {
            case .add: FunctionName.add
            case .subtract: FunctionName.subtract
            case .multiply: FunctionName.multiply
            @unknown default: throw PredicateTranslationError.unsupported(self)
            }
        return .function(name, [try translator.value(lhs), try translator.value(rhs)])
    }
}

extension PredicateExpressions.FloatDivision: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .function(FunctionName.divide, [try translator.value(lhs), try translator.value(rhs)])
    }
}

extension PredicateExpressions.IntDivision: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .function(FunctionName.divide, [try translator.value(lhs), try translator.value(rhs)])
    }
}

extension PredicateExpressions.IntRemainder: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .function("modulus:by:", [try translator.value(lhs), try translator.value(rhs)])
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .function(FunctionName.subtract, [.constant(0), try translator.value(wrapped)])
    }
}
