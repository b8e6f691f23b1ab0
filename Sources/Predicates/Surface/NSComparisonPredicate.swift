/// A comparison of two expressions: Apple's class over a tree of values. Immutable.
///
/// A file that also imports Foundation names the type with
/// `import class CoreData.NSComparisonPredicate`.
open class NSComparisonPredicate: TreePredicate {
    public typealias Operator = ComparisonNode.Operator
    public typealias Modifier = ComparisonNode.Modifier
    public typealias Options = ComparisonNode.Options

    /// The comparison as a tree of values.
    public let comparison: ComparisonNode

    public init(comparison: ComparisonNode) {
        self.comparison = comparison
        super.init(node: .comparison(comparison))
    }

    public convenience init(
        leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier,
        type: Operator, options: Options = []
    ) {
        self.init(
            comparison: ComparisonNode(
                left: leftExpression.node, operator: type, right: rightExpression.node,
                modifier: modifier, options: options))
    }

    open var leftExpression: NSExpression { NSExpression(node: comparison.left) }
    open var rightExpression: NSExpression { NSExpression(node: comparison.right) }
    open var comparisonPredicateModifier: Modifier { comparison.modifier }
    open var predicateOperatorType: Operator { comparison.operator }
    open var options: Options { comparison.options }
}
