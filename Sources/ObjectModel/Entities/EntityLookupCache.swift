internal import Foundation

/// Where an entity stands: its model, its parent, and, once the model is frozen, its dictionaries.
struct EntityLookupCache {
    weak var model: NSManagedObjectModel?
    /// What leads to the entity without holding it.
    let tie = EntityTie()
    var lookup: EntityLookup?
    /// Whether it was last put below an heir of its own, or below itself; it has no such parent.
    var isBelowItself = false
    private var parent: EntityTie?

    var superentity: NSEntityDescription? {
        get { parent?.entity }
        set { parent = newValue?.place.tie }
    }
}

/// An entity's properties by name, gathered once.
struct EntityLookup {
    let properties: [NSPropertyDescription]
    let propertiesByName: [String: NSPropertyDescription]
    let attributesByName: [String: NSAttributeDescription]
    let relationshipsByName: [String: NSRelationshipDescription]
    let subentitiesByName: [String: NSEntityDescription]

    static func byName(_ properties: [NSPropertyDescription]) -> [String: NSPropertyDescription] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, own in own })
    }

    /// Where a name stands twice, the last property and the first subentity win.
    init(_ entity: NSEntityDescription) {
        properties = entity.properties
        propertiesByName = Self.byName(properties)
        attributesByName = propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
        relationshipsByName = propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
        subentitiesByName = Dictionary(
            entity.subentities.compactMap { child in child.name.map { ($0, child) } },
            uniquingKeysWith: { first, _ in first })
    }
}

/// Facts of an entity that only editors, old stores and search use.
public struct EntityAnnotations: Hashable, Sendable {
    /// Groups of property names of the legacy compound indexes.
    public var compoundIndexes: [[String]] = []
    /// Whether the entity takes part in mirroring (`syncable` in the model file).
    public var isSyncable = true
    /// The expression of the name shown by search, as the model file spells it.
    public var spotlightDisplayName: String?
    /// How Xcode generates the entity's class: `class`, `category`, or nil for by hand.
    public var codeGeneration: String?

    public init() {}
}
