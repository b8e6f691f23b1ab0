internal import Predicates

extension ComparisonNode {
    /// Membership in a set expression as a condition on its two sets: `x IN (a UNION b)` is
    /// `x IN a OR x IN b`. Nil for every other comparison.
    var membershipInParts: PredicateNode? {
        guard modifier == .direct, `operator` == .in || `operator` == .contains else { return nil }
        let whole = `operator` == .in ? right : left
        switch whole {
        case .unionSet, .intersectSet, .minusSet: return membership(in: whole)
        default: return nil
        }
    }

    private func membership(in set: ExpressionNode) -> PredicateNode {
        switch set {
        case .unionSet(let a, let b): return .or([membership(in: a), membership(in: b)])
        case .intersectSet(let a, let b): return .and([membership(in: a), membership(in: b)])
        case .minusSet(let a, let b): return .and([membership(in: a), .not(membership(in: b))])
        default:
            var part = self
            if `operator` == .in { part.right = set } else { part.left = set }
            return .comparison(part)
        }
    }
}
