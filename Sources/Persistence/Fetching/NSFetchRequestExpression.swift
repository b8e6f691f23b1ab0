internal import Foundation
internal import ObjectModel
public import Predicates

/// The type of expressions that run a fetch request. Source: Apple, NSFetchRequestExpressionType.
public let NSFetchRequestExpressionType = Predicates.NSExpression.ExpressionType.fetchRequest

/// An expression whose value is what a fetch request finds, or how many objects.
/// Source: Apple, NSFetchRequestExpression.
///
/// In the predicate of a request it is run once, before the request, on the queue of its context; a
/// missing context is that of the request. It cannot depend on the objects that are looked at: SQL
/// has no place for it. Cost: one query. Failures are thrown by the fetch that runs it; evaluated
/// by itself its value is nil then. Queue: that of the request it is part of.
open class NSFetchRequestExpression: Predicates.NSExpression {
    /// An expression that runs the request that is the value of `fetch` in the context that is the
    /// value of `context`.
    public class func expression(
        forFetch fetch: Predicates.NSExpression, context: Predicates.NSExpression,
        countOnly countFlag: Bool
    ) -> Predicates.NSExpression {
        let arguments = [fetch.node, context.node, .constant(countFlag)]
        return NSFetchRequestExpression(node: .function(FunctionName.fetch, arguments))
    }

    /// The expression whose value is the request.
    open var requestExpression: Predicates.NSExpression { argument(0) }
    /// The expression whose value is the context.
    open var contextExpression: Predicates.NSExpression { argument(1) }
    /// Whether the value is the number of objects.
    open var isCountOnlyRequest: Bool {
        (argument(2).expressionValue(with: nil, context: nil) as? Bool) ?? false
    }

    private func argument(_ place: Int) -> Predicates.NSExpression {
        guard case .function(_, let arguments) = node, arguments.indices.contains(place) else {
            return Predicates.NSExpression(node: .constant(nil))
        }
        return Predicates.NSExpression(node: arguments[place])
    }
}

extension NSFetchRequest: FetchAnswering {
    package final func answer(in context: Any?, countOnly: Bool) throws -> Any? {
        guard let context = context as? NSManagedObjectContext ?? .current else {
            throw PersistenceErrors.noCurrentContext
        }
        return try context.performAndWait {
            if countOnly { return try context.count(for: self) }
            return try context.results(of: self)
        }
    }
}

/// Runs the fetches in a predicate before stores or objects see it.
enum FetchExpressions {
    /// The predicate with what each FETCH finds in its place.
    static func answered(
        _ predicate: NSPredicate, in context: NSManagedObjectContext
    ) throws -> NSPredicate {
        let tree = node(of: predicate)
        var isFetching = false
        _ = tree.mapExpressions { part in
            if case .function(FunctionName.fetch, _) = part { isFetching = true }
            return part
        }
        guard isFetching else { return predicate }
        return try Answering(context: context).answered(tree).predicate
    }

    private struct Answering {
        let context: NSManagedObjectContext

        func answered(_ node: PredicateNode) throws -> PredicateNode {
            switch node {
            case .constant, .opaque: return node
            case .and(let parts): return .and(try parts.map(answered))
            case .or(let parts): return .or(try parts.map(answered))
            case .not(let part): return .not(try answered(part))
            case .comparison(var comparison):
                let isSingle = comparison.modifier == .direct && comparison.operator.isOfOneValue
                comparison.left = try answered(comparison.left, isSingle)
                comparison.right = try answered(comparison.right, isSingle)
                return .comparison(comparison)
            }
        }

        /// `isSingle`: where one value is compared, the first result is it, as in a database.
        private func answered(
            _ node: ExpressionNode, _ isSingle: Bool = false
        ) throws -> ExpressionNode {
            guard case .function(FunctionName.fetch, var arguments) = node, arguments.count == 3
            else { return try node.mapChildren({ try answered($0) }, answered) }
            arguments = try arguments.map { try answered($0) }
            if case .constant(nil) = arguments[1] { arguments[1] = .constant(context) }
            let bound = ExpressionNode.function(FunctionName.fetch, arguments)
            let found = try value(of: bound, with: nil)
            guard var list = listElements(of: found) else { return .constant(found) }
            if list.contains(where: { $0 is NSDictionary }) { list = try column(of: list) }
            guard isSingle else { return .constant(list.map { $0 ?? NSNull() as Any }) }
            return .constant(plainConstant(list.first ?? nil))
        }

        /// The values of dictionaries with one property: what a request in a predicate selects.
        private func column(of lines: [Any?]) throws -> [Any?] {
            let lines = lines.compactMap { $0 as? NSDictionary }
            let names = Set(lines.flatMap { $0.allKeys.compactMap { $0 as? String } })
            guard names.count <= 1 else {
                throw PersistenceErrors.unsupported(
                    "A fetch in a predicate gives one property; ask for one of "
                        + names.sorted().joined(separator: ", "))
            }
            return lines.map { line in names.first.flatMap { line[$0] } }
        }
    }
}

extension ComparisonNode.Operator {
    fileprivate var isOfOneValue: Bool {
        switch self {
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo,
            .notEqualTo:
            true
        case .matches, .like, .beginsWith, .endsWith, .in, .customSelector, .contains, .between:
            false
        }
    }
}
