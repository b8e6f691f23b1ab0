internal import Foundation

/// Reads what all kinds of properties have in common, and their relationships and fetch requests.
enum PropertyReader {
    /// Reads the facts that every property may state.
    static func readCommonFacts(
        of element: MarkupElement, into property: NSPropertyDescription
    ) throws {
        property.name = try element.requiredText("name")
        property.isOptional = element.flag("optional")
        property.versionHashModifier = element.text("versionHashModifier")
        property.renamingIdentifier = element.formerName
        property.userInfo = userInfo(of: element)
        property.marks.set(.syncable, to: element.flag("syncable", default: true))
        property.isIndexed = element.flag("indexed")
        property.isIndexedBySpotlight = element.flag("spotlightIndexingEnabled")
        let isExternal = element.flag("storedInTruthFile")
        property.isStoredInExternalRecord = element.flag(
            "storedInExternalRecord", default: isExternal)
    }

    /// Reads a relationship. Its ends stay names until the whole file is read.
    static func relationship(_ element: MarkupElement) throws -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        try readCommonFacts(of: element, into: relationship)
        relationship.isTransient = element.flag("transient")
        let isToMany = element.flag("toMany")
        relationship.maxCount = count(element, "maxCount") ?? (isToMany ? 0 : 1)
        relationship.minCount = count(element, "minCount") ?? 0
        relationship.isOrdered = element.flag("ordered")
        relationship.deleteRule = deleteRule(element)
        relationship.destinationEntityName = element.text("destinationEntity")
        relationship.inverseRelationshipName = element.text("inverseName")
        return relationship
    }

    static func fetchedProperty(_ element: MarkupElement) throws -> NSFetchedPropertyDescription {
        let property = NSFetchedPropertyDescription()
        try readCommonFacts(of: element, into: property)
        property.template = element.children(named: "fetchRequest").first.map {
            fetchRequest(
                $0, named: $0.text("name") ?? FetchRequestTemplate.fetchedPropertyName)
        }
        return property
    }

    /// A stored request, or the one of a fetched property, which needs no name.
    static func fetchRequest(
        _ element: MarkupElement, named name: String
    ) -> FetchRequestTemplate {
        var template = FetchRequestTemplate(
            name: name, entityName: element.text("entity") ?? "",
            predicateText: element.text("predicateString"))
        template.fetchLimit = max(count(element, "fetchLimit") ?? 0, 0)
        template.fetchBatchSize = max(count(element, "fetchBatchSize") ?? 0, 0)
        readFlags(of: &template, element)
        template.resultType = UInt(max(count(element, "resultType") ?? 0, 0))
        return template
    }

    /// Xcode writes some flags as `include…` and `return…`, others as `includes…`; files that other
    /// programs wrote have either form of each.
    private static func readFlags(
        of template: inout FetchRequestTemplate, _ element: MarkupElement
    ) {
        func flag(_ keys: String..., default fallback: Bool = true) -> Bool {
            let key = keys.first { element.text($0) != nil }
            return key.map { element.flag($0, default: fallback) } ?? fallback
        }
        template.includesSubentities = flag("includeSubentities", "includesSubentities")
        template.includesPropertyValues = flag("includePropertyValues", "includesPropertyValues")
        template.includesPendingChanges = flag("includesPendingChanges", "includePendingChanges")
        template.returnsObjectsAsFaults = flag("returnObjectsAsFaults", "returnsObjectsAsFaults")
        template.returnsDistinctResults = flag(
            "returnDistinctResults", "returnsDistinctResults", default: false)
    }

    /// The `userInfo` entries of an element. Of several with one key the last counts.
    static func userInfo(of element: MarkupElement) -> [AnyHashable: Any] {
        guard let list = element.children(named: "userInfo").first else { return [:] }
        var entries: [AnyHashable: Any] = [:]
        for entry in list.children(named: "entry") {
            let key = entry.attributes["key"] ?? ""
            guard entries.updateValue(entry.attributes["value"] ?? "", forKey: key) != nil else {
                continue
            }
            entry.note("key", key, "stands twice in the user info; the last one counts")
        }
        return entries
    }

    private static func deleteRule(_ element: MarkupElement) -> NSDeleteRule {
        guard let name = element.text("deletionRule") else { return .nullifyDeleteRule }
        if let rule = NSDeleteRule(fileName: name) { return rule }
        let known = NSDeleteRule.allCases.map(\.fileName).joined(separator: ", ")
        element.note("deletionRule", name, "is none of \(known); read as Nullify")
        return .nullifyDeleteRule
    }

    /// A count: a whole number from −1 (no limit, in old files) to 2³¹ − 1.
    private static func count(_ element: MarkupElement, _ key: String) -> Int? {
        element.integer(key, in: -1...Int(Int32.max))
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
