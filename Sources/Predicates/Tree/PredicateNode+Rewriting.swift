internal import Foundation

extension PredicateNode {
    /// Returns the tree with each expression replaced by what `transform` makes of it, leaves
    /// first.
    public func mapExpressions(
        _ transform: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> PredicateNode {
        switch self {
        case .constant, .opaque: self
        case .and(let parts): .and(try parts.map { try $0.mapExpressions(transform) })
        case .or(let parts): .or(try parts.map { try $0.mapExpressions(transform) })
        case .not(let part): .not(try part.mapExpressions(transform))
        case .comparison(var comparison):
            try {
                comparison.left = try comparison.left.mapExpressions(transform)
                comparison.right = try comparison.right.mapExpressions(transform)
                return .comparison(comparison)
            }()
        }
    }

    /// Returns the tree with each constant replaced, for example managed objects by row ids.
    ///
    /// `transform` receives single values; a list is mapped element by element and becomes an
    /// array, in which `NSNull` stands for a missing value.
    public func mapConstants(_ transform: (Any?) throws -> Any?) rethrows -> PredicateNode {
        try mapExpressions { try $0.mappingConstant(transform) }
    }

    /// Every key path of the tree that starts at the evaluated object, subqueries included.
    public var keyPaths: Set<[String]> {
        var found: Set<[String]> = []
        _ = mapExpressions { node in
            switch node {
            case .keyPath(let path): found.insert(path)
            case .path(from: .evaluatedObject, let path): found.insert(path)
            default: break
            }
            return node
        }
        return found
    }

    /// Every variable that must be bound before the tree can be evaluated.
    public var freeVariables: Set<String> {
        var found: Set<String> = []
        collectVariables(bound: [], into: &found)
        return found
    }

    /// Returns the tree with variables replaced by constants; those of a subquery stay.
    public func substituting(_ variables: [String: Any?]) -> PredicateNode {
        switch self {
        case .constant, .opaque: self
        case .and(let parts): .and(parts.map { $0.substituting(variables) })
        case .or(let parts): .or(parts.map { $0.substituting(variables) })
        case .not(let part): .not(part.substituting(variables))
        case .comparison(var comparison):
            {
                comparison.left = comparison.left.substituting(variables)
                comparison.right = comparison.right.substituting(variables)
                return .comparison(comparison)
            }()
        }
    }

    /// The tree as stores read it: paths from the evaluated object are key paths, and paths from a
    /// path are one path.
    package var normalized: PredicateNode { mapExpressions(\.joiningPaths) }

    fileprivate func collectVariables(bound: Set<String>, into found: inout Set<String>) {
        switch self {
        case .constant, .opaque: break
        case .and(let parts), .or(let parts):
            for part in parts { part.collectVariables(bound: bound, into: &found) }
        case .not(let part): part.collectVariables(bound: bound, into: &found)
        case .comparison(let comparison):
            comparison.left.collectVariables(bound: bound, into: &found)
            comparison.right.collectVariables(bound: bound, into: &found)
        }
    }
}

extension ExpressionNode {
    /// Returns the expression with each expression in it, itself last, replaced by what `transform`
    /// makes of it.
    public func mapExpressions(
        _ transform: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> ExpressionNode {
        let rebuilt = try mapChildren(
            { try $0.mapExpressions(transform) }, { try $0.mapExpressions(transform) })
        return try transform(rebuilt)
    }

    /// See `PredicateNode.substituting`.
    public func substituting(_ variables: [String: Any?]) -> ExpressionNode {
        if case .variable(let name) = self, let value = variables[name] {
            if let expression = value as? NSExpression { return expression.node }
            return .constant(plainConstant(value))
        }
        if case .subquery(let collection, let name, let predicate) = self {
            var inner = variables
            inner[name] = nil
            return .subquery(
                collection: collection.substituting(variables), variable: name,
                predicate: predicate.substituting(inner))
        }
        return mapChildren({ $0.substituting(variables) }, { $0.substituting(variables) })
    }

    /// See `PredicateNode.normalized`.
    package var normalized: ExpressionNode { mapExpressions(\.joiningPaths) }

    fileprivate var joiningPaths: ExpressionNode {
        switch self {
        case .path(from: .evaluatedObject, let path): .keyPath(path)
        case .path(from: .keyPath(let first), let rest): .keyPath(first + rest)
        case .path(from: .path(from: let origin, let first), let rest):
            .path(from: origin, first + rest)
        case .keyPath(let path) where path.isEmpty: .evaluatedObject
        default: self
        }
    }

    fileprivate func mappingConstant(_ transform: (Any?) throws -> Any?) rethrows -> ExpressionNode
    {
        guard case .constant(let value) = self else { return self }
        guard let elements = listElements(of: value) else { return .constant(try transform(value)) }
        return .constant(
            try elements.map { try transform($0 is NSNull ? nil : $0) ?? NSNull() as Any })
    }

    /// Returns the expression with the expressions and predicates it consists of replaced.
    package func mapChildren(
        _ expression: (ExpressionNode) throws -> ExpressionNode,
        _ predicate: (PredicateNode) throws -> PredicateNode
    ) rethrows -> ExpressionNode {
        switch self {
        case .constant, .evaluatedObject, .variable, .keyPath: self
        case .path(from: let origin, let path): .path(from: try expression(origin), path)
        case .function(let name, let arguments): .function(name, try arguments.map(expression))
        case .aggregate(let elements): .aggregate(try elements.map(expression))
        case .subquery(let collection, let variable, let condition):
            .subquery(
                collection: try expression(collection), variable: variable,
                predicate: try predicate(condition))
        case .conditional(let condition, let yes, let no):
            .conditional(try predicate(condition), try expression(yes), try expression(no))
        case .unionSet(let a, let b): .unionSet(try expression(a), try expression(b))
        case .intersectSet(let a, let b): .intersectSet(try expression(a), try expression(b))
        case .minusSet(let a, let b): .minusSet(try expression(a), try expression(b))
        }
    }

    fileprivate func collectVariables(bound: Set<String>, into found: inout Set<String>) {
        switch self {
        case .constant, .evaluatedObject, .keyPath: break
        case .variable(let name): if !bound.contains(name) { found.insert(name) }
        case .path(from: let origin, _): origin.collectVariables(bound: bound, into: &found)
        case .function(_, let parts), .aggregate(let parts):
            for part in parts { part.collectVariables(bound: bound, into: &found) }
        case .subquery(let collection, let name, let predicate):
            collection.collectVariables(bound: bound, into: &found)
            predicate.collectVariables(bound: bound.union([name]), into: &found)
        case .conditional(let condition, let yes, let no):
            condition.collectVariables(bound: bound, into: &found)
            yes.collectVariables(bound: bound, into: &found)
            no.collectVariables(bound: bound, into: &found)
        case .unionSet(let a, let b), .intersectSet(let a, let b), .minusSet(let a, let b):
            a.collectVariables(bound: bound, into: &found)
            b.collectVariables(bound: bound, into: &found)
        }
    }
}
