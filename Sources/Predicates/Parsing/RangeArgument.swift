internal import Foundation

// Swift's ranges as arguments of formats: `age BETWEEN %@` and `age IN %@` with `18...65`.

/// A range of Swift's, whatever its bounds are.
private protocol RangeArgument {
    var bounds: (lower: Any, upper: Any) { get }
    /// Whether the upper bound is one of the range's values.
    var isClosed: Bool { get }
}

extension ClosedRange: RangeArgument {
    fileprivate var bounds: (lower: Any, upper: Any) { (lowerBound, upperBound) }
    fileprivate var isClosed: Bool { true }
}

extension Range: RangeArgument {
    fileprivate var bounds: (lower: Any, upper: Any) { (lowerBound, upperBound) }
    fileprivate var isClosed: Bool { false }
}

extension ComparisonNode {
    /// The comparison with a range at its right in terms that formats have: BETWEEN its bounds, or
    /// at least the lower and below the upper where that is none of its values.
    var replacingRange: PredicateNode {
        guard `operator` == .in || `operator` == .between, case .constant(let value) = right,
            let range = value as? any RangeArgument
        else { return .comparison(self) }
        func compared(_ name: Operator, with value: ExpressionNode) -> PredicateNode {
            var part = self
            part.operator = name
            part.right = value
            return .comparison(part)
        }
        let (lower, upper) = range.bounds
        let (first, last) = (
            ExpressionNode.constant(plainConstant(lower)),
            ExpressionNode.constant(plainConstant(upper))
        )
        if range.isClosed { return compared(.between, with: .aggregate([first, last])) }
        guard modifier == .direct else { return .comparison(self) }
        return .and([
            compared(.greaterThanOrEqualTo, with: first), compared(.lessThan, with: last),
        ])
    }
}
