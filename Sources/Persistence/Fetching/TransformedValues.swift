internal import ObjectModel
internal import Predicates

/// Finds predicates that look into values which only a transformer reads. A database has their
/// archives, and compares bytes; objects compare what stands in them, and two archives of one value
/// may differ. So such predicates are evaluated on objects, whatever the store.
struct TransformedValues {
    private let paths: PathEnds

    init(of entity: NSEntityDescription) { paths = PathEnds(from: entity) }

    private init(_ paths: PathEnds) { self.paths = paths }

    /// Whether one is compared with anything but nil. Cost: O(parts of the predicate).
    func areTested(by node: PredicateNode) -> Bool {
        switch node {
        case .constant, .opaque: return false
        case .not(let part): return areTested(by: part)
        case .and(let parts), .or(let parts): return parts.contains { areTested(by: $0) }
        case .comparison(let comparison):
            let (left, right) = (comparison.left, comparison.right)
            if left.isNothing || right.isNothing {
                return areTested(within: left) || areTested(within: right)
            }
            return areTested(by: left) || areTested(by: right)
        }
    }

    private func areTested(by node: ExpressionNode) -> Bool {
        areTested(within: node)
            || paths.attribute(node)?.attributeType == .transformableAttributeType
    }

    /// The same of the parts of an expression, without what it leads to.
    private func areTested(within node: ExpressionNode) -> Bool {
        switch node {
        case .constant, .evaluatedObject, .keyPath, .variable: return false
        case .path(from: let origin, _): return areTested(within: origin)
        case .function(_, let parts), .aggregate(let parts):
            return parts.contains { areTested(by: $0) }
        case .subquery(let collection, let variable, let predicate):
            let inner = TransformedValues(paths.within(collection, variable))
            return areTested(within: collection) || inner.areTested(by: predicate)
        case .conditional(let test, let yes, let no):
            return areTested(by: test) || areTested(by: yes) || areTested(by: no)
        case .unionSet(let a, let b), .intersectSet(let a, let b), .minusSet(let a, let b):
            return areTested(by: a) || areTested(by: b)
        }
    }
}

extension ExpressionNode {
    /// Whether it is the constant nil.
    fileprivate var isNothing: Bool {
        if case .constant(let value) = self { plainConstant(value) == nil } else { false }
    }
}
