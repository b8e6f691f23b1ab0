internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// Gives a new object what its mapping's expressions say.
struct MappingEvaluation {
    let mapping: NSEntityMapping
    let manager: NSMigrationManager
    let policy: NSEntityMigrationPolicy

    // MARK: Attributes

    func setAttributes(of made: NSManagedObject, from source: NSManagedObject) throws {
        guard let mappings = mapping.attributeMappings else {
            let kinds: [NSEntityMappingType] = [
                .copyEntityMappingType, .transformEntityMappingType,
            ]
            if kinds.contains(mapping.mappingType) { copyAttributes(to: made, from: source) }
            return
        }
        for property in mappings {
            guard let name = property.name, let expression = property.valueExpression,
                let attribute = made.entity.attributesByName[name]
            else { continue }
            if let former = Self.sourceKey(of: expression.node),
                Self.copyStored(former, of: source, to: attribute, of: made)
            {
                continue
            }
            let value = try value(of: expression.node, for: property, source, made)
            // Where the new model demands a value and has one for all, that one stands.
            if value == nil, !attribute.isOptional, attribute.defaultValue != nil { continue }
            made.setValue(value, forKey: name)
        }
    }

    private func copyAttributes(to made: NSManagedObject, from source: NSManagedObject) {
        for (name, attribute) in made.entity.attributesByName
        where !(attribute is NSDerivedAttributeDescription)
            && source.entity.attributesByName[name] != nil
        {
            if Self.copyStored(name, of: source, to: attribute, of: made) { continue }
            made.setValue(source.value(forKey: name), forKey: name)
        }
    }

    /// The key that an expression reads of the source object and nothing else.
    private static func sourceKey(of node: ExpressionNode) -> String? {
        switch node {
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

    /// Hands on the bytes of a transformable value as they are, since the class of its object may
    /// not be at hand.
    private static func copyStored(
        _ key: String, of source: NSManagedObject, to attribute: NSAttributeDescription,
        of made: NSManagedObject
    ) -> Bool {
        guard attribute.attributeType == .transformableAttributeType, !attribute.isTransient,
            let former = source.entity.attributesByName[key],
            former.attributeType == .transformableAttributeType,
            former.valueTransformerName == attribute.valueTransformerName,
            let data = source.storedBytes(forKey: key)
        else { return false }
        made.setValue(StoredBytes(data), forKey: attribute.name)
        return true
    }

    // MARK: Relationships

    func setRelationships(of made: NSManagedObject, from source: NSManagedObject?) throws {
        for property in mapping.relationshipMappings ?? [] {
            guard let name = property.name, let expression = property.valueExpression,
                let relationship = made.entity.relationshipsByName[name]
            else { continue }
            let value = try value(of: expression.node, for: property, source, made)
            let objects = Self.objects(in: value).filter {
                relationship.destinationEntity.map($0.entity.isKindOf) ?? false
            }
            if !relationship.isToMany {
                if Self.isTaken(objects.first, for: relationship, by: made) { continue }
                made.setValue(objects.first, forKey: name)
            } else if relationship.isOrdered {
                made.setValue(NSOrderedSet(array: objects), forKey: name)
            } else {
                made.setValue(Set(objects), forKey: name)
            }
        }
    }

    /// Whether an object has the one link that the relationship's inverse allows it already.
    private static func isTaken(
        _ object: NSManagedObject?, for relationship: NSRelationshipDescription,
        by made: NSManagedObject
    ) -> Bool {
        guard let object, let inverse = relationship.inverseRelationship, !inverse.isToMany,
            let holder = object.value(forKey: inverse.name) as? NSManagedObject
        else { return false }
        return holder !== made
    }

    private static func objects(in value: Any?) -> [NSManagedObject] {
        if let object = value as? NSManagedObject { return [object] }
        return (listElements(of: value) ?? []).compactMap { $0 as? NSManagedObject }
    }

    // MARK: Expressions

    private func value(
        of node: ExpressionNode, for property: NSPropertyMapping, _ source: NSManagedObject?,
        _ made: NSManagedObject
    ) throws -> Any? {
        let variables: [String: Any?] = [
            NSMigrationManagerKey: manager, NSMigrationSourceObjectKey: source,
            NSMigrationDestinationObjectKey: made, NSMigrationEntityMappingKey: mapping,
            NSMigrationPropertyMappingKey: property, NSMigrationEntityPolicyKey: policy,
        ]
        do {
            return try UndefinedKeys.throwing {
                try Predicates.value(of: node, with: source, variables: variables)
            }
        } catch let error as EvaluationError {
            throw PersistenceErrors.make(
                NSMigrationError,
                "The value of \(mapping.destinationEntityName ?? "").\(property.name ?? "") cannot "
                    + "be computed: \(error.message)",
                [
                    "entity": mapping.destinationEntityName ?? "",
                    "property": property.name ?? "", NSUnderlyingErrorKey: error,
                ])
        }
    }
}

extension NSManagedObject {
    /// What the store keeps of a transformable attribute; nil for none.
    fileprivate func storedBytes(forKey key: String) -> Data? {
        willAccessValue(forKey: key)
        guard case .attribute(let index) = shape.slot(key), case .data(let data) = attributes[index]
        else { return nil }
        return data
    }
}
