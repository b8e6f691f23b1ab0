public import Foundation

/// What an entity says about one of its properties: an attribute, a relationship or a fetched
/// property.
///
/// Descriptions may be changed freely until a coordinator uses their model; from then on they are
/// read-only. Source: Apple, NSPropertyDescription.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked: descriptions are read-only once a coordinator uses their model.

    /// The entity that declares the property.
    public internal(set) unowned(unsafe) var entity: NSEntityDescription = .nowhere
    /// The property's name, unique in its entity.
    open var name: String = ""
    /// Whether an object may be saved without a value.
    open var isOptional = true
    /// A transient property lives in objects only; it has no column and no place in the version
    /// hash.
    open var isTransient = false
    /// The program's own facts about the property; empty unless set.
    open var userInfo: [AnyHashable: Any]? = [:]
    /// Text that changes the version hash where nothing else differs.
    open var versionHashModifier: String?
    /// The property's name in the previous model version, for inferred mappings; its own name where
    /// none was set.
    open var renamingIdentifier: String? {
        get { givenRenamingIdentifier ?? name }
        set { givenRenamingIdentifier = newValue }
    }
    /// The identifier that was set; nil for none.
    package var givenRenamingIdentifier: String?
    /// The predicates and warnings that a program set; nil where the model file's rules hold.
    package var givenValidation: GivenValidation?
    /// Marks of editors and of other stores, that change neither columns nor objects.
    public var marks: PropertyMarks = .syncable

    public required override init() { super.init() }

    /// Properties are equal by what they say, whatever entity they belong to.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        return other === self || DescriptionContent(of: self) == DescriptionContent(of: other)
    }

    open override var hash: Int { name.hashValue }

    /// The property as Apple's framework prints it.
    open override var description: String { DescriptionText.of(self) }

    /// The legacy flag of Xcode's old editor; `NSFetchIndexDescription` replaced it.
    open var isIndexed: Bool {
        get { marks.contains(.indexed) }
        set { marks.set(.indexed, to: newValue) }
    }

    /// Whether search sees the value on Apple's systems.
    open var isIndexedBySpotlight: Bool {
        get { marks.contains(.indexedBySpotlight) }
        set { marks.set(.indexedBySpotlight, to: newValue) }
    }

    /// A mark of old search records; it changes nothing here.
    open var isStoredInExternalRecord: Bool {
        get { marks.contains(.storedInExternalRecord) }
        set { marks.set(.storedInExternalRecord, to: newValue) }
    }

    /// A property with the same facts that belongs to no entity yet.
    /// A relationship's copy points at the same destination and inverse.
    open func copy(with zone: NSZone? = nil) -> Any {
        let twin = Self()
        give(to: twin)
        return twin
    }

    /// Hands this description's facts to its copy. Subclasses of this module add theirs.
    func give(to twin: NSPropertyDescription) {
        twin.name = name
        twin.isOptional = isOptional
        twin.isTransient = isTransient
        twin.userInfo = userInfo
        twin.versionHashModifier = versionHashModifier
        twin.givenRenamingIdentifier = givenRenamingIdentifier
        twin.givenValidation = givenValidation
        twin.marks = marks
    }
}

/// What values must satisfy, as a program set it.
package struct GivenValidation {
    package var predicates: [NSPredicate]
    /// A sentence for each predicate, or the number of an error.
    package var warnings: [Any]

    package init(predicates: [NSPredicate], warnings: [Any]) {
        self.predicates = predicates
        self.warnings = warnings
    }

    /// What is said of a value that breaks the predicate at `place`, as text.
    package func warning(at place: Int) -> String? {
        warnings.indices.contains(place) ? "\(warnings[place])" : nil
    }
}

/// Marks on a property that change neither its column nor its values.
public struct PropertyMarks: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `isIndexed`.
    public static let indexed = PropertyMarks(rawValue: 1)
    /// `isIndexedBySpotlight`.
    public static let indexedBySpotlight = PropertyMarks(rawValue: 2)
    /// `isStoredInExternalRecord`.
    public static let storedInExternalRecord = PropertyMarks(rawValue: 4)
    /// Takes part in mirroring (`syncable` in the model file).
    public static let syncable = PropertyMarks(rawValue: 8)
    /// Cannot be written by the program; compiled models say so of derived attributes.
    public static let readOnly = PropertyMarks(rawValue: 16)

    /// Adds `mark` or removes it.
    public mutating func set(_ mark: PropertyMarks, to isSet: Bool) {
        if isSet { insert(mark) } else { remove(mark) }
    }
}
