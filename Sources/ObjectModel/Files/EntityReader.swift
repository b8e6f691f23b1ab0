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
        entity.isAbstract = element.flag("isAbstract")
        entity.versionHashModifier = element.text("versionHashModifier")
        entity.renamingIdentifier = element.formerName
        entity.userInfo = PropertyReader.userInfo(of: element)
        entity.marks = marks(element)
        var found = Found(entity: entity, element: element)
        entity.declaredProperties = try properties(element, into: &found)
        entity.indexes = element.children(named: "fetchIndex").compactMap(index)
        entity.uniquenessConstraints = groups(
            element, list: "uniquenessConstraints", group: "uniquenessConstraint",
            member: "constraint")
        return found
    }

    private func marks(_ element: MarkupElement) -> EntityAnnotations {
        var marks = EntityAnnotations()
        marks.isSyncable = element.flag("syncable", default: true)
        marks.spotlightDisplayName = element.text("coreSpotlightDisplayNameExpression")
        marks.codeGeneration = element.text("codeGenerationType")
        marks.compoundIndexes = groups(
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

    /// A fetch index. An index holds no data, so one that cannot be understood is passed over.
    private func index(_ element: MarkupElement) -> NSFetchIndexDescription? {
        let elements = element.children(named: "fetchIndexElement")
        let read = elements.compactMap(indexElement)
        guard let name = element.text("name"), read.count == elements.count else {
            element.note("a fetch index lacks its name or what it is over; passed over")
            return nil
        }
        let index = NSFetchIndexDescription(name: name, elements: read)
        index.partialIndexPredicateText =
            element.text("partialIndexPredicate") ?? element.text("predicateString")
        return index
    }

    private func indexElement(_ element: MarkupElement) -> NSFetchIndexElementDescription? {
        let collation = collation(element)
        let made: NSFetchIndexElementDescription
        if let expression = element.text("expression") {
            let type = element.text("expressionType").flatMap { NSAttributeType(fileName: $0) }
            made = NSFetchIndexElementDescription(
                expressionText: expression, resultType: type ?? .undefinedAttributeType,
                collationType: collation)
        } else {
            guard let property = element.text("property") else { return nil }
            made = NSFetchIndexElementDescription(
                propertyName: property, collationType: collation)
        }
        switch element.text("order")?.lowercased() {
        case nil, "ascending": made.isAscending = true
        case "descending": made.isAscending = false
        case .some(let order):
            element.note("order", order, "is not known; read as ascending")
            made.isAscending = true
        }
        return made
    }

    private func collation(_ element: MarkupElement) -> NSFetchIndexElementType {
        switch element.text("type")?.lowercased() {
        case nil, "binary": return .binary
        case "rtree": return .rTree
        case .some(let type):
            element.note("type", type, "is no kind of index that is known; read as Binary")
            return .binary
        }
    }

    /// Reads a list of groups of names, such as uniqueness constraints.
    private func groups(
        _ element: MarkupElement, list: String, group: String, member: String
    ) -> [[String]] {
        element.children(named: list).flatMap { $0.children(named: group) }.map { group in
            group.children(named: member).compactMap { member in
                if member.text("value") == nil { member.note("an empty name; passed over") }
                return member.text("value")
            }
        }.filter { !$0.isEmpty }
    }
}
