import Foundation
import Predicates

/// What a predicate says of an object by SQL's rules, told a second time without SQL: true, false,
/// or nil where a missing value leaves it open. A row is found where it is true.
struct SQLLogic {
    let object: MemoryObject
    var variables: [String: Any?] = [:]

    func truth(_ node: PredicateNode) throws -> Bool? {
        switch node {
        case .constant(let value): return value
        case .not(let part): return try truth(part).map { !$0 }
        case .and(let parts):
            let truths = try parts.map(truth)
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .or(let parts):
            let truths = try parts.map(truth)
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .comparison(let comparison): return try truth(comparison)
        case .opaque: return nil
        }
    }

    /// ANY and ALL are questions whether a member exists, which is never open.
    private func truth(_ comparison: ComparisonNode) throws -> Bool? {
        let left = try value(comparison.left)
        let right = try value(comparison.right)
        switch comparison.modifier {
        case .direct: return try compare(left, comparison, right)
        case .any:
            return try members(left).contains { try compare($0, comparison, right) == true }
        case .all:
            return try members(left).allSatisfy { try compare($0, comparison, right) == true }
        }
    }

    private func members(_ value: Any?) -> [Any?] {
        guard let elements = listElements(of: value) else { return [value is NSNull ? nil : value] }
        return elements.flatMap(members)
    }

    private func compare(_ left: Any?, _ comparison: ComparisonNode, _ right: Any?) throws -> Bool?
    {
        switch comparison.operator {
        case .equalTo, .notEqualTo:
            if comparison.left.isNothing || comparison.right.isNothing { break }
            if left == nil || right == nil { return nil }
        case .between:
            let bounds = listElements(of: right) ?? []
            var (lower, upper) = (comparison, comparison)
            lower.operator = .greaterThanOrEqualTo
            upper.operator = .lessThanOrEqualTo
            let truths = [
                try compare(left, lower, plainConstant(bounds.first ?? nil)),
                try compare(left, upper, plainConstant(bounds.last ?? nil)),
            ]
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .in where left == nil:
            guard let list = listElements(of: right) else { return nil }
            if list.contains(where: { plainConstant($0) == nil }) { return true }
            return list.isEmpty ? false : nil
        case .contains where listElements(of: left) != nil: break
        default: if left == nil || right == nil { return nil }
        }
        var direct = comparison
        direct.modifier = .direct
        direct.left = .constant(left)
        direct.right = .constant(right)
        return try evaluate(.comparison(direct), with: nil)
    }

    /// The value of an expression; the conditions in it follow SQL's rules too.
    private func value(_ node: ExpressionNode) throws -> Any? {
        switch node {
        case .subquery(let collection, let name, let condition):
            return try (listElements(of: value(collection)) ?? []).filter { element in
                var inner = self
                inner.variables.updateValue(element, forKey: name)
                return try inner.truth(condition) == true
            }
        case .path(from: let origin, let path):
            return try Predicates.value(of: .path(from: .constant(value(origin)), path), with: nil)
        case .conditional(let condition, let yes, let no):
            return try value(truth(condition) == true ? yes : no)
        case .function(let name, let parts) where name != FunctionName.index:
            let constants = try parts.map { ExpressionNode.constant(try value($0)) }
            return try Predicates.value(of: .function(name, constants), with: nil)
        case .aggregate(let parts): return try parts.map { try value($0) ?? NSNull() }
        default:
            return try Predicates.value(of: node, with: object, variables: variables)
        }
    }
}

extension ExpressionNode {
    /// Whether it is the constant nil.
    fileprivate var isNothing: Bool {
        if case .constant(let value) = self { plainConstant(value) == nil } else { false }
    }
}
