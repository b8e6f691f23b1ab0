package import Foundation
package import ObjectModel

/// Archives the predicates and expressions of models from their texts, as Apple's classes.
package struct PredicateArchiver: PredicateArchiving {
    package init() {}

    package func archive(predicate text: String, into builder: inout KeyedArchiveBuilder) -> Int? {
        guard let node = try? PredicateParser.predicate(text, arguments: []) else { return nil }
        return builder.trying { $0.add(node) }
    }

    package func archive(expression text: String, into builder: inout KeyedArchiveBuilder) -> Int? {
        guard let node = try? PredicateParser.expression(text, arguments: []) else { return nil }
        return builder.trying { $0.add(node) }
    }

    package func text(of predicate: NSPredicate) -> String { node(of: predicate).description }
}

// What a tree's nodes are in an archive; nil for those whose form no real file has shown.
extension KeyedArchiveBuilder {
    fileprivate mutating func add(_ node: PredicateNode) -> Int? {
        switch node {
        case .constant(let value): return ExpressionArchiver.constant(predicate: value, &self)
        case .not(let part): return add(compound: 0, [part])
        case .and(let parts): return add(compound: 1, parts)
        case .or(let parts): return add(compound: 2, parts)
        case .opaque: return nil
        case .comparison(let comparison):
            guard let left = add(comparison.left), let right = add(comparison.right) else {
                return nil
            }
            return ExpressionArchiver.comparison(
                left, right, type: Int(comparison.operator.rawValue),
                modifier: Int(comparison.modifier.rawValue),
                options: Int(comparison.options.rawValue), &self)
        }
    }

    private mutating func add(compound type: Int, _ parts: [PredicateNode]) -> Int? {
        var places: [Int] = []
        for part in parts {
            guard let place = add(part) else { return nil }
            places.append(place)
        }
        return ExpressionArchiver.compound(type, places, &self)
    }

    fileprivate mutating func add(_ node: ExpressionNode) -> Int? {
        switch node {
        case .constant(let value): return add(constant: Constant(value))
        case .evaluatedObject: return ExpressionArchiver.evaluatedObject(&self)
        case .variable(let name): return ExpressionArchiver.variable(name, &self)
        case .keyPath(let path):
            return ExpressionArchiver.keyPath(path.joined(separator: "."), &self)
        case .path(from: .evaluatedObject, let path): return add(.keyPath(path))
        case .path(from: let origin, let path):
            guard let operand = add(origin) else { return nil }
            return ExpressionArchiver.keyPath(path.joined(separator: "."), from: operand, &self)
        case .function(let name, let arguments): return add(function: name, arguments)
        case .aggregate(let elements): return add(list: elements)
        case .subquery, .conditional, .unionSet, .intersectSet, .minusSet: return nil
        }
    }

    private mutating func add(function name: String, _ arguments: [ExpressionNode]) -> Int? {
        if name == FunctionName.perform {
            guard arguments.count >= 2, case .constant(let method) = arguments[1],
                let method = method as? String, let operand = add(arguments[0]),
                let rest = add(all: Array(arguments.dropFirst(2)))
            else { return nil }
            return ExpressionArchiver.function(method, rest, of: operand, &self)
        }
        guard FunctionName.accepts(name, count: arguments.count),
            let places = add(all: arguments)
        else { return nil }
        return ExpressionArchiver.function(name, places, &self)
    }

    private mutating func add(all nodes: [ExpressionNode]) -> [Int]? {
        var places: [Int] = []
        for node in nodes {
            guard let place = add(node) else { return nil }
            places.append(place)
        }
        return places
    }

    // MARK: Constants

    /// A list of constants is one constant.
    private mutating func add(list elements: [ExpressionNode]) -> Int? {
        var values: [Any?] = []
        for element in elements {
            guard case .constant(let value) = element else { return nil }
            values.append(value)
        }
        return add(constant: .list(values))
    }

    private mutating func add(constant: Constant) -> Int? {
        if case .null = constant { return ExpressionArchiver.constant(nil, &self) }
        return value(of: constant).map { ExpressionArchiver.constant($0, &self) }
    }

    private mutating func value(of constant: Constant) -> Int? {
        func archived(_ value: Any, _ type: NSAttributeType) -> Int? {
            ValueArchiver.reference(value, as: type, &self)
        }
        switch constant {
        case .null, .other: return nil
        case .bool(let value): return archived(value, .booleanAttributeType)
        case .integer(let value): return archived(value, .integer64AttributeType)
        case .real(let value): return archived(value, .doubleAttributeType)
        case .decimal(let value): return archived(value, .decimalAttributeType)
        case .text(let value): return string(value)
        case .date(let value): return archived(value, .dateAttributeType)
        case .uuid(let value): return archived(value, .UUIDAttributeType)
        case .url(let value): return archived(value, .URIAttributeType)
        case .data(let value): return archived(value, .binaryDataAttributeType)
        case .list(let values):
            var places: [Int] = []
            for value in values {
                guard let place = self.value(of: Constant(value)) else { return nil }
                places.append(place)
            }
            return array(places)
        }
    }
}
