internal import Foundation

/// Turns archived properties into descriptions. Ends of relationships stay names.
enum ArchivedPropertyReader {
    /// The property an object describes. Throws for classes that are no properties.
    static func property(_ object: ArchivedObject, depth: Int = 0) throws -> NSPropertyDescription {
        let property: NSPropertyDescription =
            switch object.className {
            case "NSAttributeDescription":
                try attribute(object, into: NSAttributeDescription(), depth: depth)
            case "NSDerivedAttributeDescription":
                try attribute(object, into: derived(object), depth: depth)
            case "NSCompositeAttributeDescription": try composite(object, depth: depth)
            case "NSRelationshipDescription": try relationship(object)
            case "NSFetchedPropertyDescription": fetchedProperty(object)
            default:
                throw object.archive.broken(
                    "a property is of the class \(object.className.prefix(80))")
            }
        try readCommonFacts(of: object, into: property)
        return property
    }

    private static func readCommonFacts(
        of object: ArchivedObject, into property: NSPropertyDescription
    ) throws {
        guard let name = object.string("NSPropertyName"), !name.isEmpty else {
            throw object.archive.broken("a property has no name")
        }
        property.name = name
        property.isOptional = object.flag("NSIsOptional")
        property.isTransient = object.flag("NSIsTransient")
        property.versionHashModifier = object.string("NSVersionHashModifier")
        property.renamingIdentifier = object.string("NSRenamingIdentifier")
            .flatMap { $0 == name ? nil : $0 }
        property.userInfo = ArchivedDefault.userInfo(object.object("NSUserInfo")) ?? [:]
        property.isIndexed = object.flag("NSIsIndexed")
        property.isIndexedBySpotlight = object.flag("NSIndexedBySpotlight")
        let saysReadOnly =
            property is NSDerivedAttributeDescription || property is NSFetchedPropertyDescription
        property.marks.set(.readOnly, to: object.flag("NSIsReadOnly") && !saysReadOnly)
        property.marks.set(.syncable, to: !object.flag(OwnKey.isLocal))
        property.isStoredInExternalRecord = object.flag(OwnKey.isStoredInExternalRecord)
    }

    // MARK: Attributes

    private static func attribute(
        _ object: ArchivedObject, into attribute: NSAttributeDescription, depth: Int
    ) throws -> NSAttributeDescription {
        let rawType = object.integer("NSAttributeType")
        let known = UInt(exactly: rawType).flatMap(NSAttributeType.init)
        // A type of a later version: of a transient nothing is stored, so it has no type here.
        guard let type = known ?? (object.flag("NSIsTransient") ? .undefinedAttributeType : nil)
        else {
            throw object.archive.broken("an attribute has the unknown type \(rawType)")
        }
        attribute.attributeType = type
        attribute.attributeValueClassName = object.string("NSAttributeValueClassName")
            .flatMap { $0 == type.valueClassName ? nil : $0 }
        attribute.valueTransformerName = object.string("NSValueTransformerName")
        attribute.defaultValue = ArchivedDefault.value(object["NSDefaultValue"], as: type)
        let flags = object.integer("NSFlagsKey")
        attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
        attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
        attribute.allowsCloudEncryption = object.flag("NSAllowsCloudEncryption")
        attribute.validation = ArchivedValidation(object).validation
        return attribute
    }

    private static func derived(_ object: ArchivedObject) -> NSDerivedAttributeDescription {
        let derived = NSDerivedAttributeDescription()
        let text = object.object("NSDerivationExpression")
            .flatMap { ArchivedPredicateText().text(ofExpression: $0) }
        derived.derivationExpressionText =
            object.string(OwnKey.derivation) ?? text.map(fileSpelling)
        return derived
    }

    /// A collection's function as model files spell it: `count:(pages)` is `pages.@count`, and
    /// `sum:(pages.words)` is `pages.words.@sum`.
    private static func fileSpelling(_ text: String) -> String {
        let functions = ["count", "sum", "min", "max", "average"]
        guard text.hasSuffix(")"), let open = text.range(of: ":("),
            functions.contains(String(text[..<open.lowerBound]))
        else { return text }
        let path = text[open.upperBound...].dropLast()
        let isPath = path.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        guard isPath, !path.isEmpty else { return text }
        let name = text[..<open.lowerBound]
        return "\(path).@\(name == "average" ? "avg" : String(name))"
    }

    private static func composite(
        _ object: ArchivedObject, depth: Int
    ) throws -> NSCompositeAttributeDescription {
        guard depth < ModelBounds.compositesMax else {
            throw object.archive.broken("composites nest deeper than \(ModelBounds.compositesMax)")
        }
        let composite = NSCompositeAttributeDescription()
        _ = try attribute(object, into: composite, depth: depth)
        composite.attributeType = .compositeAttributeType
        let listed = object.list("NSCompositeElements").compactMap { $0?.object }
        let named = (object.object("NSCompositeElements")?.entries ?? []).compactMap(\.value.object)
        composite.elements = try (listed + (listed.isEmpty ? named : [])).map { element in
            guard object.archive.takeStep(),
                let read = try property(element, depth: depth + 1) as? NSAttributeDescription
            else {
                throw object.archive.broken("an element of a composite is no attribute")
            }
            return read
        }
        composite.compositeName = object.string(OwnKey.compositeName)
        return composite
    }

    // MARK: Links

    private static func relationship(
        _ object: ArchivedObject
    ) throws -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.maxCount = min(max(object.integer("NSMaxCount"), -1), Int(Int32.max))
        relationship.minCount = min(max(object.integer("NSMinCount"), -1), Int(Int32.max))
        relationship.isOrdered = object.flag("NSIsOrdered")
        let rule = UInt(exactly: object.integer("NSDeleteRule"))
        relationship.deleteRule = rule.flatMap(NSDeleteRule.init) ?? .nullifyDeleteRule
        return relationship
    }

    private static func fetchedProperty(_ object: ArchivedObject) -> NSFetchedPropertyDescription {
        let property = NSFetchedPropertyDescription()
        if let request = object.object("NSFetchRequest") {
            let name =
                request.string(OwnKey.requestName) ?? FetchRequestTemplate.fetchedPropertyName
            property.template = fetchRequest(
                request, named: name, entityName: object.string("_NSFetchRequestEntityName"))
        }
        return property
    }

    /// A stored request; nil when its predicate has no text, since without it the request would
    /// fetch other objects.
    static func fetchRequest(
        _ object: ArchivedObject, named name: String, entityName: String? = nil
    ) -> FetchRequestTemplate? {
        let entity = object.object("NSEntity")?.string("NSEntityName")
        var template = FetchRequestTemplate(
            name: name,
            entityName: entity ?? entityName ?? object.string("_NSFetchRequestEntityName") ?? "")
        template.predicateText = object.string(OwnKey.predicate)
        if template.predicateText == nil, let predicate = object.object("NSPredicate") {
            guard let text = ArchivedPredicateText().text(ofPredicate: predicate) else {
                return nil
            }
            template.predicateText = text
        }
        template.fetchLimit = max(object.integer("NSFetchLimit"), 0)
        template.fetchBatchSize = max(object.integer("NSBatchSize"), 0)
        template.resultType = UInt(exactly: object.integer("NSResultType")) ?? 0
        template.sortKeys = object.list("NSSortDescriptors").compactMap { $0?.object }.compactMap {
            sort in
            let selector = sort.string("NSSelector").flatMap { $0 == "compare:" ? nil : $0 }
            return sort.string("NSKey").map {
                FetchRequestTemplate.SortTerm(
                    key: $0, isAscending: sort.flag("NSAscending"), selector: selector)
            }
        }
        template.includesSubentities = !object.flag(OwnKey.excludesSubentities)
        template.includesPropertyValues = !object.flag(OwnKey.excludesPropertyValues)
        template.includesPendingChanges = !object.flag(OwnKey.excludesPendingChanges)
        template.returnsObjectsAsFaults = !object.flag(OwnKey.returnsFullObjects)
        template.returnsDistinctResults = object.flag(OwnKey.returnsDistinctResults)
        return template
    }
}

/// Keys of our own in archives, for facts whose place in Apple's archives is not known, or that
/// Apple keeps as predicate objects where a model has only their text. Apple's readers pass over
/// them.
enum OwnKey {
    static let isLocal = "DiptychIsLocal"
    static let isStoredInExternalRecord = "DiptychIsStoredInExternalRecord"
    static let derivation = "DiptychDerivation"
    static let compositeName = "DiptychCompositeName"
    static let requestName = "DiptychRequestName"
    static let predicate = "DiptychPredicate"
    static let validationRules = "DiptychValidationRules"
    static let excludesSubentities = "DiptychExcludesSubentities"
    static let excludesPropertyValues = "DiptychExcludesPropertyValues"
    static let excludesPendingChanges = "DiptychExcludesPendingChanges"
    static let returnsFullObjects = "DiptychReturnsFullObjects"
    static let returnsDistinctResults = "DiptychReturnsDistinctResults"
    static let expression = "DiptychExpression"
    static let spotlightDisplayName = "DiptychSpotlightDisplayName"
}
