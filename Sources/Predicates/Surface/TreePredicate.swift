public import Foundation

/// A predicate of ours: Foundation's class over a tree of values. Immutable.
open class TreePredicate: NSPredicate {
    /// The predicate as a tree of values.
    public let node: PredicateNode

    public init(node: PredicateNode) {
        self.node = node
        super.init(value: false)
    }

    open override func evaluate(
        with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        holds(node, with: object, variables: bindings)
    }

    open override var predicateFormat: String { node.description }
    open override var description: String { node.description }
    open override var hash: Int { node.description.hashValue }
    open override func isEqual(_ object: Any?) -> Bool { isSame(object, as: node) }
    open override func copy() -> Any { self }
    open override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// What a format with AND, OR or NOT makes: Foundation's compound class over a tree of values.
///
/// `node` is taken from the subpredicates when asked, since Foundation lets them be replaced.
final class TreeCompoundPredicate: NSCompoundPredicate {
    var node: PredicateNode { compoundNode(of: self) }

    override func evaluate(
        with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        holds(node, with: object, variables: bindings)
    }

    override var predicateFormat: String { node.description }
    override var description: String { node.description }
    override var hash: Int { node.description.hashValue }
    override func isEqual(_ object: Any?) -> Bool { isSame(object, as: node) }
    override func copy() -> Any { self }
    override func copy(with zone: NSZone? = nil) -> Any {
        TreeCompoundPredicate(type: compoundPredicateType, subpredicates: subpredicates)
    }
}

/// A predicate that cannot be evaluated holds for nothing.
private func holds(_ node: PredicateNode, with object: Any?, variables: [String: Any]?) -> Bool {
    let bound = (variables ?? [:]).mapValues { Optional($0) }
    return (try? evaluate(node, with: object, variables: bound)) ?? false
}

private func isSame(_ object: Any?, as node: PredicateNode) -> Bool {
    guard let other = object as? NSPredicate else { return false }
    return Predicates.node(of: other) == node.normalized
}
