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
        let plan = manager.work?.plan(of: mapping, from: source.entity, to: made.entity)
        for step in plan?.steps ?? [] {
            if Self.passStored(step, from: source, to: made) { continue }
            let value: Any?
            if let former = step.former {
                value = Self.translated(source.value(forKey: former.name), former, step.attribute)
            } else if let property = step.property, let node = property.valueExpression?.node {
                value = try self.value(of: node, for: property, source, made)
            } else {
                continue
            }
            // Where the new model demands a value and has one for all, that one stands.
            if value == nil, Self.keepsDefault(step) { continue }
            made.setValue(value, forKey: step.attribute.name)
        }
    }

    /// A composite's value has the names that its elements have now.
    private static func translated(
        _ value: Any?, _ former: NSAttributeDescription, _ present: NSAttributeDescription
    ) -> Any? {
        guard let former = former as? NSCompositeAttributeDescription,
            let present = present as? NSCompositeAttributeDescription
        else { return value }
        return present.value(of: value as? [String: Any], in: former)
    }

    private static func keepsDefault(_ step: AttributePlan.Step) -> Bool {
        step.property != nil && !step.attribute.isOptional && step.attribute.defaultValue != nil
    }

    /// Hands on a value as it is stored: the class of a transformable one may not be at hand. What
    /// a class of the program's own reads of its objects is for that class to say.
    private static func passStored(
        _ step: AttributePlan.Step, from source: NSManagedObject, to made: NSManagedObject
    ) -> Bool {
        guard let slots = step.slots, made.isInserted else { return false }
        guard step.passesBytes || type(of: source) == NSManagedObject.self else { return false }
        source.willAccessValue(forKey: step.former?.name)
        guard !source.isFault else { return false }
        let value = source.attribute(at: slots.from)
        if step.passesBytes, case .data = value {} else if step.passesBytes { return false }
        if value.isNull, keepsDefault(step) { return true }
        made.attributes[slots.to] = value
        return true
    }

    // MARK: Relationships

    func setRelationships(of made: NSManagedObject, from source: NSManagedObject?) throws {
        let plan = manager.work?.links(of: mapping, to: made.entity)
        for step in plan?.steps ?? [] {
            let (relationship, name) = (step.relationship, step.relationship.name)
            let objects = try objects(of: step, source, made).filter {
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

    private func objects(
        of step: LinkPlan.Step, _ source: NSManagedObject?, _ made: NSManagedObject
    ) throws -> [NSManagedObject] {
        if let source, let target = step.target, let found = followed(target, from: source) {
            return found
        }
        return Self.objects(in: try value(of: step.node, for: step.property, source, made))
    }

    /// What the expressions give that Xcode writes, without evaluating them; nil where a class of
    /// the program's own has a say in it.
    private func followed(
        _ target: LinkTarget, from source: NSManagedObject
    ) -> [NSManagedObject]? {
        guard type(of: manager) == NSMigrationManager.self,
            type(of: source) == NSManagedObject.self,
            let relationship = source.entity.relationshipsByName[target.key]
        else { return nil }
        var ids = source.objectIDs(forRelationshipNamed: target.key)
        if !relationship.isOrdered, ids.count > 1 { ids.sort { $0.key < $1.key } }
        return manager.destinationInstances(of: ids, by: target.mapping)
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
