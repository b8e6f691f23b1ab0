internal import Foundation
internal import ObjectModel
internal import Predicates

/// Where the attributes of a mapping's new objects come from, worked out once for all of them.
struct AttributePlan {
    /// One attribute of the new object.
    struct Step {
        let attribute: NSAttributeDescription
        /// What gives the value; nil where `former` alone does.
        let property: NSPropertyMapping?
        /// The attribute of the source object that is all that is read.
        let former: NSAttributeDescription?
        /// Where both stand in their objects, if the value passes as it is stored.
        let slots: (from: Int, to: Int)?
        var passesBytes: Bool { attribute.attributeType == .transformableAttributeType }
    }

    let source: NSEntityDescription
    let destination: NSEntityDescription
    let steps: [Step]

    init(
        _ mapping: NSEntityMapping, from source: NSEntityDescription,
        to destination: NSEntityDescription
    ) {
        self.source = source
        self.destination = destination
        guard let mappings = mapping.attributeMappings else {
            let copies: [NSEntityMappingType] = [
                .copyEntityMappingType, .transformEntityMappingType,
            ]
            steps =
                copies.contains(mapping.mappingType)
                ? destination.attributesByName.sorted { $0.key < $1.key }.compactMap {
                    Self.copy(of: $0.value, from: source)
                } : []
            return
        }
        steps = mappings.compactMap { property in
            guard let expression = property.valueExpression,
                let attribute = property.name.flatMap({ destination.attributesByName[$0] })
            else { return nil }
            let former = expression.node.keyOfMigrationSource.flatMap {
                source.attributesByName[$0]
            }
            return Step(
                attribute: attribute, property: property, former: former,
                slots: Self.slots(former, source, attribute, destination))
        }
    }

    private static func copy(
        of attribute: NSAttributeDescription, from source: NSEntityDescription
    ) -> Step? {
        guard !(attribute is NSDerivedAttributeDescription),
            let former = source.attributesByName[attribute.name]
        else { return nil }
        return Step(
            attribute: attribute, property: nil, former: former,
            slots: slots(former, source, attribute, attribute.entity))
    }

    private static func slots(
        _ former: NSAttributeDescription?, _ source: NSEntityDescription,
        _ attribute: NSAttributeDescription, _ destination: NSEntityDescription
    ) -> (from: Int, to: Int)? {
        guard let former, former.attributeType == attribute.attributeType,
            former.valueTransformerName == attribute.valueTransformerName,
            !(attribute is NSDerivedAttributeDescription),
            case .attribute(let from) = ObjectLayout.of(source).slot(former.name),
            case .attribute(let to) = ObjectLayout.of(destination).slot(attribute.name)
        else { return nil }
        return (from, to)
    }
}

extension ExpressionNode {
    /// The key that an expression reads of the source object, if it reads nothing else.
    var keyOfMigrationSource: String? {
        switch self {
        case .path(from: .variable(NSMigrationSourceObjectKey), let path) where path.count == 1:
            return path[0]
        case .function(FunctionName.perform, let arguments) where arguments.count == 3:
            guard case .variable(NSMigrationSourceObjectKey) = arguments[0],
                case .constant(let selector as String) = arguments[1], selector == "valueForKey:",
                case .constant(let key as String) = arguments[2]
            else { return nil }
            return key
        default: return nil
        }
    }
}
