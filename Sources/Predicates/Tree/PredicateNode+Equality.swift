internal import Foundation

extension PredicateNode: Equatable {
    /// Trees are equal when they say the same in the same order; an aggregate of constants equals
    /// the constant list. Opaque predicates are compared by Foundation.
    public static func == (left: PredicateNode, right: PredicateNode) -> Bool {
        switch (left, right) {
        case (.constant(let a), .constant(let b)): a == b
        case (.and(let a), .and(let b)): a == b
        case (.or(let a), .or(let b)): a == b
        case (.not(let a), .not(let b)): a == b
        case (.comparison(let a), .comparison(let b)): a == b
        case (.opaque(let a), .opaque(let b)): a.isEqual(b)
        default: false
        }
    }
}

extension ComparisonNode: Equatable {
    public static func == (left: ComparisonNode, right: ComparisonNode) -> Bool {
        left.operator == right.operator && left.modifier == right.modifier
            && left.options == right.options && left.left == right.left
            && left.right == right.right && left.selectorName == right.selectorName
    }
}

extension ExpressionNode: Equatable {
    /// Constants are equal when their plain values are, kind included: `1`, `1.0` and `YES` differ.
    public static func == (left: ExpressionNode, right: ExpressionNode) -> Bool {
        if let a = left.constantValue, let b = right.constantValue {
            return Constant(a.value) == Constant(b.value)
        }
        return switch (left, right) {
        case (.evaluatedObject, .evaluatedObject): true
        case (.variable(let a), .variable(let b)): a == b
        case (.keyPath(let a), .keyPath(let b)): a == b
        case (.path(let a, let p), .path(let b, let q)): p == q && a == b
        case (.function(let a, let x), .function(let b, let y)): a == b && x == y
        case (.aggregate(let a), .aggregate(let b)): a == b
        case (.subquery(let a, let v, let p), .subquery(let b, let w, let q)):
            v == w && a == b && p == q
        case (.conditional(let p, let a, let b), .conditional(let q, let c, let d)):
            p == q && a == c && b == d
        case (.unionSet(let a, let b), .unionSet(let c, let d)),
            (.intersectSet(let a, let b), .intersectSet(let c, let d)),
            (.minusSet(let a, let b), .minusSet(let c, let d)):
            a == c && b == d
        default: false
        }
    }

    /// A box, since the absence of a constant and a constant nil are two things.
    struct Held {
        var value: Any?
    }

    /// The value of a constant, or of an aggregate that holds constants only.
    var constantValue: Held? {
        switch self {
        case .constant(let value): return Held(value: value)
        case .aggregate(let elements):
            var values: [Any?] = []
            for element in elements {
                guard let held = element.constantValue else { return nil }
                values.append(held.value)
            }
            return Held(value: values)
        default: return nil
        }
    }
}

extension Constant: Equatable {
    static func == (left: Constant, right: Constant) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a == b
        case (.decimal(let a), .decimal(let b)): a == b
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.date(let a), .date(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.url(let a), .url(let b)): a == b
        case (.data(let a), .data(let b)): a == b
        case (.list(let a), .list(let b)):
            a.count == b.count && zip(a, b).allSatisfy { Constant($0) == Constant($1) }
        case (.other(let a), .other(let b)): sameObject(a, b)
        default: false
        }
    }
}

/// Says whether two values of foreign types are the same object or equal values.
func sameObject(_ left: Any, _ right: Any) -> Bool {
    if let a = left as? any IdentityReading, let b = right as? any IdentityReading {
        return a.predicateIdentity == b.predicateIdentity
    }
    guard let a = left as? AnyHashable, let b = right as? AnyHashable else {
        return type(of: left) is AnyClass && type(of: right) is AnyClass
            && (left as AnyObject) === (right as AnyObject)
    }
    return a == b
}
