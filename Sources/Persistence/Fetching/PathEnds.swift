internal import ObjectModel
internal import Predicates

/// Where the paths of a predicate lead, by the model.
struct PathEnds {
    private let entity: NSEntityDescription
    private var variables: [String: NSEntityDescription] = [:]

    init(from entity: NSEntityDescription) { self.entity = entity }

    /// The same within a subquery, whose variable stands for the members of a collection.
    func within(_ collection: ExpressionNode, _ variable: String) -> PathEnds {
        var inner = self
        inner.variables[variable] = end(of: collection)
        return inner
    }

    /// The attribute that an expression reads, of one object or of members; nil where it is none.
    func attribute(_ node: ExpressionNode) -> NSAttributeDescription? {
        switch node {
        case .keyPath(let path): Self.attribute(path[...], from: entity)
        case .path(from: let origin, let path):
            end(of: origin).flatMap { Self.attribute(path[...], from: $0) }
        default: nil
        }
    }

    /// Whether an expression is a path to a single value or object: over no to-many, and to nothing
    /// that may hold a list.
    func leadToOneValue(_ node: ExpressionNode) -> Bool {
        switch node {
        case .keyPath(let path): Self.leadsToOneValue(path[...], from: entity)
        case .path(from: .variable(let name), let path):
            variables[name].map { Self.leadsToOneValue(path[...], from: $0) } ?? false
        default: false
        }
    }

    private static func leadsToOneValue(
        _ path: ArraySlice<String>, from entity: NSEntityDescription
    ) -> Bool {
        guard let name = path.first else { return true }
        guard let link = entity.propertiesByName[name] as? NSRelationshipDescription else {
            switch attribute(path, from: entity)?.attributeType {
            case nil, .undefinedAttributeType, .transformableAttributeType,
                .compositeAttributeType:
                return false
            default: return true
            }
        }
        guard !link.isToMany, let target = link.destinationEntity else { return false }
        return leadsToOneValue(path.dropFirst(), from: target)
    }

    /// The entity of the object or the members that an expression is; nil where it is none.
    private func end(of node: ExpressionNode) -> NSEntityDescription? {
        switch node {
        case .evaluatedObject: entity
        case .variable(let name): variables[name]
        case .keyPath(let path): Self.end(of: path[...], from: entity)
        case .path(from: let origin, let path):
            end(of: origin).flatMap { Self.end(of: path[...], from: $0) }
        case .subquery(let collection, _, _): end(of: collection)
        case .function(FunctionName.index, let parts): parts.first.flatMap(end)
        default: nil
        }
    }

    private static func end(
        of path: ArraySlice<String>, from entity: NSEntityDescription
    ) -> NSEntityDescription? {
        path.reduce(entity) { entity, name in
            (entity?.propertiesByName[name] as? NSRelationshipDescription)?.destinationEntity
        }
    }

    /// Along relationships, then into composites.
    private static func attribute(
        _ path: ArraySlice<String>, from entity: NSEntityDescription
    ) -> NSAttributeDescription? {
        guard let name = path.first else { return nil }
        let property = entity.propertiesByName[name]
        if let link = property as? NSRelationshipDescription {
            return link.destinationEntity.flatMap { attribute(path.dropFirst(), from: $0) }
        }
        return path.dropFirst().reduce(property as? NSAttributeDescription) { whole, name in
            (whole as? NSCompositeAttributeDescription)?.elements.first { $0.name == name }
        }
    }
}
