public import Foundation

public import class Predicates.NSExpression

/// How the objects of an entity come to be. Raw values are Apple's.
public enum NSEntityMappingType: UInt, Sendable {
    /// Nobody said; treated as a transformation without copies of attributes.
    case undefinedEntityMappingType = 0
    /// By a migration policy of the program's own.
    case customEntityMappingType = 1
    /// The entity is new: nothing becomes of it.
    case addEntityMappingType = 2
    /// The entity is gone, and its objects with it.
    case removeEntityMappingType = 3
    /// The entity is what it was.
    case copyEntityMappingType = 4
    /// The entity has changed.
    case transformEntityMappingType = 5
}

/// What becomes of one entity in another version of its model. Source: Apple, NSEntityMapping.
///
/// Queue: one; used by one migration at a time.
open class NSEntityMapping: NSObject, @unchecked Sendable {
    // @unchecked: set up before a migration begins, and read by its thread only.

    /// The name by which expressions and policies find the mapping, unique in its model.
    /// Without one: that of the source entity, `->`, and that of the destination entity.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var name: String! {
        get { ownName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { ownName = newValue }
    }
    private final var ownName: String?
    /// How the mapping makes objects.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    /// The entity whose objects are migrated; nil where the entity is new.
    open var sourceEntityName: String?
    /// The hash of the entity that the mapping was made for; nil for any.
    open var sourceEntityVersionHash: Data?
    /// The entity of the new objects; nil where the entity is removed.
    open var destinationEntityName: String?
    /// The hash of the entity that the mapping was made for; nil for any.
    open var destinationEntityVersionHash: Data?
    /// Nil copies the attributes of equal names where the type of the mapping says to copy.
    open var attributeMappings: [NSPropertyMapping]?
    /// Relationships without a mapping begin empty.
    open var relationshipMappings: [NSPropertyMapping]?
    /// What gives the source objects: a list of them or a fetch request; nil for all of the entity.
    open var sourceExpression: NSExpression?
    /// A subclass of `NSEntityMigrationPolicy`, with its module or without; see
    /// `NSEntityMigrationPolicy.register(_:)`. Nil for the policy that follows the mapping alone.
    open var entityMigrationPolicyClassName: String?
    /// The program's own facts, for its policies.
    open var userInfo: [AnyHashable: Any]?

    /// A mapping of nothing.
    public override init() { super.init() }

    /// Whether another mapping does the same to the same entities.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        return self === other
            || name == other.name && mappingType == other.mappingType
                && sourceEntityName == other.sourceEntityName
                && sourceEntityVersionHash == other.sourceEntityVersionHash
                && destinationEntityName == other.destinationEntityName
                && destinationEntityVersionHash == other.destinationEntityVersionHash
                && sourceExpression == other.sourceExpression
                && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
                && attributeMappings == other.attributeMappings
                && relationshipMappings == other.relationshipMappings
    }

    open override var hash: Int { (name as String).hashValue }
}

/// What one property of a new object gets. Source: Apple, NSPropertyMapping. Queue: its entity
/// mapping's.
open class NSPropertyMapping: NSObject, @unchecked Sendable {
    // @unchecked: see NSEntityMapping.

    /// The name of the property in the destination entity.
    open var name: String?
    /// What gives the value; nil leaves the default. `$source`, `$destination`, `$manager`,
    /// `$entityMapping`, `$propertyMapping` and `$entityPolicy` are bound, and
    /// `FUNCTION($manager, …)` and `FUNCTION($entityPolicy, …)` answer by name.
    open var valueExpression: NSExpression?
    /// The program's own facts, for its policies.
    open var userInfo: [AnyHashable: Any]?

    /// A mapping of no property.
    public override init() { super.init() }

    /// Whether another mapping gives the property the same value.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return self === other || name == other.name && valueExpression == other.valueExpression
    }

    open override var hash: Int { name.hashValue }
}
