package import ObjectModel
package import Platform
public import Predicates

/// Which values to compute of the rows that a query finds, instead of the rows.
///
/// A store answers with one array for each line, one element for each column: plain constants
/// (`Bool`, `Int`, `Double`, `Decimal`, `String`, `Date`, `UUID`, `URL`, `Data`), a `RowID` for an
/// object, nil for a missing value. Sorting, bounds and distinctness are those of the lines: lines
/// that sort alike come in the order of their values where they are distinct, of their groups where
/// there are such, else of the rows' keys.
public struct ValueQuery: Sendable {
    /// One value of each line.
    public struct Column: Sendable {
        /// The column's name in errors; lines are arrays, not dictionaries.
        public var name: String
        /// Normalized: paths from the evaluated object are key paths.
        public var expression: ExpressionNode

        /// A column of an expression over a row, or over a group where the query groups.
        public init(name: String, expression: ExpressionNode) {
            self.name = name
            self.expression = expression
        }
    }

    /// The rows, in which order the lines come, and how many of them. A sort key that is no
    /// property of the entity may name a column.
    public var rows: RowQuery
    /// In the order of each line's elements.
    public var columns: [Column]
    /// Rows with equal values of these make one line; empty for none.
    public var grouping: [ExpressionNode] = []
    /// Which groups to return. A variable of a column's name stands for the column.
    public var having: PredicateNode?
    /// Whether lines that are equal come once.
    public var isDistinct = false

    /// One line for each row, neither grouped nor distinct.
    public init(rows: RowQuery, columns: [Column]) {
        self.rows = rows
        self.columns = columns
    }

    /// Whether a line stands for several rows.
    package func isAggregated(_ calls: AggregateCalls) -> Bool {
        !grouping.isEmpty || columns.contains { calls.areIn($0.expression) }
    }

    /// The column that a sort key names; nil for a key of the rows.
    package func column(sortedBy key: SortKey, in entity: NSEntityDescription) -> Int? {
        guard key.path.count == 1, entity.propertiesByName[key.path[0]] == nil else { return nil }
        return columns.firstIndex { $0.name == key.path[0] }
    }

    /// The having predicate with columns in place of the variables that name them.
    package var groupCondition: PredicateNode? {
        having?.mapExpressions { node in
            guard case .variable(let name) = node else { return node }
            return columns.first { $0.name == name }?.expression ?? node
        }
    }
}

/// A function over the rows of a group.
package enum AggregateFunction: String, Sendable {
    case sum = "sum:"
    case count = "count:"
    case minimum = "min:"
    case maximum = "max:"
    case average = "average:"

    /// By the operator of a key path.
    init?(operator name: String) {
        switch name {
        case "@sum": self = .sum
        case "@count": self = .count
        case "@min": self = .minimum
        case "@max": self = .maximum
        case "@avg": self = .average
        default: return nil
        }
    }
}

/// Tells the functions over rows of an entity from those over the members of one row: `sum:(age)`
/// adds over rows, `sum:(children.age)` over one row's children.
package struct AggregateCalls {
    private let entity: NSEntityDescription

    package init(of entity: NSEntityDescription) { self.entity = entity }

    /// The function over rows that an expression calls, and what it takes of each row.
    package func call(
        _ node: ExpressionNode
    ) -> (function: AggregateFunction, argument: ExpressionNode)? {
        switch node {
        case .function(let name, let arguments):
            guard let function = AggregateFunction(rawValue: name), arguments.count == 1,
                !isCollection(arguments[0])
            else { return nil }
            return (function, arguments[0])
        case .keyPath(let path):
            guard let place = path.firstIndex(where: { $0.hasPrefix("@") }),
                let function = AggregateFunction(operator: path[place]),
                !leadsToMany(path[..<place])
            else { return nil }
            let rest = Array(path[..<place] + path[(place + 1)...])
            return (function, rest.isEmpty ? .evaluatedObject : .keyPath(rest))
        default: return nil
        }
    }

    /// A function over rows, and what it takes of each.
    private typealias Call = (function: AggregateFunction, argument: ExpressionNode)

    /// Whether an expression calls a function over rows anywhere.
    package func areIn(_ node: ExpressionNode) -> Bool { Self.finds(call, in: node) }

    /// The expression with each function over rows replaced.
    package func replacing(
        in node: ExpressionNode,
        _ value: (AggregateFunction, ExpressionNode) throws -> ExpressionNode
    ) rethrows -> ExpressionNode { try Self.replacing(call, in: node, value) }

    /// The predicate with each function over rows replaced.
    package func replacing(
        in node: PredicateNode,
        _ value: (AggregateFunction, ExpressionNode) throws -> ExpressionNode
    ) rethrows -> PredicateNode { try Self.replacing(call, in: node, value) }

    private static func finds(_ find: (ExpressionNode) -> Call?, in tree: some Tree) -> Bool {
        var found = false
        _ = tree.mapExpressions { part in
            found = found || find(part) != nil
            return part
        }
        return found
    }

    private static func replacing<Whole: Tree>(
        _ find: (ExpressionNode) -> Call?, in tree: Whole,
        _ value: (AggregateFunction, ExpressionNode) throws -> ExpressionNode
    ) rethrows -> Whole {
        try tree.mapExpressions { part in
            try find(part).map { try value($0.function, $0.argument) } ?? part
        }
    }

    // MARK: In conditions on single rows

    /// Whether a condition on single rows calls a function over all rows of the entity.
    package func areIn(_ condition: PredicateNode) -> Bool {
        Self.finds(callOverEntity, in: condition)
    }

    /// A condition on single rows with each function over all rows of the entity replaced:
    /// `age == max:(age)` holds for the rows with the greatest age of all, whatever else the
    /// condition asks.
    package func replacingOverEntity(
        in condition: PredicateNode,
        _ value: (AggregateFunction, ExpressionNode) throws -> ExpressionNode
    ) rethrows -> PredicateNode { try Self.replacing(callOverEntity, in: condition, value) }

    /// The same, computed of the objects of all rows.
    package func computing(
        _ condition: PredicateNode, over objects: [Any], platform: Environment
    ) throws -> PredicateNode {
        try replacingOverEntity(in: condition) { function, argument in
            .constant(try function.result(of: argument, over: objects, platform: platform))
        }
    }

    /// A path with an operator leads to members, here; and what a variable stands for is one row.
    private func callOverEntity(
        _ node: ExpressionNode
    ) -> (function: AggregateFunction, argument: ExpressionNode)? {
        guard case .function = node, let call = call(node) else { return nil }
        var (isOfRow, isOfOthers) = (false, false)
        _ = call.argument.mapExpressions { part in
            switch part {
            case .keyPath, .evaluatedObject: isOfRow = true
            case .variable, .subquery: isOfOthers = true
            case .constant, .path, .function, .aggregate, .conditional, .unionSet, .intersectSet,
                .minusSet:
                break
            }
            return part
        }
        return isOfRow && !isOfOthers ? call : nil
    }

    private func isCollection(_ node: ExpressionNode) -> Bool {
        switch node {
        case .keyPath(let path): leadsToMany(path[...]) && !Self.hasOperator(path)
        case .path(from: .subquery, let path): !Self.hasOperator(path)
        case .subquery, .aggregate, .unionSet, .intersectSet, .minusSet: true
        case .constant(let value): listElements(of: value) != nil
        case .evaluatedObject, .variable, .path, .function, .conditional: false
        }
    }

    private static func hasOperator(_ path: [String]) -> Bool {
        path.contains { $0.hasPrefix("@") }
    }

    private func leadsToMany(_ path: ArraySlice<String>) -> Bool {
        var entity: NSEntityDescription? = entity
        for name in path {
            guard let step = entity?.relationshipsByName[name] else { return false }
            if step.isToMany { return true }
            entity = step.destinationEntity
        }
        return false
    }
}

/// What has expressions in it.
private protocol Tree {
    func mapExpressions(
        _ transform: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> Self
}

extension ExpressionNode: Tree {}
extension PredicateNode: Tree {}
