internal import Foundation

/// What happens at the other end when an object is deleted. Raw values are Apple's.
public enum NSDeleteRule: UInt, Sendable, CaseIterable {
    /// Nothing: the others go on pointing at the deleted object.
    case noActionDeleteRule = 0
    /// The others lose their link to the deleted object.
    case nullifyDeleteRule = 1
    /// The others are deleted, too.
    case cascadeDeleteRule = 2
    /// The save fails with 1600 while others are left.
    case denyDeleteRule = 3
}

/// One end of a link between two entities. Source: Apple, NSRelationshipDescription.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The entity at the other end, which is not held. Set by hand, or by the model from
    /// `destinationEntityName`.
    open var destinationEntity: NSEntityDescription? {
        get { destination?.entity }
        set { destination = newValue?.place.tie }
    }
    private var destination: EntityTie?
    /// The relationship that leads back; nil where there is none.
    open weak var inverseRelationship: NSRelationshipDescription?
    /// What happens at the other end when an object is deleted.
    open var deleteRule: NSDeleteRule = .nullifyDeleteRule
    /// The counts as files and callers gave them: old files say −1 for "unbounded", and it is
    /// hashed.
    var givenCounts = (max: 0, min: 0)
    /// Whether a to-many relationship keeps its members in order.
    open var isOrdered = false
    /// A to-many relationship holds a set (or an ordered set) of objects.
    open var isToMany: Bool { maxCount != 1 }
    /// The ends by name, until the model that gets this relationship's entity finds them.
    var awaited = AwaitedEnds()

    public required init() { super.init() }

    /// 1 for a to-one relationship, 0 for an unbounded to-many.
    open var maxCount: Int {
        get { max(givenCounts.max, 0) }
        set { givenCounts.max = newValue }
    }

    /// The smallest number of members; it binds only where the relationship is not optional.
    open var minCount: Int {
        get { max(givenCounts.min, 0) }
        set { givenCounts.min = newValue }
    }

    /// The destination's name. Setting it lets the model find the entity when its entities are set.
    public var destinationEntityName: String? {
        get { awaited.destination ?? destinationEntity?.name }
        set { awaited.destination = newValue }
    }

    /// The inverse's name. Setting it lets the model find the relationship, as with the
    /// destination.
    public var inverseRelationshipName: String? {
        get { awaited.inverse ?? inverseRelationship?.name }
        set { awaited.inverse = newValue }
    }

    override func give(to twin: NSPropertyDescription) {
        super.give(to: twin)
        guard let twin = twin as? NSRelationshipDescription else { return }
        twin.destinationEntity = destinationEntity
        twin.inverseRelationship = inverseRelationship
        twin.deleteRule = deleteRule
        twin.givenCounts = givenCounts
        twin.isOrdered = isOrdered
        twin.awaited = awaited
    }
}

/// The names of a relationship's ends that no model has found yet.
struct AwaitedEnds {
    var destination: String?
    var inverse: String?
}
