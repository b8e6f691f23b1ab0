internal import Foundation
public import Platform

/// Evaluates a tree in memory. Throws `EvaluationError`, and what the object's keys throw.
///
/// nil follows the rules of objects, not of SQL: nil equals nil, differs from everything else, and
/// has no order. `platform` answers `now()` and `random()`.
public func evaluate(
    _ node: PredicateNode, with object: Any?, variables: [String: Any?] = [:],
    platform: Environment = .system
) throws -> Bool {
    try Evaluator(object: object, variables: variables, platform: platform).holds(node)
}

/// Computes the value of an expression in memory; numbers, texts and lists come back as plain Swift
/// values. Throws as `evaluate(_:with:variables:platform:)` does.
public func value(
    of node: ExpressionNode, with object: Any?, variables: [String: Any?] = [:],
    platform: Environment = .system
) throws -> Any? {
    try Evaluator(object: object, variables: variables, platform: platform).value(of: node)
}

/// One object under one tree, with the variables that are bound.
struct Evaluator {
    let object: Any?
    let platform: Environment
    private let bindings: Bindings

    /// The variables; `:=` adds to them while a tree is evaluated.
    private final class Bindings {
        var values: [String: Any?]
        init(_ values: [String: Any?]) { self.values = values }
    }

    init(object: Any?, variables: [String: Any?] = [:], platform: Environment = .system) {
        self.object = object
        self.platform = platform
        bindings = Bindings(variables)
    }

    func holds(_ node: PredicateNode) throws -> Bool {
        switch node {
        case .constant(let value): value
        case .and(let parts): try parts.allSatisfy(holds)
        case .or(let parts): try parts.contains(where: holds)
        case .not(let part): try !holds(part)
        case .comparison(let comparison): try holds(comparison)
        case .opaque(let predicate):
            predicate.evaluate(
                with: object, substitutionVariables: bindings.values.compactMapValues { $0 })
        }
    }

    /// The value as what it is compared by. Lists of constants are not computed again.
    func constant(of node: ExpressionNode) throws -> Constant {
        guard let held = node.constantValue else { return Constant(try value(of: node)) }
        return Constant(held.value)
    }

    func value(of node: ExpressionNode) throws -> Any? {
        switch node {
        case .constant(let value): return plainConstant(value)
        case .evaluatedObject: return plainConstant(object)
        case .variable(let name): return plainConstant(try variable(name))
        case .keyPath(let path): return try KeyPathReading.value(of: path[...], in: object)
        case .path(from: let origin, let path):
            return try KeyPathReading.value(of: path[...], in: try value(of: origin))
        case .function(FunctionName.assign, let arguments) where arguments.count == 2:
            return try assign(arguments[0], arguments[1])
        case .function(let name, let arguments):
            return plainConstant(try call(name, arguments))
        case .aggregate(let elements):
            return try elements.map { try value(of: $0) ?? NSNull() }
        case .subquery(let collection, let variable, let predicate):
            return try subquery(collection, variable, predicate)
        case .conditional(let condition, let yes, let no):
            return try value(of: holds(condition) ? yes : no)
        case .unionSet(let a, let b): return try combine(a, b, "UNION")
        case .intersectSet(let a, let b): return try combine(a, b, "INTERSECT")
        case .minusSet(let a, let b): return try combine(a, b, "MINUS")
        }
    }

    /// The elements of a list; a missing one is empty. Throws `.notACollection` for a single value.
    func list(_ value: Any?, for name: String) throws -> [Any?] {
        switch Constant(value) {
        case .null: return []
        case .list(let elements): return elements
        default:
            if let dictionary = value as? [AnyHashable: Any] { return Array(dictionary.values) }
            throw EvaluationError(
                .notACollection, "\(name) needs an array or a set, not a single value.",
                fields: ["operator": name])
        }
    }

    func variable(_ name: String) throws -> Any? {
        guard let value = bindings.values[name] else {
            throw EvaluationError(
                .unboundVariable, "The variable $\(name) has no value; substitute one.",
                fields: ["variable": name])
        }
        return value
    }

    private func assign(_ name: ExpressionNode, _ expression: ExpressionNode) throws -> Any? {
        let assigned = try value(of: expression)
        if let name = name.constantValue?.value as? String {
            bindings.values.updateValue(assigned, forKey: name)
        }
        return assigned
    }

    private func subquery(
        _ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode
    ) throws -> Any? {
        let elements = try list(value(of: collection), for: "SUBQUERY")
        return try elements.filter { element in
            var inner = bindings.values
            inner.updateValue(element, forKey: variable)
            return try Evaluator(object: object, variables: inner, platform: platform)
                .holds(predicate)
        }
    }

    private func combine(_ a: ExpressionNode, _ b: ExpressionNode, _ name: String) throws -> Any? {
        let left = try list(value(of: a), for: name)
        let right = try list(value(of: b), for: name)
        func has(_ elements: [Any?], _ element: Any?) -> Bool {
            elements.contains { ValueRules.equal(Constant($0), Constant(element)) }
        }
        var result: [Any?] = []
        func add(_ element: Any?) {
            if !has(result, element) { result.append(element) }
        }
        switch name {
        case "UNION": (left + right).forEach(add)
        case "INTERSECT": left.filter { has(right, $0) }.forEach(add)
        default: left.filter { !has(right, $0) }.forEach(add)
        }
        return result
    }
}
