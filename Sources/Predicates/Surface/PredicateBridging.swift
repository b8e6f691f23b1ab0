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

/// `depth` is how many compounds are around the predicate.
func treeNode(of predicate: NSPredicate, depth: Int = 0) -> PredicateNode {
    switch predicate {
    case let tree as TreePredicate: return tree.node
    case let compound as NSCompoundPredicate: return compoundNode(of: compound, depth: depth)
    default: break
    }
    guard type(of: predicate) == NSPredicate.self else { return .opaque(predicate) }
    if predicate.isEqual(NSPredicate(value: true)) { return .constant(true) }
    if predicate.isEqual(NSPredicate(value: false)) { return .constant(false) }
    return .opaque(predicate)
}

func compoundNode(of compound: NSCompoundPredicate, depth: Int = 0) -> PredicateNode {
    let parts = subpredicates(of: compound, depth: depth)
        .map { treeNode(of: $0, depth: depth + 1) }
    switch compound.compoundPredicateType {
    case .and: return .and(parts)
    case .or: return .or(parts)
    case .not: return parts.first.map { .not($0) } ?? .opaque(compound)
    @unknown default: return .opaque(compound)
    }
}

/// How deep compounds of one kind stay nested as they are.
private let nestingMax = 100

/// The parts of a compound. Far down, those of parts of its own kind take their places, so that a
/// chain that an app made in a loop, each of the one before and one more, exhausts no stack.
private func subpredicates(of compound: NSCompoundPredicate, depth: Int) -> [NSPredicate] {
    let kind = compound.compoundPredicateType
    guard depth >= nestingMax, kind != .not else { return compound.subpredicates }
    var parts: [NSPredicate] = []
    var waiting = Array(compound.subpredicates.reversed())
    while let next = waiting.popLast() {
        if let inner = next as? NSCompoundPredicate, inner.compoundPredicateType == kind {
            waiting += inner.subpredicates.reversed()
        } else {
            parts.append(next)
        }
    }
    return parts
}
