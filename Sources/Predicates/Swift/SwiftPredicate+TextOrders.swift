public import Foundation

// What `#Predicate` makes of two texts that are put in order. Foundation has it on Apple's
// platforms only.

extension PredicateExpressions {
    /// How two texts stand to each other in the user's language.
    /// Source: Apple, PredicateExpressions.StringLocalizedCompare.
    public struct StringLocalizedCompare<
        Root: PredicateExpression, Other: PredicateExpression
    >: PredicateExpression where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Which of the two comes first.
        public typealias Output = ComparisonResult

        /// The text that is asked.
        public let root: Root
        /// The one it is compared with.
        public let other: Other

        /// Compares what `root` gives with what `other` gives.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Compares them by Foundation's rules. Throws what the two expressions throw.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try String(root.evaluate(bindings)).localizedCompare(other.evaluate(bindings))
        }
    }

    /// How two texts stand to each other without regard to case.
    /// Source: Apple, PredicateExpressions.StringCaseInsensitiveCompare.
    public struct StringCaseInsensitiveCompare<
        Root: PredicateExpression, Other: PredicateExpression
    >: PredicateExpression where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Which of the two comes first.
        public typealias Output = ComparisonResult

        /// The text that is asked.
        public let root: Root
        /// The one it is compared with.
        public let other: Other

        /// Compares what `root` gives with what `other` gives.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Compares them by Foundation's rules. Throws what the two expressions throw.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try String(root.evaluate(bindings)).caseInsensitiveCompare(other.evaluate(bindings))
        }
    }

    /// What `localizedCompare(_:)` is in a `#Predicate`.
    public static func build_localizedCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> {
        StringLocalizedCompare(root: root, other: other)
    }

    /// What `caseInsensitiveCompare(_:)` is in a `#Predicate`.
    public static func build_caseInsensitiveCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
        StringCaseInsensitiveCompare(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedCompare: Sendable
where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable
where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedCompare: Codable
where Root: Codable, Other: Codable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(root)
        try container.encode(other)
    }

    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        root = try container.decode(Root.self)
        other = try container.decode(Other.self)
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: Codable
where Root: Codable, Other: Codable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(root)
        try container.encode(other)
    }

    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        root = try container.decode(Root.self)
        other = try container.decode(Other.self)
    }
}

extension PredicateExpressions.StringLocalizedCompare: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .order(
            of: try translator.value(root), and: try translator.value(other), .localeSensitive)
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatableValue {
    func value(_ translator: SwiftPredicateTranslator) throws -> ExpressionNode {
        .order(
            of: try translator.value(root), and: try translator.value(other), .caseInsensitive)
    }
}

extension ExpressionNode {
    /// -1, 0 or 1, as `ComparisonResult` counts: Apple's form, `TERNARY(a == b, 0, TERNARY(…))`.
    fileprivate static func order(
        of left: ExpressionNode, and right: ExpressionNode, _ options: ComparisonNode.Options
    ) -> ExpressionNode {
        func compare(_ operation: ComparisonNode.Operator) -> PredicateNode {
            .comparison(
                ComparisonNode(
                    left: left, operator: operation, right: right, options: options))
        }
        return .conditional(
            compare(.equalTo), .constant(0),
            .conditional(compare(.lessThan), .constant(-1), .constant(1)))
    }
}
