public import Foundation

// Apple's readings of an expression's parts. Each answers nil where the expression has no such
// part, where Apple raises; they are implicitly unwrapped, so that sources that know the part is
// there compile as they are.
extension NSExpression {
    /// What kind of expression it is.
    public var expressionType: ExpressionType {
        switch node {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath, .path: .keyPath
        case .function(FunctionName.anyKey, _): .anyKey
        case .function(FunctionName.block, _): .block
        case .function: .function
        case .aggregate: .aggregate
        case .subquery: .subquery
        case .conditional: .conditional
        case .unionSet: .unionSet
        case .intersectSet: .intersectSet
        case .minusSet: .minusSet
        }
    }

    /// A constant's value; nil for a constant nil too.
    public var constantValue: Any? {
        if case .constant(let value) = node { value } else { nil }
    }

    /// The path's text, `SELF` left out.
    public var keyPath: String! {
        switch node {
        case .keyPath(let path), .path(from: _, let path): path.joined(separator: ".")
        default: nil
        }
    }

    /// The selector name.
    public var function: String! {
        switch node {
        case .function(FunctionName.perform, let arguments):
            arguments.count > 1 ? arguments[1].constantValue?.value as? String : nil
        case .function(let name, _): name
        default: nil
        }
    }

    /// The name of a variable, or of a subquery's.
    public var variable: String! {
        switch node {
        case .variable(let name), .subquery(_, let name, _): name
        default: nil
        }
    }

    /// What a key path starts from, or the receiver of `FUNCTION`.
    public var operand: NSExpression! {
        switch node {
        case .path(from: let origin, _): NSExpression(node: origin)
        case .keyPath: NSExpression(node: .evaluatedObject)
        case .function(FunctionName.perform, let arguments):
            arguments.first.map(NSExpression.init(node:))
        default: nil
        }
    }

    /// What a function or a block is called with.
    public var arguments: [NSExpression]? {
        switch node {
        case .function(FunctionName.perform, let arguments):
            arguments.dropFirst(2).map(NSExpression.init(node:))
        case .function(FunctionName.block, let arguments):
            arguments.dropFirst().map(NSExpression.init(node:))
        case .function(_, let arguments): arguments.map(NSExpression.init(node:))
        default: nil
        }
    }

    /// The elements of an aggregate as expressions, or the collection of a subquery.
    public var collection: Any? {
        switch node {
        case .aggregate(let elements): elements.map(NSExpression.init(node:))
        case .subquery(let collection, _, _): NSExpression(node: collection)
        default: nil
        }
    }

    /// The condition of a subquery or a conditional.
    public var predicate: NSPredicate! {
        switch node {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _):
            predicate.predicate
        default: nil
        }
    }

    /// The left side of a UNION, INTERSECT or MINUS.
    public var left: NSExpression! { sides.map { NSExpression(node: $0.0) } }
    /// The right side of a UNION, INTERSECT or MINUS.
    public var right: NSExpression! { sides.map { NSExpression(node: $0.1) } }

    /// What a conditional is where its condition holds.
    public var `true`: NSExpression! {
        if case .conditional(_, let yes, _) = node { NSExpression(node: yes) } else { nil }
    }

    /// What a conditional is where its condition does not hold.
    public var `false`: NSExpression! {
        if case .conditional(_, _, let no) = node { NSExpression(node: no) } else { nil }
    }

    /// What a block expression calls.
    public var expressionBlock: Block? {
        guard case .function(FunctionName.block, let arguments) = node,
            let box = arguments.first?.constantValue?.value as? BlockBox
        else { return nil }
        return box.block
    }

    private var sides: (ExpressionNode, ExpressionNode)? {
        switch node {
        case .unionSet(let a, let b), .intersectSet(let a, let b), .minusSet(let a, let b): (a, b)
        default: nil
        }
    }
}
