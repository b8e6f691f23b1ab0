public import Foundation

/// Returns the tree of a predicate, in the form stores read: paths are joined, and what has no tree
/// is `.opaque`.
public func node(of predicate: NSPredicate) -> PredicateNode {
    treeNode(of: predicate).normalized
}

extension PredicateNode {
    /// The predicate over this tree: of class `NSComparisonPredicate` for a comparison and
    /// `NSCompoundPredicate` for AND, OR and NOT.
    public var predicate: NSPredicate {
        switch self {
        case .constant: TreePredicate(node: self)
        case .and(let parts):
            TreeCompoundPredicate(type: .and, subpredicates: parts.map(\.predicate))
        case .or(let parts):
            TreeCompoundPredicate(type: .or, subpredicates: parts.map(\.predicate))
        case .not(let part): TreeCompoundPredicate(type: .not, subpredicates: [part.predicate])
        case .comparison(let comparison): NSComparisonPredicate(comparison: comparison)
        case .opaque(let predicate): predicate
        }
    }
}

func treeNode(of predicate: NSPredicate) -> PredicateNode {
    switch predicate {
    case let tree as TreePredicate: return tree.node
    case let compound as NSCompoundPredicate: return compoundNode(of: compound)
    default: break
    }
    guard type(of: predicate) == NSPredicate.self else { return .opaque(predicate) }
    if predicate.isEqual(NSPredicate(value: true)) { return .constant(true) }
    if predicate.isEqual(NSPredicate(value: false)) { return .constant(false) }
    return .opaque(predicate)
}

func compoundNode(of compound: NSCompoundPredicate) -> PredicateNode {
    let parts = compound.subpredicates.map(treeNode(of:))
    switch compound.compoundPredicateType {
    case .and: return .and(parts)
    case .or: return .or(parts)
    case .not: return parts.first.map { .not($0) } ?? .opaque(compound)
    @unknown default: return .opaque(compound)
    }
}
