internal import Foundation

/// Turns properties into the elements that read back as them.
enum PropertyWriter {
    static func node(_ property: NSPropertyDescription) throws -> MarkupNode {
        switch property {
        case let attribute as NSAttributeDescription: try node(attribute)
        case let relationship as NSRelationshipDescription: try node(relationship)
        case let fetched as NSFetchedPropertyDescription: try node(fetched)
        default:
            throw ModelFileError(
                .unsupportedFormat,
                "Property “\(property.name)” is neither attribute, relationship nor fetched"
                    + " property; a"
                    + " model file cannot hold it.", fields: ["property": property.name])
        }
    }

    // MARK: Kinds

    private static func node(_ attribute: NSAttributeDescription) throws -> MarkupNode {
        var node = try head("attribute", attribute)
        if attribute.attributeType != .undefinedAttributeType {
            node.set("attributeType", attribute.attributeType.fileName)
        }
        writeValidation(of: attribute, into: &node)
        if let fact = try DefaultValueWriter.fact(of: attribute) { node.set(fact.key, fact.text) }
        node.set("usesScalarValueType", attribute.usesScalarValueType.map { $0 ? "YES" : "NO" })
        node.set("valueTransformerName", attribute.valueTransformerName)
        node.set("customClassName", attribute.givenValueClassName)
        node.flag("allowsExternalBinaryDataStorage", attribute.allowsExternalBinaryDataStorage)
        node.flag("preserveAfterDeletion", attribute.preservesValueInHistoryOnDeletion)
        node.flag("allowsCloudEncryption", attribute.allowsCloudEncryption)
        if let derived = attribute as? NSDerivedAttributeDescription {
            node.flag("derived", true)
            node.set("derivationExpression", derived.derivationExpressionText)
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            node.set("composite", CompositeWriter.name(of: composite))
        }
        return try close(node, attribute)
    }

    private static func node(_ relationship: NSRelationshipDescription) throws -> MarkupNode {
        var node = try head("relationship", relationship)
        node.flag("toMany", relationship.isToMany)
        node.count("minCount", relationship.givenCounts.min)
        node.count("maxCount", relationship.givenCounts.max)
        node.flag("ordered", relationship.isOrdered)
        node.set("deletionRule", relationship.deleteRule.fileName)
        node.set("destinationEntity", relationship.destinationEntityName)
        if let name = relationship.inverseRelationshipName {
            node.set("inverseName", name)
            let inverse = relationship.inverseRelationship
            node.set("inverseEntity", inverse?.entity.name ?? relationship.destinationEntityName)
        }
        return try close(node, relationship)
    }

    private static func node(_ fetched: NSFetchedPropertyDescription) throws -> MarkupNode {
        var node = try head("fetchedProperty", fetched)
        if let template = fetched.template { node.children.append(fetchRequest(template)) }
        return try close(node, fetched)
    }

    static func fetchRequest(_ template: FetchRequestTemplate) -> MarkupNode {
        var node = MarkupNode("fetchRequest")
        node.set("name", template.name)
        node.set("entity", template.entityName)
        node.set("predicateString", template.predicateText)
        node.count("fetchLimit", template.fetchLimit)
        node.count("fetchBatchSize", template.fetchBatchSize)
        node.count("resultType", Int(template.resultType))
        node.set("includeSubentities", template.includesSubentities ? nil : "NO")
        node.set("includePropertyValues", template.includesPropertyValues ? nil : "NO")
        // Xcode's spelling, unlike those of its neighbours.
        node.set("includesPendingChanges", template.includesPendingChanges ? nil : "NO")
        node.set("returnObjectsAsFaults", template.returnsObjectsAsFaults ? nil : "NO")
        node.flag("returnDistinctResults", template.returnsDistinctResults)
        return node
    }

    // MARK: Parts

    private static func head(_ name: String, _ property: NSPropertyDescription) throws -> MarkupNode
    {
        guard !property.name.isEmpty else {
            throw ModelFileError(
                .missingName,
                "Entity “\(property.entity.name ?? "")” has a property without a name; name it.",
                fields: ["entity": property.entity.name ?? ""])
        }
        var node = MarkupNode(name)
        node.set("name", property.name)
        node.flag("optional", property.isOptional)
        node.flag("transient", property.isTransient && !(property is NSFetchedPropertyDescription))
        return node
    }

    private static func close(
        _ node: MarkupNode, _ property: NSPropertyDescription
    ) throws -> MarkupNode {
        var node = node
        node.flag("indexed", property.isIndexed)
        node.flag("spotlightIndexingEnabled", property.isIndexedBySpotlight)
        node.flag("storedInTruthFile", property.isStoredInExternalRecord)
        node.set("versionHashModifier", property.versionHashModifier)
        node.set("elementID", property.givenRenamingIdentifier)
        node.set("syncable", property.marks.contains(.syncable) ? "YES" : "NO")
        if let userInfo = property.userInfo, !userInfo.isEmpty {
            node.children.append(try self.userInfo(userInfo, of: property.name))
        }
        return node
    }

    private static func writeValidation(
        of attribute: NSAttributeDescription, into node: inout MarkupNode
    ) {
        let isDate = attribute.attributeType == .dateAttributeType
        let bounds = attribute.validation.allBounds
        node.set(isDate ? "minDateTimeInterval" : "minValueString", bounds.minimum)
        node.set(isDate ? "maxDateTimeInterval" : "maxValueString", bounds.maximum)
        node.set("regularExpressionString", attribute.validation.regularExpression)
    }

    /// The entries in order of their keys. Model files hold texts only.
    static func userInfo(_ entries: [AnyHashable: Any], of owner: String) throws -> MarkupNode {
        var node = MarkupNode("userInfo")
        let texts = entries.compactMap { key, value in
            (key as? String).flatMap { key in (value as? String).map { (key: key, value: $0) } }
        }
        guard texts.count == entries.count else {
            throw ModelFileError(
                .badValue,
                "The userInfo of “\(owner)” holds more than texts; a model file cannot hold the"
                    + " rest.",
                fields: ["property": owner])
        }
        node.children = texts.sorted { $0.key < $1.key }.map { entry in
            var element = MarkupNode("entry")
            element.set("key", entry.key)
            element.set("value", entry.value)
            return element
        }
        return node
    }
}
