public import Foundation

/// A predicate as a tree of values: what the parser makes, what evaluation and SQL generation read.
public indirect enum PredicateNode: @unchecked Sendable {
    // @unchecked: constants are values or frozen Foundation objects; a tree is never changed.
    /// `TRUEPREDICATE`, `FALSEPREDICATE`.
    case constant(Bool)
    /// `AND`; holds when it is empty.
    case and([PredicateNode])
    /// `OR`; does not hold when it is empty.
    case or([PredicateNode])
    /// `NOT`.
    case not(PredicateNode)
    /// Two expressions and an operator.
    case comparison(ComparisonNode)
    /// A predicate of Foundation's that has no tree, such as a block. It is evaluated in memory
    /// only.
    case opaque(NSPredicate)
}

/// `left operator right`, with its modifier and options.
public struct ComparisonNode: Sendable {
    /// Raw values are Apple's (NSComparisonPredicate.Operator).
    public enum Operator: UInt, Sendable {
        /// `<`.
        case lessThan = 0
        /// `<=`.
        case lessThanOrEqualTo = 1
        /// `>`.
        case greaterThan = 2
        /// `>=`.
        case greaterThanOrEqualTo = 3
        /// `==`; two missing values are equal.
        case equalTo = 4
        /// `!=`.
        case notEqualTo = 5
        /// `MATCHES`: a regular expression of ICU's over the whole text.
        case matches = 6
        /// `LIKE`: `*` for any letters, `?` for one.
        case like = 7
        /// `BEGINSWITH`.
        case beginsWith = 8
        /// `ENDSWITH`.
        case endsWith = 9
        /// `IN`: an element of the collection, or a part of the text, on the right.
        case `in` = 10
        /// A method's name between two values; evaluating it throws.
        case customSelector = 11
        /// `CONTAINS`: as `in`, the other way round.
        case contains = 99
        /// `BETWEEN`: not below the first and not above the second element on the right.
        case between = 100
    }

    /// Raw values are Apple's (NSComparisonPredicate.Modifier). NONE is `not(any)`.
    public enum Modifier: UInt, Sendable {
        /// Compares the left value itself.
        case direct = 0
        /// `ALL`: holds for each element on the left; for an empty collection, too.
        case all = 1
        /// `ANY`: holds for at least one element on the left.
        case any = 2
    }

    /// Raw values are Apple's (NSComparisonPredicate.Options).
    public struct Options: OptionSet, Sendable, Hashable {
        public let rawValue: UInt
        /// `selectorName` is for `.customSelector` alone.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// `[c]`.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: texts compare as they are; the other options have no effect beside it.
        public static let normalized = Options(rawValue: 4)
        /// `[l]`: by the user's language.
        public static let localeSensitive = Options(rawValue: 8)
    }

    /// What stands left of the operator.
    public var left: ExpressionNode
    /// Apple's operator.
    public var `operator`: Operator
    /// What stands right of the operator.
    public var right: ExpressionNode
    /// ANY or ALL before it.
    public var modifier: Modifier
    /// For operators of texts; others ignore them.
    public var options: Options
    /// What a `customSelector` comparison is named in a format: a selector with its colon, or
    /// `UTI-EQUALS` or `UTI-CONFORMS-TO`; nil for every other operator.
    public var selectorName: String?

    /// A comparison as written: `selectorName` is for `.customSelector` alone.
    public init(
        left: ExpressionNode, operator: Operator, right: ExpressionNode,
        modifier: Modifier = .direct, options: Options = [], selectorName: String? = nil
    ) {
        self.left = left
        self.operator = `operator`
        self.selectorName = selectorName
        self.right = right
        self.modifier = modifier
        self.options = options
    }
}

/// An expression as a tree of values.
public indirect enum ExpressionNode: @unchecked Sendable {
    // @unchecked: see PredicateNode.
    /// Any value; nil is the absence of one. Managed objects are replaced by their `RowID` before a
    /// store sees them.
    case constant(Any?)
    /// `SELF`.
    case evaluatedObject
    /// `$name`, without its `$`.
    case variable(String)
    /// A path from the evaluated object, one element per name or `@operator`.
    case keyPath([String])
    /// A path from another expression, such as a subquery's result or a variable.
    case path(from: ExpressionNode, [String])
    /// A function by its selector name, for example `add:to:` or `now`.
    case function(String, [ExpressionNode])
    /// `{a, b}`.
    case aggregate([ExpressionNode])
    /// `SUBQUERY(collection, $variable, predicate)`.
    case subquery(collection: ExpressionNode, variable: String, predicate: PredicateNode)
    /// `TERNARY(predicate, yes, no)`.
    case conditional(PredicateNode, ExpressionNode, ExpressionNode)
    /// `UNION`.
    case unionSet(ExpressionNode, ExpressionNode)
    /// `INTERSECT`.
    case intersectSet(ExpressionNode, ExpressionNode)
    /// `MINUS`.
    case minusSet(ExpressionNode, ExpressionNode)
}
