internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// The columns and groups that a fetch request for dictionaries asks for. What cannot be asked for
/// is refused in Apple's words, as an error.
struct FetchedColumns {
    private let entity: NSEntityDescription
    private(set) var columns: [FetchedColumn] = []
    private(set) var grouping: [ExpressionNode] = []
    private(set) var having: PredicateNode?

    init(_ values: FetchedValues, of entity: NSEntityDescription) throws {
        self.entity = entity
        let chosen = values.properties ?? []
        columns =
            chosen.isEmpty
            ? try entity.attributesByName.sorted { $0.key < $1.key }
                .filter { !$0.value.isTransient }.flatMap { try columns(of: $0.value) }
            : try chosen.flatMap(columns(for:))
        grouping = try (values.grouping ?? []).flatMap(expressions(groupedBy:))
        having = values.having.map { node(of: $0).normalized }
        try check()
    }

    // MARK: Columns

    private func columns(for choice: Any) throws -> [FetchedColumn] {
        switch choice {
        case let name as String: return try columns(named: name)
        case let description as NSExpressionDescription:
            guard let expression = description.expression?.node.normalized else {
                throw refusal(
                    "Invalid property (\(description.name)) passed to "
                        + "setPropertiesToFetch: (it has no expression)")
            }
            var type = FetchedColumnType(of: expression, in: entity)
            if description.expressionResultType != .undefinedAttributeType,
                description.expressionResultType != type.type
            {
                type = FetchedColumnType(description.expressionResultType)
            }
            return [FetchedColumn(name: description.name, expression: expression, type: type)]
        case let property as NSPropertyDescription:
            guard entity.propertiesByName[property.name] != nil else {
                throw refusal(
                    "Invalid property (\(property.name)) passed to setPropertiesToFetch: "
                        + "(entity mismatch)")
            }
            return try columns(of: property)
        default:
            throw refusal("Invalid property (\(choice)) passed to setPropertiesToFetch:")
        }
    }

    private func columns(named name: String) throws -> [FetchedColumn] {
        if let property = entity.propertiesByName[name] { return try columns(of: property) }
        if name == "objectID" {
            let type = FetchedColumnType(.objectIDAttributeType)
            return [FetchedColumn(name: name, expression: .evaluatedObject, type: type)]
        }
        let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let expression = ExpressionNode.keyPath(path)
        if path.contains(where: { $0.hasPrefix("@") }) {
            let type = FetchedColumnType(of: expression, in: entity)
            return [FetchedColumn(name: name, expression: expression, type: type)]
        }
        guard let end = PropertyPath(path, from: entity) else {
            throw refusal("Invalid keypath \(name) passed to setPropertiesToFetch:")
        }
        try check(end, name)
        return [FetchedColumn(name: name, expression: expression, type: end.type)]
    }

    private func columns(of property: NSPropertyDescription) throws -> [FetchedColumn] {
        guard let end = PropertyPath([property.name], from: entity) else { return [] }
        try check(end, property.name)
        guard let composite = property as? NSCompositeAttributeDescription else {
            let expression = ExpressionNode.keyPath([property.name])
            return [FetchedColumn(name: property.name, expression: expression, type: end.type)]
        }
        return elements(of: composite, [composite.name])
    }

    private func elements(
        of composite: NSCompositeAttributeDescription, _ path: [String]
    ) -> [FetchedColumn] {
        composite.elements.flatMap { element -> [FetchedColumn] in
            let path = path + [element.name]
            if let inner = element as? NSCompositeAttributeDescription {
                return elements(of: inner, path)
            }
            return [
                FetchedColumn(
                    name: path[0], element: Array(path.dropFirst()),
                    expression: .keyPath(path), type: FetchedColumnType(element))
            ]
        }
    }

    private func check(_ end: PropertyPath, _ name: String) throws {
        if end.leadsToMany {
            throw refusal("Invalid to-many relationship in setPropertiesToFetch: (\(name))")
        }
        if end.property is NSFetchedPropertyDescription || end.property.isTransient {
            throw refusal(
                "Invalid property (\(name)) passed to setPropertiesToFetch: (it is not stored)")
        }
    }

    // MARK: Groups

    private func expressions(groupedBy choice: Any) throws -> [ExpressionNode] {
        if let name = choice as? String, entity.propertiesByName[name] == nil,
            let column = columns.first(where: { $0.name == name })
        {
            return [column.expression]
        }
        let expressions = try columns(for: choice).map(\.expression)
        let calls = AggregateCalls(of: entity)
        if let aggregate = expressions.first(where: calls.areIn) {
            throw refusal("Invalid expression in GROUP BY: \(aggregate) counts over the groups")
        }
        return expressions
    }

    /// Groups need values that are one for each group.
    private func check() throws {
        let calls = AggregateCalls(of: entity)
        for column in columns {
            _ = try column.expression.mapExpressions { part in
                guard let call = calls.call(part), calls.areIn(call.argument) else { return part }
                throw refusal("Unsupported function expression \(part)")
            }
        }
        guard !grouping.isEmpty else {
            if having == nil { return }
            throw refusal("A having predicate needs propertiesToGroupBy.")
        }
        for column in columns where !grouping.contains(column.expression) {
            let rest = calls.replacing(in: column.expression) { _, _ in .constant(nil) }
            _ = try rest.mapExpressions { part in
                let isOfRow =
                    switch part {
                    case .keyPath, .evaluatedObject: !grouping.contains(part)
                    default: false
                    }
                guard isOfRow else { return part }
                throw refusal(
                    "SELECT clauses in queries with GROUP BY components can only contain "
                        + "properties named in the GROUP BY or aggregate functions "
                        + "(\(column.name) is not in the GROUP BY)")
            }
        }
    }

    private func refusal(_ text: String) -> NSError { PersistenceErrors.unsupported(text) }
}
