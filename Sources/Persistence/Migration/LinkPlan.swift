internal import Foundation
internal import ObjectModel
internal import Predicates

/// What came of the objects at the other end of a source relationship; by any mapping for nil.
struct LinkTarget {
    let mapping: String?
    let key: String

    /// Nil for an expression that asks for anything else.
    init?(_ node: ExpressionNode) {
        guard case .function(FunctionName.perform, let arguments) = node, arguments.count == 4,
            case .variable(NSMigrationManagerKey) = arguments[0],
            case .constant(let selector as String) = arguments[1],
            case .constant(let name as String) = arguments[2],
            let key = arguments[3].keyOfMigrationSource
        else { return nil }
        switch MigrationFunction(rawValue: selector) {
        case .ofMapping: mapping = name
        case .ofRelationship: mapping = nil
        case .sourcesOfMapping, .fetchRequest, nil: return nil
        }
        self.key = key
    }
}

/// What a mapping's new objects are linked to, worked out once for all of them.
struct LinkPlan {
    /// One relationship of the new object.
    struct Step {
        let relationship: NSRelationshipDescription
        let property: NSPropertyMapping
        let node: ExpressionNode
        /// What the expression asks for, where it is one that Xcode writes.
        let target: LinkTarget?
    }

    let destination: NSEntityDescription
    let steps: [Step]

    init(_ mapping: NSEntityMapping, to destination: NSEntityDescription) {
        self.destination = destination
        let relationships = destination.relationshipsByName
        steps = (mapping.relationshipMappings ?? []).compactMap { property in
            guard let node = property.valueExpression?.node,
                let relationship = property.name.flatMap({ relationships[$0] })
            else { return nil }
            return Step(
                relationship: relationship, property: property, node: node,
                target: LinkTarget(node))
        }
    }
}
