public import Foundation

/// An expression of a predicate: Apple's class over a tree of values. Immutable.
///
/// A file that also imports Foundation names the type with `import class CoreData.NSExpression`.
///
/// Archives keep it as `TreePredicate` says.
open class NSExpression: NSObject, NSSecureCoding, NSCopying {
    /// Raw values are Apple's.
    public enum ExpressionType: UInt, Sendable {
        /// A value that is written out.
        case constantValue = 0
        /// `SELF`.
        case evaluatedObject = 1
        /// `$name`.
        case variable = 2
        /// `a.b`, with collection operators.
        case keyPath = 3
        /// A function of Apple's list, arithmetic, or `FUNCTION(…)`.
        case function = 4
        /// `UNION`.
        case unionSet = 5
        /// `INTERSECT`.
        case intersectSet = 6
        /// `MINUS`.
        case minusSet = 7
        /// `SUBQUERY(…)`.
        case subquery = 13
        /// `{a, b}`.
        case aggregate = 14
        /// `ANYKEY`.
        case anyKey = 15
        /// A closure.
        case block = 19
        /// `TERNARY(…)`.
        case conditional = 20
        /// `FETCH(…)`; see `NSFetchRequestExpression`.
        case fetchRequest = 50
    }

    /// What a block expression calls: the object, its arguments' values, and the context.
    public typealias Block = (Any?, [Any], NSMutableDictionary?) -> Any

    /// The expression as a tree of values.
    public let node: ExpressionNode

    /// The expression of a tree. Not at Apple's.
    public init(node: ExpressionNode) {
        self.node = node
        super.init()
    }

    public required init?(coder: NSCoder) {
        guard let node = TreeCoding.expression(from: coder) else { return nil }
        self.node = node
        super.init()
    }

    /// Writes the tree for `init(coder:)`; fails the coder for blocks and constants without
    /// `NSCoding`.
    open func encode(with coder: NSCoder) { TreeCoding.encode(node, with: coder) }

    open class var supportsSecureCoding: Bool { true }

    /// Reads an expression's format. Throws `PredicateFormatError`.
    public static func parse(_ format: String, arguments: [Any?] = []) throws -> NSExpression {
        NSExpression(node: try PredicateParser.expression(format, arguments: arguments))
    }

    /// Reads an expression's format; a bad one ends the program, as Apple's exception does. Use
    /// `parse` for formats that are not written in the source.
    public convenience init(format: String, _ arguments: Any?...) {
        self.init(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
    }

    /// See `init(format:_:)`.
    public convenience init(format: String, argumentArray arguments: [Any]) {
        self.init(
            node: parsedOrTrapped {
                try PredicateParser.expression(format, arguments: arguments)
            })
    }

    /// Reads `format`, with the arguments of a C function, as `withVaList` gives them.
    public convenience init(format: String, arguments list: CVaListPointer) {
        self.init(
            node: parsedOrTrapped {
                let placeholders = try Lexer.placeholders(of: format)
                return try PredicateParser.expression(
                    format, arguments: Placeholder.values(of: placeholders, from: list))
            })
    }

    /// A value, compared by what it says: numbers by value, texts by letters, objects by identity.
    public convenience init(forConstantValue value: Any?) {
        self.init(node: .constant(plainConstant(value)))
    }

    /// `SELF`: the object that is evaluated.
    public class func expressionForEvaluatedObject() -> NSExpression {
        NSExpression(node: .evaluatedObject)
    }

    /// `$name`, given when it is evaluated; without a value that throws
    /// `EvaluationError.unboundVariable`.
    public convenience init(forVariable name: String) { self.init(node: .variable(name)) }

    /// The value at a key path, collection operators (`@count`, `@sum.x`) included.
    public convenience init(forKeyPath path: String) {
        let elements = path.split(separator: ".", omittingEmptySubsequences: false)
        self.init(node: .path(elements.map(String.init)))
    }

    /// A function by its selector name, such as `sum:`; evaluating an unknown one is an error.
    public convenience init(forFunction name: String, arguments: [Any]) {
        self.init(node: .function(name, arguments.map(Self.argument)))
    }

    /// Calls `selectorName` on the value of `target`; see `FunctionName.perform`.
    public convenience init(
        forFunction target: NSExpression, selectorName: String, arguments: [Any]?
    ) {
        let rest = (arguments ?? []).map(Self.argument)
        let all = [target.node, .constant(selectorName)] + rest
        self.init(node: .function(FunctionName.perform, all))
    }

    /// `{a, b}`: a list of expressions and values.
    public convenience init(forAggregate elements: [Any]) {
        self.init(node: .aggregate(elements.map(Self.argument)))
    }

    /// `UNION`: what is in either collection, as a set.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(node: .unionSet(left.node, right.node))
    }

    /// `INTERSECT`: what is in both collections, as a set.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(node: .intersectSet(left.node, right.node))
    }

    /// `MINUS`: what is in the left collection only, as a set.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(node: .minusSet(left.node, right.node))
    }

    /// `SUBQUERY`: the elements of a collection for which the predicate holds, `variable` naming
    /// each without its `$`.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String,
        predicate: NSPredicate
    ) {
        self.init(
            node: .subquery(
                collection: expression.node, variable: variable,
                predicate: Predicates.node(of: predicate)))
    }

    /// `TERNARY`: one of two expressions, as the predicate holds or not.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression yes: NSExpression,
        falseExpression no: NSExpression
    ) {
        self.init(node: .conditional(Predicates.node(of: predicate), yes.node, no.node))
    }

    /// `ANYKEY`: prints and archives; evaluating it throws, as only Apple's search indexes answer
    /// it.
    public class func expressionForAnyKey() -> NSExpression {
        NSExpression(node: .function(FunctionName.anyKey, []))
    }

    /// A closure of the object and the arguments' values. In memory only: no SQL, no format, no
    /// archive.
    public convenience init(block: @escaping Block, arguments: [NSExpression]?) {
        let held = ExpressionNode.constant(BlockBox(block: block))
        self.init(node: .function(FunctionName.block, [held] + (arguments ?? []).map(\.node)))
    }

    /// The value for `object`; nil when it has none or cannot be computed. `context` binds
    /// variables.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        var variables: [String: Any?] = [:]
        for (key, value) in context ?? [:] {
            if let key = key as? String { variables[key] = value }
        }
        return try? Evaluator(object: object, variables: variables).value(of: node)
    }

    private static func argument(_ value: Any) -> ExpressionNode {
        (value as? NSExpression)?.node ?? .constant(plainConstant(value))
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }
    open override func copy() -> Any { self }
    open override var description: String { node.description }
    open override var hash: Int { node.description.hashValue }
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? NSExpression)?.node == node
    }
}

/// Keeps a block among the constants of a tree.
final class BlockBox {
    let block: NSExpression.Block
    init(block: @escaping NSExpression.Block) { self.block = block }
}
