public import Foundation
internal import ObjectModel
public import Predicates

/// How the objects of one entity mapping are made. Source: Apple, NSEntityMigrationPolicy.
///
/// Subclasses override what they want to do otherwise. The migration calls them in this order: for
/// each mapping `begin`, `createDestinationInstances` for each source object,
/// `endInstanceCreation`; then for each mapping `createRelationships` for each new object,
/// `endRelationshipCreation`; then for each mapping `performCustomValidation`, `end`. What they
/// throw ends the migration, and the destination is not made.
///
/// Queue: the migration's thread. Every function throws `EvaluationError` where an expression of
/// the mapping cannot be worked out, and what an override throws. Cost: O(properties) for each
/// object; the hooks around them do nothing by themselves.
open class NSEntityMigrationPolicy: NSObject, FunctionReceiving, @unchecked Sendable {
    // @unchecked: made by a migration, and used by its thread only.

    /// A policy that follows its mapping alone; migrations make one for each mapping.
    public required override init() { super.init() }

    /// Called before anything of the mapping is done.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what becomes of one source object, and associates it with it. By itself it makes one
    /// object and gives it the values of the mapping's attributes.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        // As with Apple, not of the program's class: its code is about another version.
        let made = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        try MappingEvaluation(mapping: mapping, manager: manager, policy: self)
            .setAttributes(of: made, from: sInstance)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
    }

    /// Called when all objects of the mapping are made.
    open func endInstanceCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// Links one new object to others. By itself it follows the mapping's relationships.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        guard !(mapping.relationshipMappings ?? []).isEmpty else { return }
        let sources = manager.sourceInstances(
            forEntityMappingName: mapping.name ?? "", destinationInstances: [dInstance])
        try MappingEvaluation(mapping: mapping, manager: manager, policy: self)
            .setRelationships(of: dInstance, from: sources.first)
    }

    /// Called when all objects of the mapping are linked.
    open func endRelationshipCreation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// Checks the new objects beyond the model's rules.
    open func performCustomValidation(
        forMapping mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}

    /// Called when the mapping is done, before the new store is saved.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Answers `FUNCTION($entityPolicy, 'name:', …)` of the mapping's expressions: where Apple's
    /// runtime calls a method by its selector, subclasses answer here. By itself it throws.
    open func value(ofFunction name: String, arguments: [Any?]) throws -> Any? {
        throw EvaluationError(
            .badFunction,
            "The policy \(type(of: self)) has no function \(name); override "
                + "value(ofFunction:arguments:).", fields: ["function": name])
    }

    /// Makes classes known by name, for mappings that name a class of a module of which the program
    /// uses no object class. Any thread.
    public static func register(_ classes: [NSEntityMigrationPolicy.Type]) {
        for type in classes { MigrationPolicies.note(type) }
    }
}
