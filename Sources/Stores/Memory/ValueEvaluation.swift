internal import Foundation
package import ObjectModel
package import Platform
internal import Predicates

/// What objects are ordered by, and told apart: a key is one object's within its store only.
package struct ObjectKey: Hashable {
    package var key: Int64
    package var store: ObjectIdentifier?

    /// `store` may be nil where all objects are of one.
    package init(_ key: Int64, in store: ObjectIdentifier? = nil) {
        self.key = key
        self.store = store
    }
}

/// Computes the lines of a value query from objects that answer keys, by the rules of evaluation in
/// memory. Missing values count in no function but in none of them as zero, as in SQL.
package struct ValueEvaluation {
    private let query: ValueQuery
    private let entity: NSEntityDescription
    private let calls: AggregateCalls
    private let platform: Environment
    /// The key of an object; nil for other values.
    private let key: (Any) -> ObjectKey?

    package init(
        _ query: ValueQuery, entity: NSEntityDescription, platform: Environment,
        key: @escaping (Any) -> ObjectKey?
    ) {
        self.query = query
        self.entity = entity
        self.platform = platform
        self.key = key
        calls = AggregateCalls(of: entity)
    }

    /// One line of the answer before sorting.
    private struct Line {
        var values: [Any?]
        var sortValues: [Any?]
        /// What decides between lines that sort alike.
        var ties: [Any?]
    }

    /// The lines that the rows `objects`, in the order of their keys, make. Throws
    /// `EvaluationError`, and what the objects' keys throw.
    package func answer(from objects: [Any]) throws -> [[Any?]] {
        let sort = try query.rows.sort.map { descriptor in
            guard let key = Predicates.key(of: descriptor), key.comparison != .custom else {
                throw StoreError(
                    .unsupported,
                    "A store sorts by keys only; sort by comparators and Swift key paths in memory."
                )
            }
            return key
        }
        var lines: [Line] = []
        var seen: Set<[LineValue]> = []
        for group in try groups(of: objects) {
            guard try holds(group) else { continue }
            let line = try line(of: group, sort)
            if query.isDistinct, !seen.insert(line.values.map(lineValue)).inserted { continue }
            lines.append(line)
        }
        let rest = try sorted(lines, sort).dropFirst(query.rows.offset)
        let limit = query.rows.limit
        return (limit > 0 ? rest.prefix(limit) : rest).map(\.values)
    }

    // MARK: Groups

    private func groups(of objects: [Any]) throws -> [[Any]] {
        guard !query.grouping.isEmpty else {
            return query.isAggregated(calls) ? [objects] : objects.map { [$0] }
        }
        var places: [[LineValue]: Int] = [:]
        var groups: [[Any]] = []
        for object in objects {
            let names = try query.grouping.map { lineValue(try value(of: $0, in: object)) }
            if let place = places[names] {
                groups[place].append(object)
            } else {
                places[names] = groups.count
                groups.append([object])
            }
        }
        return groups
    }

    private func holds(_ group: [Any]) throws -> Bool {
        guard let condition = query.groupCondition else { return true }
        let computed = try calls.replacing(in: condition) { function, argument in
            .constant(try function.result(of: argument, over: group, platform: platform))
        }
        return try evaluate(computed, with: group.last, platform: platform)
    }

    private func line(of group: [Any], _ sort: [SortKey]) throws -> Line {
        let values = try query.columns.map { column in
            let computed = try calls.replacing(in: column.expression) { function, argument in
                .constant(try function.result(of: argument, over: group, platform: platform))
            }
            return try value(of: computed, in: group.last)
        }
        let sortValues = try sort.map { key in
            if let place = query.column(sortedBy: key, in: entity) { return values[place] }
            return try value(of: .keyPath(key.path), in: group.last)
        }
        let names = try query.grouping.map { try value(of: $0, in: group.last) }
        return Line(
            values: values, sortValues: sortValues, ties: query.isDistinct ? values : names)
    }

    private func value(of node: ExpressionNode, in object: Any?) throws -> Any? {
        try Predicates.value(of: node, with: object, platform: platform)
    }

    // MARK: Order

    private func sorted(_ lines: [Line], _ sort: [SortKey]) throws -> [Line] {
        let orders = sort.map {
            SortKey(path: [], ascending: $0.ascending, comparison: $0.comparison)
        }
        guard !orders.isEmpty || lines.first?.ties.isEmpty == false else { return lines }
        let plain = SortKey(path: [])
        var places = Array(lines.enumerated())
        try places.sort { first, second in
            for (place, order) in orders.enumerated() {
                let result = try order.order(
                    comparable(first.element.sortValues[place]),
                    comparable(second.element.sortValues[place]))
                if result != .orderedSame { return result == .orderedAscending }
            }
            for (one, other) in zip(first.element.ties, second.element.ties) {
                let result = try plain.order(comparable(one), comparable(other))
                if result != .orderedSame { return result == .orderedAscending }
            }
            return first.offset < second.offset
        }
        return places.map(\.element)
    }

    /// A value by which lines are ordered: of an object its key.
    private func comparable(_ value: Any?) -> Any? {
        value.flatMap { key($0).map { Int($0.key) } } ?? value
    }

    private func lineValue(_ value: Any?) -> LineValue {
        if let value, let key = key(value) { return .object(key) }
        return LineValue(value)
    }
}

extension AggregateFunction {
    /// Computes over rows, of which the argument is computed each. Throws `EvaluationError`, and
    /// `StoreError` `.unsupported` for sums of what is no number.
    func result(
        of argument: ExpressionNode, over objects: [Any], platform: Environment
    ) throws -> Any? {
        let values = try objects.compactMap {
            try Predicates.value(of: argument, with: $0, platform: platform)
        }
        if self == .count { return values.count }
        let isSummed = self == .sum || self == .average
        if isSummed, values.contains(where: { !LineValue($0).isNumber }) {
            throw StoreError(
                .unsupported,
                "Unsupported function expression \(rawValue)(\(argument)): it needs numbers")
        }
        return try Predicates.value(
            of: .function(rawValue, [.constant(values)]), with: nil, platform: platform)
    }
}

/// A value of a line, equal to those that SQL counts as equal.
private enum LineValue: Hashable {
    case null
    case integer(Int)
    case real(Double)
    case decimal(Decimal)
    case text(LiteralText)
    case object(ObjectKey)
    case other(AnyHashable)

    init(_ value: Any?) {
        switch value {
        case nil: self = .null
        case let value as Bool: self = .integer(value ? 1 : 0)
        case let value as Int: self = .integer(value)
        case let value as Double: self = Int(exactly: value).map { .integer($0) } ?? .real(value)
        case let value as Decimal:
            let number = value.nearestReal
            self = Int(exactly: number).map { .integer($0) } ?? .decimal(value)
        case let value as String: self = .text(LiteralText(value))
        case let value as AnyHashable: self = .other(value)
        default: self = .null
        }
    }

    var isNumber: Bool {
        switch self {
        case .integer, .real, .decimal: true
        case .null, .text, .object, .other: false
        }
    }
}

extension MemoryRowStore {
    /// The lines of a value query. Cost: a walk through the entity's rows.
    public func values(of query: ValueQuery) throws -> [[Any?]] {
        guard let entity = layout.entity(query.rows.entity) else {
            throw Self.unknownEntity(query.rows.entity)
        }
        var rows = query.rows
        rows.sort = []
        rows.limit = 0
        rows.offset = 0
        let evaluation = ValueEvaluation(query, entity: entity.entity, platform: platform) {
            ($0 as? MemoryRowObject).map { ObjectKey($0.row.id.key) }
        }
        let memory = MemoryQuery(query: rows, store: self)
        do {
            let objects = try self.rows(matching: rows).compactMap(memory.object)
            return try evaluation.answer(from: objects).map { line in
                line.map { ($0 as? MemoryRowObject)?.row.id ?? $0 }
            }
        } catch let error as EvaluationError {
            throw StoreError(.unsupported, error.message, fields: error.fields, cause: error)
        }
    }
}
