public import Foundation

/// A predicate of ours: Foundation's class over a tree of values. Immutable.
///
/// Archives of `NSKeyedArchiver` keep it as its format, and constants that no format can hold as
/// objects of their own; a block, or a constant without `NSCoding`, cannot be archived and fails
/// the coder. `NSPredicate` itself is no `NSCoding` in this Foundation: unarchive with
/// `unarchivedObject(ofClasses: [NSPredicate.self], from:)`.
open class TreePredicate: NSPredicate, NSSecureCoding {
    /// The predicate as a tree of values.
    public let node: PredicateNode

    /// The predicate of a tree, without a look at what it compares. Not at Apple's.
    public init(node: PredicateNode) {
        self.node = node
        super.init(value: false)
    }

    public required init?(coder: NSCoder) {
        guard let node = TreeCoding.predicate(from: coder) else { return nil }
        self.node = node
        super.init(value: false)
    }

    /// Writes the tree for `init(coder:)`; fails the coder for blocks and constants without
    /// `NSCoding`.
    open func encode(with coder: NSCoder) { TreeCoding.encode(node, with: coder) }

    open class var supportsSecureCoding: Bool { true }

    open override func evaluate(
        with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        holds(node, with: object, variables: bindings)
    }

    open override var predicateFormat: String { node.description }
    open override var description: String { node.description }
    open override var hash: Int { node.normalized.description.hashValue }
    open override func isEqual(_ object: Any?) -> Bool { isSame(object, as: node) }
    open override func copy() -> Any { self }
    open override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// AND, OR or NOT of predicates: Foundation's compound class over a tree of values.
///
/// `node` is taken from the subpredicates when asked, since Foundation lets them be replaced.
final class TreeCompoundPredicate: NSCompoundPredicate, NSSecureCoding {
    var node: PredicateNode { compoundNode(of: self) }

    override init(type: LogicalType, subpredicates: [NSPredicate]) {
        super.init(type: type, subpredicates: subpredicates)
    }

    required init?(coder: NSCoder) {
        switch TreeCoding.predicate(from: coder) {
        case .and(let parts):
            super.init(type: .and, subpredicates: parts.map(\.predicate))
        case .or(let parts): super.init(type: .or, subpredicates: parts.map(\.predicate))
        case .not(let part): super.init(type: .not, subpredicates: [part.predicate])
        case .constant, .comparison, .opaque, nil: return nil
        }
    }

    func encode(with coder: NSCoder) { TreeCoding.encode(node, with: coder) }
    static var supportsSecureCoding: Bool { true }

    override func evaluate(
        with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        holds(node, with: object, variables: bindings)
    }

    override var predicateFormat: String { node.description }
    override var description: String { node.description }
    override var hash: Int { node.normalized.description.hashValue }
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
