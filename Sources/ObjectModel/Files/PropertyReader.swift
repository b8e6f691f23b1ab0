internal import Foundation

/// Reads what all kinds of properties have in common, and their relationships and fetch requests.
enum PropertyReader {
    /// Reads the facts that every property may state.
    static func readCommonFacts(
        of element: MarkupElement, into property: NSPropertyDescription
    ) throws {
        property.name = try element.requiredText("name")
        property.isOptional = try element.flag("optional")
        property.versionHashModifier = element.text("versionHashModifier")
        property.renamingIdentifier = element.formerName
        property.userInfo = try userInfo(of: element)
        property.marks.set(.syncable, to: try element.flag("syncable", default: true))
        property.isIndexed = try element.flag("indexed")
        property.isIndexedBySpotlight = try element.flag("spotlightIndexingEnabled")
        let isExternal = try element.flag("storedInTruthFile")
        property.isStoredInExternalRecord = try element.flag(
            "storedInExternalRecord", default: isExternal)
    }

    /// Reads a relationship. Its ends stay names until the whole file is read.
    static func relationship(_ element: MarkupElement) throws -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        try readCommonFacts(of: element, into: relationship)
        relationship.isTransient = try element.flag("transient")
        let isToMany = try element.flag("toMany")
        relationship.maxCount = try count(element, "maxCount") ?? (isToMany ? 0 : 1)
        relationship.minCount = try count(element, "minCount") ?? 0
        relationship.isOrdered = try element.flag("ordered")
        relationship.deleteRule = try deleteRule(element)
        relationship.destinationEntityName = element.text("destinationEntity")
        relationship.inverseRelationshipName = element.text("inverseName")
        return relationship
    }

    static func fetchedProperty(_ element: MarkupElement) throws -> NSFetchedPropertyDescription {
        let property = NSFetchedPropertyDescription()
        try readCommonFacts(of: element, into: property)
        property.template = try element.children(named: "fetchRequest").first.map(fetchRequest)
        return property
    }

    static func fetchRequest(_ element: MarkupElement) throws -> FetchRequestTemplate {
        var template = FetchRequestTemplate(
            name: try element.requiredText("name"), entityName: element.text("entity") ?? "",
            predicateText: element.text("predicateString"))
        template.fetchLimit = max(try count(element, "fetchLimit") ?? 0, 0)
        template.fetchBatchSize = max(try count(element, "fetchBatchSize") ?? 0, 0)
        template.includesSubentities = try element.flag("includeSubentities", default: true)
        template.includesPropertyValues = try element.flag("includePropertyValues", default: true)
        template.includesPendingChanges = try element.flag("includePendingChanges", default: true)
        template.returnsObjectsAsFaults = try element.flag("returnObjectsAsFaults", default: true)
        template.returnsDistinctResults = try element.flag("returnDistinctResults")
        template.resultType = UInt(max(try count(element, "resultType") ?? 0, 0))
        return template
    }

    /// The `userInfo` entries of an element; nil where it has none.
    static func userInfo(of element: MarkupElement) throws -> [AnyHashable: Any]? {
        guard let list = element.children(named: "userInfo").first else { return nil }
        var entries: [AnyHashable: Any] = [:]
        for entry in list.children(named: "entry") {
            entries[try entry.requiredText("key")] = entry.attributes["value"] ?? ""
        }
        return entries.isEmpty ? nil : entries
    }

    private static func deleteRule(_ element: MarkupElement) throws -> NSDeleteRule {
        guard let name = element.text("deletionRule") else { return .nullifyDeleteRule }
        if let rule = NSDeleteRule(fileName: name) { return rule }
        throw element.badValue(
            "deletionRule", name,
            expected: NSDeleteRule.allCases.map(\.fileName).joined(separator: ", "))
    }

    /// A count: a whole number from −1 (no limit, in old files) to 2³¹ − 1.
    private static func count(_ element: MarkupElement, _ key: String) throws -> Int? {
        guard let number = try element.integer(key) else { return nil }
        if (-1...Int(Int32.max)).contains(number) { return number }
        throw element.badValue(key, String(number), expected: "a count from 0 to \(Int32.max)")
    }
}

extension NSDeleteRule {
    /// The rule's name in a model file.
    var fileName: String {
        switch self {
        case .noActionDeleteRule: "No Action"
        case .nullifyDeleteRule: "Nullify"
        case .cascadeDeleteRule: "Cascade"
        case .denyDeleteRule: "Deny"
        }
    }

    init?(fileName: String) {
        guard let rule = Self.allCases.first(where: { $0.fileName == fileName }) else { return nil }
        self = rule
    }
}
