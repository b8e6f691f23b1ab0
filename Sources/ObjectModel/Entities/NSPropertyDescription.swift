public import Foundation

/// What an entity says about one of its properties: an attribute, a relationship or a fetched property.
///
/// Descriptions may be changed freely until a coordinator uses their model; from then on they are read-only.
/// Source: Apple, NSPropertyDescription.
open class NSPropertyDescription: NSObject, @unchecked Sendable {
    // @unchecked: descriptions are read-only once a coordinator uses their model.

    /// The entity that declares the property, or the subentity that inherits it.
    public internal(set) unowned(unsafe) var entity: NSEntityDescription = .nowhere
    open var name: String = ""
    open var isOptional = true
    /// A transient property lives in objects only; it has no column and no place in the version hash.
    open var isTransient = false
    open var userInfo: [AnyHashable: Any]?
    /// Text that changes the version hash where nothing else differs.
    open var versionHashModifier: String?
    /// The property's name in the previous model version, for inferred mappings.
    open var renamingIdentifier: String?
    open var isIndexedBySpotlight = false
    open var isStoredInExternalRecord = false
    /// The legacy flag of Xcode's old editor; `NSFetchIndexDescription` replaced it.
    open var isIndexed = false
    open private(set) var validationPredicates: [NSPredicate] = []
    open private(set) var validationWarnings: [Any] = []

    public override init() { super.init() }

    /// Replaces the predicates a value must satisfy, each with the warning shown when it does not.
    open func setValidationPredicates(
        _ predicates: [NSPredicate]?, withValidationWarnings warnings: [String]?
    ) {
        validationPredicates = predicates ?? []
        validationWarnings = warnings ?? []
    }
}
