public import Foundation

/// A kind of object: its name, its properties, its place in the inheritance tree.
///
/// May be changed until a coordinator uses its model. Source: Apple, NSEntityDescription.
open class NSEntityDescription: NSObject, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    open var name: String?
    open var managedObjectClassName: String = "NSManagedObject"
    open var isAbstract = false
    open var userInfo: [AnyHashable: Any]?
    open var versionHashModifier: String?
    open var renamingIdentifier: String?
    /// Groups of attribute names whose values are unique among the entity's objects.
    open var uniquenessConstraints: [[Any]] = []
    open var indexes: [NSFetchIndexDescription] = []
    /// Groups of property names of the legacy compound indexes.
    open var compoundIndexes: [[Any]] = []
    /// Whether the entity takes part in mirroring (`syncable` in the model file).
    open var isSyncable = true
    open var coreSpotlightDisplayNameExpressionText: String?
    public internal(set) weak var managedObjectModel: NSManagedObjectModel?
    public internal(set) weak var superentity: NSEntityDescription?

    /// The entities that inherit from this one.
    open var subentities: [NSEntityDescription] = [] {
        didSet {
            for former in oldValue where former.superentity === self { former.superentity = nil }
            for child in subentities { child.superentity = self }
        }
    }

    /// The properties this entity itself declares.
    public var declaredProperties: [NSPropertyDescription] = [] {
        didSet { for property in declaredProperties { property.entity = self } }
    }

    /// All properties, inherited ones included. Setting replaces the declared ones.
    open var properties: [NSPropertyDescription] {
        get { (superentity?.properties ?? []) + declaredProperties }
        set {
            let inherited = Set((superentity?.properties ?? []).map(\.name))
            declaredProperties = newValue.filter { !inherited.contains($0.name) }
        }
    }

    public override init() { super.init() }

    /// The entity of a property that belongs to none yet.
    static let nowhere = NSEntityDescription()

    open var propertiesByName: [String: NSPropertyDescription] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, own in own })
    }

    open var attributesByName: [String: NSAttributeDescription] {
        propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    }

    open var relationshipsByName: [String: NSRelationshipDescription] {
        propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    }

    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(
            subentities.compactMap { child in child.name.map { ($0, child) } },
            uniquingKeysWith: { first, _ in first })
    }

    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }
            .filter { $0.destinationEntity === entity }
    }

    /// Whether this entity is `entity` or inherits from it.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        self === entity || superentity?.isKindOf(entity: entity) == true
    }

    /// The root of the inheritance tree.
    public var rootEntity: NSEntityDescription { superentity?.rootEntity ?? self }
}
