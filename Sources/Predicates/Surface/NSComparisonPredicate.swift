public import Foundation

/// A comparison of two expressions: Apple's class over a tree of values. Immutable.
///
/// A file that also imports Foundation names the type with
/// `import class CoreData.NSComparisonPredicate`.
open class NSComparisonPredicate: TreePredicate {
    /// Apple's name within the class.
    public typealias Operator = ComparisonNode.Operator
    /// Apple's name within the class.
    public typealias Modifier = ComparisonNode.Modifier
    /// Apple's name within the class.
    public typealias Options = ComparisonNode.Options

    /// The comparison as a tree of values.
    public let comparison: ComparisonNode

    /// The predicate of a tree, without a look at what it compares. Not at Apple's.
    public init(comparison: ComparisonNode) {
        self.comparison = comparison
        super.init(node: .comparison(comparison))
    }

    public required init?(coder: NSCoder) {
        guard case .comparison(let comparison)? = TreeCoding.predicate(from: coder) else {
            return nil
        }
        self.comparison = comparison
        super.init(node: .comparison(comparison))
    }

    /// Compares two expressions by one of Apple's operators.
    public convenience init(
        leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier,
        type: Operator, options: Options = []
    ) {
        self.init(
            comparison: ComparisonNode(
                left: leftExpression.node, operator: type, right: rightExpression.node,
                modifier: modifier, options: options))
    }

    /// Compares by a method of the left value, named as a selector is: `isNewerThan:`. It prints
    /// and archives; evaluating it is an error, since there are no selectors off Apple's platforms.
    public convenience init(
        leftExpression: NSExpression, rightExpression: NSExpression, customSelectorName: String
    ) {
        self.init(
            comparison: ComparisonNode(
                left: leftExpression.node, operator: .customSelector, right: rightExpression.node,
                selectorName: customSelectorName))
    }

    /// The name of the selector that the comparison was made with; nil for Apple's operators.
    open var customSelectorName: String? { comparison.selectorName }

    /// What stands left of the operator.
    open var leftExpression: NSExpression { NSExpression(node: comparison.left) }
    /// What stands right of the operator.
    open var rightExpression: NSExpression { NSExpression(node: comparison.right) }
    /// ANY, ALL or nothing before it; NONE reads as `.any` within a NOT.
    open var comparisonPredicateModifier: Modifier { comparison.modifier }
    /// The operator, `.customSelector` where it is a method's name.
    open var predicateOperatorType: Operator { comparison.operator }
    /// The letters in brackets: `[cdnl]`.
    open var options: Options { comparison.options }
}
