public import Foundation

/// A predicate as a tree of values: what the parser makes, what evaluation and SQL generation read.
public indirect enum PredicateNode: @unchecked Sendable {
    // @unchecked: constants are values or frozen Foundation objects; a tree is never changed.
    case constant(Bool)
    case and([PredicateNode])
    case or([PredicateNode])
    case not(PredicateNode)
    case comparison(ComparisonNode)
    /// A predicate of Foundation's that has no tree, such as a block. It is evaluated in memory
    /// only.
    case opaque(NSPredicate)
}

/// `left operator right`, with its modifier and options.
public struct ComparisonNode: Sendable {
    /// Raw values are Apple's (NSComparisonPredicate.Operator).
    public enum Operator: UInt, Sendable {
        case lessThan = 0
        case lessThanOrEqualTo = 1
        case greaterThan = 2
        case greaterThanOrEqualTo = 3
        case equalTo = 4
        case notEqualTo = 5
        case matches = 6
        case like = 7
        case beginsWith = 8
        case endsWith = 9
        case `in` = 10
        case customSelector = 11
        case contains = 99
        case between = 100
    }

    /// Raw values are Apple's (NSComparisonPredicate.Modifier). NONE is `not(any)`.
    public enum Modifier: UInt, Sendable {
        case direct = 0
        case all = 1
        case any = 2
    }

    /// Raw values are Apple's (NSComparisonPredicate.Options).
    public struct Options: OptionSet, Sendable, Hashable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let caseInsensitive = Options(rawValue: 1)
        public static let diacriticInsensitive = Options(rawValue: 2)
        public static let normalized = Options(rawValue: 4)
        public static let localeSensitive = Options(rawValue: 8)
    }

    public var left: ExpressionNode
    public var `operator`: Operator
    public var right: ExpressionNode
    public var modifier: Modifier
    public var options: Options
    /// What a `customSelector` comparison is named in a format: a selector with its colon, or
    /// `UTI-EQUALS` or `UTI-CONFORMS-TO`; nil for every other operator.
    public var selectorName: String?

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
    case evaluatedObject
    case variable(String)
    /// A path from the evaluated object, one element per name or `@operator`.
    case keyPath([String])
    /// A path from another expression, such as a subquery's result or a variable.
    case path(from: ExpressionNode, [String])
    /// A function by its selector name, for example `add:to:` or `now`.
    case function(String, [ExpressionNode])
    case aggregate([ExpressionNode])
    case subquery(collection: ExpressionNode, variable: String, predicate: PredicateNode)
    case conditional(PredicateNode, ExpressionNode, ExpressionNode)
    case unionSet(ExpressionNode, ExpressionNode)
    case intersectSet(ExpressionNode, ExpressionNode)
    case minusSet(ExpressionNode, ExpressionNode)
}
