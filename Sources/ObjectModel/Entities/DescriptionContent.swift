internal import Foundation

/// What an entity or a property says, for comparing by content: the version hash, which covers all
/// that decides what stores look like, and what it leaves out.
struct DescriptionContent: Equatable {
    private let kind: ObjectIdentifier
    private let hash: Data
    private let names: [String?]
    private let flags: [Bool]
    private let userInfo: NSDictionary
    private let defaultValue: AnyHashable?
    private let validation: AttributeValidation?
    private let template: FetchRequestTemplate?
    private let parts: [String: DescriptionContent]

    init(of property: NSPropertyDescription) {
        let attribute = property as? NSAttributeDescription
        let relationship = property as? NSRelationshipDescription
        kind = ObjectIdentifier(type(of: property))
        hash = property.versionHash
        names = [
            property.name, property.givenRenamingIdentifier, attribute?.valueTransformerName,
            attribute?.attributeValueClassName, relationship?.destinationEntity?.name,
            relationship?.inverseRelationship?.name,
        ]
        flags = [
            property.isOptional, property.isTransient,
            attribute?.allowsExternalBinaryDataStorage ?? false,
            attribute?.preservesValueInHistoryOnDeletion ?? false,
            attribute?.allowsCloudEncryption ?? false, relationship?.deleteRule == .denyDeleteRule,
            relationship?.deleteRule == .cascadeDeleteRule,
            relationship?.deleteRule == .noActionDeleteRule,
        ]
        userInfo = NSDictionary(dictionary: property.userInfo ?? [:])
        defaultValue = attribute?.defaultValue as? AnyHashable
        validation = attribute?.validation
        template = (property as? NSFetchedPropertyDescription)?.template
        parts = [:]
    }

    init(of entity: NSEntityDescription) {
        kind = ObjectIdentifier(type(of: entity))
        hash = entity.versionHash
        names = [
            entity.name, entity.managedObjectClassName, entity.givenRenamingIdentifier,
            entity.superentity?.name,
        ]
        flags = [entity.isAbstract]
        userInfo = NSDictionary(dictionary: entity.userInfo ?? [:])
        defaultValue = entity.uniquenessConstraintNames
        validation = nil
        template = nil
        let declared = entity.declaredProperties.map { ($0.name, DescriptionContent(of: $0)) }
        parts = Dictionary(declared, uniquingKeysWith: { first, _ in first })
    }
}
