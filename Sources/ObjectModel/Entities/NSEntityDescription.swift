public import Foundation

/// A kind of object: its name, its properties, its place in the inheritance tree.
///
/// May be changed until a coordinator uses its model; that freezes the lookup dictionaries, and
/// later changes are not seen by them. Source: Apple, NSEntityDescription.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked: see NSPropertyDescription.
    /// The entity's name, unique in its model.
    open var name: String?
    /// The name of the objects' class, with its module where one is needed; never nil. Setting nil
    /// sets NSManagedObject.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var managedObjectClassName: String! {
        get { className }
        set { className = newValue ?? "NSManagedObject" }
    }
    private var className = "NSManagedObject"
    /// Whether no object is of this entity itself, only of those that inherit from it.
    open var isAbstract = false
    /// The program's own facts about the entity; empty unless set.
    open var userInfo: [AnyHashable: Any]? = [:]
    /// Text that changes the version hash where nothing else differs.
    open var versionHashModifier: String?
    /// The entity's name in the previous model version, for inferred mappings; its own name where
    /// none was set.
    open var renamingIdentifier: String? {
        get { givenRenamingIdentifier ?? name }
        set { givenRenamingIdentifier = newValue }
    }
    /// The identifier that was set; nil for none.
    package var givenRenamingIdentifier: String?
    /// Groups of attributes, or of their names, whose values are unique among the entity's objects.
    open var uniquenessConstraints: [[Any]] = []
    /// The indexes the SQLite store keeps, own ones only.
    open var indexes: [NSFetchIndexDescription] = [] {
        didSet { for index in indexes { index.entity = self } }
    }
    /// Facts that only editors, old stores and search use.
    public var marks = EntityAnnotations()
    var place = EntityLookupCache()

    /// The entities that inherit from this one.
    open var subentities: [NSEntityDescription] = [] {
        didSet {
            for former in oldValue where former.superentity === self {
                former.place.superentity = nil
            }
            for child in subentities {
                // A circle would have no end for whoever goes up; coordinators refuse it by name.
                child.place.isBelowItself = isKindOf(entity: child)
                if !child.place.isBelowItself { child.place.superentity = self }
            }
        }
    }

    /// The properties this entity itself declares.
    public var declaredProperties: [NSPropertyDescription] = [] {
        didSet {
            for former in oldValue where former.entity === self { former.entity = .nowhere }
            for property in declaredProperties { property.entity = self }
        }
    }

    public required override init() {
        super.init()
        place.tie.begin(self)
    }

    deinit {
        place.tie.end()
        for property in declaredProperties where property.entity === self {
            property.entity = .nowhere
        }
    }

    /// Entities are equal by what they say, not by identity; see `NSManagedObjectModel`.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return other === self || DescriptionContent(of: self) == DescriptionContent(of: other)
    }

    open override var hash: Int { name.hashValue }

    /// The entity as Apple's framework prints it.
    open override var description: String { DescriptionText.of(self) }

    /// The entity of a property that belongs to none yet.
    static let nowhere = NSEntityDescription()

    /// The model the entity belongs to; reading a member of it traps when there is none.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    public var managedObjectModel: NSManagedObjectModel! { place.model }

    /// The entity this one inherits from.
    public var superentity: NSEntityDescription? { place.superentity }

    /// Groups of property names of the legacy compound indexes.
    open var compoundIndexes: [[Any]] {
        get { marks.compoundIndexes }
        set { marks.compoundIndexes = newValue.map { $0.compactMap(Self.propertyName(of:)) } }
    }

    /// Whether the entity takes part in mirroring (`syncable` in the model file).
    open var isSyncable: Bool {
        get { marks.isSyncable }
        set { marks.isSyncable = newValue }
    }

    /// The expression of the name shown by search, as the model file spells it.
    open var coreSpotlightDisplayNameExpressionText: String? {
        get { marks.spotlightDisplayName }
        set { marks.spotlightDisplayName = newValue }
    }

    /// All properties, inherited ones first. Setting replaces the declared ones.
    open var properties: [NSPropertyDescription] {
        get { place.lookup?.properties ?? gatheredProperties() }
        set {
            let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
            declaredProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
        }
    }

    /// All properties by name. Cost: O(properties) until the model is frozen, then O(1).
    open var propertiesByName: [String: NSPropertyDescription] {
        place.lookup?.propertiesByName ?? EntityLookup.byName(properties)
    }

    /// All attributes by name, inherited ones included. Cost as `propertiesByName`.
    open var attributesByName: [String: NSAttributeDescription] {
        place.lookup?.attributesByName ?? EntityLookup(self).attributesByName
    }

    /// All relationships by name, inherited ones included. Cost as `propertiesByName`.
    open var relationshipsByName: [String: NSRelationshipDescription] {
        place.lookup?.relationshipsByName ?? EntityLookup(self).relationshipsByName
    }

    /// The entities that inherit directly, by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        place.lookup?.subentitiesByName ?? EntityLookup(self).subentitiesByName
    }

    /// The relationships, inherited ones included, that lead to exactly `entity`.
    open func relationships(forDestination entity: NSEntityDescription)
        -> [NSRelationshipDescription]
    {
        properties.compactMap { $0 as? NSRelationshipDescription }
            .filter { $0.destinationEntity === entity }
    }

    /// Whether this entity is `entity` or inherits from it.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        self === entity || superentity?.isKindOf(entity: entity) == true
    }

    /// The root of the inheritance tree.
    public var rootEntity: NSEntityDescription { superentity?.rootEntity ?? self }

    /// The uniqueness constraints as attribute names.
    public var uniquenessConstraintNames: [[String]] {
        uniquenessConstraints.map { $0.compactMap(Self.propertyName(of:)) }
    }

    /// The inherited properties that are not declared anew here, then the declared ones.
    private func gatheredProperties() -> [NSPropertyDescription] {
        guard let superentity else { return declaredProperties }
        let own = Set(declaredProperties.map(\.name))
        return superentity.properties.filter { !own.contains($0.name) } + declaredProperties
    }

    /// The name meant by a member of a constraint or a compound index: a text or a property.
    private static func propertyName(of member: Any) -> String? {
        (member as? String) ?? (member as? NSPropertyDescription)?.name
    }
}
