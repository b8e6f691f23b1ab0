internal import Foundation

/// What happens at the other end when an object is deleted. Raw values are Apple's.
public enum NSDeleteRule: UInt, Sendable, CaseIterable {
    case noActionDeleteRule = 0
    case nullifyDeleteRule = 1
    case cascadeDeleteRule = 2
    case denyDeleteRule = 3
}

/// One end of a link between two entities. Source: Apple, NSRelationshipDescription.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The entity at the other end. Set by hand, or by the model from `destinationEntityName`.
    open weak var destinationEntity: NSEntityDescription?
    /// The relationship that leads back; nil where there is none.
    open weak var inverseRelationship: NSRelationshipDescription?
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule
    /// 1 for a to-one relationship, 0 for an unbounded to-many.
    open var maxCount = 0
    open var minCount = 0
    open var isOrdered = false
    /// A to-many relationship holds a set (or an ordered set) of objects.
    open var isToMany: Bool { maxCount != 1 }

    public override init() { super.init() }
}

/// A weak link: a fetch request kept under a property's name. It has no column.
/// Source: Apple, NSFetchedPropertyDescription.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The request as the model file spells it.
    open var template: FetchRequestTemplate?

    public override init() {
        super.init()
        isTransient = true
    }
}

/// A fetch request as a model file keeps it: names and predicate text, bound to nothing yet.
public struct FetchRequestTemplate: Hashable, Sendable {
    public var name: String
    public var entityName: String
    public var predicateText: String?
    public var fetchLimit = 0
    public var fetchBatchSize = 0
    public var includesSubentities = true
    public var includesPropertyValues = true
    public var returnsObjectsAsFaults = true
    public var returnsDistinctResults = false
    /// The raw value of the result type: 0 objects, 1 IDs, 2 dictionaries, 4 count.
    public var resultType: UInt = 0

    public init(name: String, entityName: String, predicateText: String? = nil) {
        self.name = name
        self.entityName = entityName
        self.predicateText = predicateText
    }
}
