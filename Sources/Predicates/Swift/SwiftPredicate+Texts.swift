public import Foundation

// What `#Predicate` makes of a search for a text. Foundation has it on Apple's platforms only.

extension PredicateExpressions {
    /// Whether a text is in another as people search: without regard to case and diacritics.
    /// Source: Apple, PredicateExpressions.StringLocalizedStandardContains.
    public struct StringLocalizedStandardContains<
        Root: PredicateExpression, Other: PredicateExpression
    >: PredicateExpression where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// True where the text is found.
        public typealias Output = Bool

        /// Where it is looked for.
        public let root: Root
        /// What is looked for.
        public let other: Other

        /// Looks for the text that `other` gives in the one of `root`.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Looks for it with Foundation's rules and the user's language. Throws what the two
        /// expressions throw.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
        }
    }

    /// What `localizedStandardContains(_:)` is in a `#Predicate`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
        StringLocalizedStandardContains(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable
where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable
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

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableCondition {
    func condition(_ translator: SwiftPredicateTranslator) throws -> PredicateNode {
        .comparison(
            ComparisonNode(
                left: try translator.value(root), operator: .contains,
                right: try translator.value(other),
                options: [.caseInsensitive, .diacriticInsensitive]))
    }
}
