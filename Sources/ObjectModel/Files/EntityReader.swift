internal import Foundation

/// Reads one entity. What refers to other entities stays a name until all are read.
struct EntityReader {
    let attributes: AttributeReader

    /// An entity with the elements that made it and its relationships, for errors found later.
    struct Found {
        let entity: NSEntityDescription
        let element: MarkupElement
        var relationships: [(description: NSRelationshipDescription, element: MarkupElement)] = []
    }

    func entity(_ element: MarkupElement) throws -> Found {
        let entity = NSEntityDescription()
        entity.name = try element.requiredText("name")
        entity.managedObjectClassName = element.text("representedClassName") ?? "NSManagedObject"
        entity.isAbstract = try element.flag("isAbstract")
        entity.versionHashModifier = element.text("versionHashModifier")
        entity.renamingIdentifier = element.formerName
        entity.userInfo = try PropertyReader.userInfo(of: element)
        entity.marks = try marks(element)
        var found = Found(entity: entity, element: element)
        entity.declaredProperties = try properties(element, into: &found)
        entity.indexes = try element.children(named: "fetchIndex").map(index)
        entity.uniquenessConstraints = try groups(
            element, list: "uniquenessConstraints", group: "uniquenessConstraint",
            member: "constraint")
        return found
    }

    private func marks(_ element: MarkupElement) throws -> EntityAnnotations {
        var marks = EntityAnnotations()
        marks.isSyncable = try element.flag("syncable", default: true)
        marks.spotlightDisplayName = element.text("coreSpotlightDisplayNameExpression")
        marks.codeGeneration = element.text("codeGenerationType")
        marks.compoundIndexes = try groups(
            element, list: "compoundIndexes", group: "compoundIndex", member: "index")
        return marks
    }

    private func properties(
        _ element: MarkupElement, into found: inout Found
    ) throws -> [NSPropertyDescription] {
        var properties: [NSPropertyDescription] = []
        var lines: [String: Int] = [:]
        for child in element.children {
            guard let property = try property(child) else { continue }
            if let first = lines.updateValue(child.line, forKey: property.name) {
                throw child.problem(
                    .duplicateName,
                    "\(element.label) has two properties named “\(property.name)”, the first on"
                        + " line"
                        + " \(first); rename or remove one", fields: ["property": property.name])
            }
            if let relationship = property as? NSRelationshipDescription {
                found.relationships.append((relationship, child))
            }
            properties.append(property)
        }
        return properties
    }

    /// The property an element describes; nil for an element that describes none.
    private func property(_ element: MarkupElement) throws -> NSPropertyDescription? {
        switch element.name {
        case "attribute": try attributes.attribute(element)
        case "relationship": try PropertyReader.relationship(element)
        case "fetchedProperty": try PropertyReader.fetchedProperty(element)
        default: nil
        }
    }

    private func index(_ element: MarkupElement) throws -> NSFetchIndexDescription {
        let index = NSFetchIndexDescription(
            name: try element.requiredText("name"),
            elements: try element.children(named: "fetchIndexElement").map(indexElement))
        index.partialIndexPredicateText =
            element.text("partialIndexPredicate") ?? element.text("predicateString")
        return index
    }

    private func indexElement(_ element: MarkupElement) throws -> NSFetchIndexElementDescription {
        let collation = try collation(element)
        let made: NSFetchIndexElementDescription
        if let expression = element.text("expression") {
            let type = element.text("expressionType").flatMap { NSAttributeType(fileName: $0) }
            made = NSFetchIndexElementDescription(
                expressionText: expression, resultType: type ?? .undefinedAttributeType,
                collationType: collation)
        } else {
            made = NSFetchIndexElementDescription(
                propertyName: try element.requiredText("property"), collationType: collation)
        }
        switch element.text("order")?.lowercased() {
        case nil, "ascending": made.isAscending = true
        case "descending": made.isAscending = false
        case .some(let order):
            throw element.badValue("order", order, expected: "ascending or descending")
        }
        return made
    }

    private func collation(_ element: MarkupElement) throws -> NSFetchIndexElementType {
        switch element.text("type")?.lowercased() {
        case nil, "binary": return .binary
        case "rtree": return .rTree
        case .some(let type): throw element.badValue("type", type, expected: "Binary or RTree")
        }
    }

    /// Reads a list of groups of names, such as uniqueness constraints.
    private func groups(
        _ element: MarkupElement, list: String, group: String, member: String
    ) throws -> [[String]] {
        try element.children(named: list).flatMap { $0.children(named: group) }.map { group in
            try group.children(named: member).map { try $0.requiredText("value") }
        }
    }
}
