internal import Foundation

/// Turns one archived entity into a description, with what refers to other entities set apart.
struct ArchivedEntityReader {
    let object: ArchivedObject
    let entity = NSEntityDescription()
    /// The archived form of each declared property, by name.
    private(set) var sources: [String: ArchivedObject] = [:]

    init(_ object: ArchivedObject) throws {
        self.object = object
        guard object.className == "NSEntityDescription" else {
            throw object.archive.broken("an entity is of the class \(object.className.prefix(80))")
        }
        guard let name = object.string("NSEntityName"), !name.isEmpty else {
            throw object.archive.broken("an entity has no name")
        }
        entity.name = name
        entity.managedObjectClassName = object.string("NSClassNameForEntity") ?? "NSManagedObject"
        entity.isAbstract = object.flag("NSIsAbstract")
        entity.versionHashModifier = object.string("NSVersionHashModifier")
        entity.renamingIdentifier = object.string("NSRenamingIdentifier").flatMap {
            $0 == name ? nil : $0
        }
        entity.userInfo = ArchivedDefault.userInfo(object.object("NSUserInfo")) ?? [:]
        entity.uniquenessConstraints = names("NSUniqueTuples")
        entity.marks.compoundIndexes = names("NSCompoundIndexes")
        entity.isSyncable = !object.flag(OwnKey.isLocal)
        entity.coreSpotlightDisplayNameExpressionText = object.string(OwnKey.spotlightDisplayName)
        for (_, value) in object.object("NSProperties")?.entries ?? [] {
            guard let property = value.object, property.className != "_NSPropertyDescriptionProxy"
            else {
                continue
            }
            sources[property.string("NSPropertyName") ?? ""] = property
        }
        entity.indexes = object.list("NSFetchIndexDescriptions").compactMap { $0?.object }
            .compactMap(index)
    }

    /// Drops the properties that merely repeat an ancestor's, as model caches do, and makes
    /// descriptions of the others.
    mutating func readProperties(inherited: [String: ArchivedObject]) throws {
        sources = sources.filter { name, source in
            inherited[name].map { Self.shape($0) != Self.shape(source) } ?? true
        }
        entity.declaredProperties = try sources.sorted { VersionHashing.precedes($0.key, $1.key) }
            .map { try ArchivedPropertyReader.property($0.value) }
        // Groups that repeat the indexes say nothing more.
        if !entity.indexes.isEmpty, entity.marks.compoundIndexes == entity.indexedGroups {
            entity.marks.compoundIndexes = []
        }
    }

    /// What makes a property that of an ancestor or one of its own.
    private static func shape(_ property: ArchivedObject) -> [String] {
        let numbers = [
            "NSAttributeType", "NSFlagsKey", "NSMaxCount", "NSMinCount", "NSIsOptional",
            "NSIsTransient",
            "NSIsOrdered",
        ]
        let texts = [
            "NSVersionHashModifier", "_NSDestinationEntityName", "_NSInverseRelationshipName",
        ]
        return [property.className] + numbers.map { String(property.integer($0)) }
            + texts.map { property.string($0) ?? "" }
    }

    /// Groups of property names; a member may be a name or a property.
    private func names(_ key: String) -> [[String]] {
        object.list(key).compactMap { $0?.object?.members }.map { group in
            group.compactMap { $0?.string ?? $0?.object?.string("NSPropertyName") }
        }
    }

    // MARK: Indexes

    /// An index of this entity; nil for an inherited one, and for one whose predicate or expression
    /// has no text.
    private func index(_ archived: ArchivedObject) -> NSFetchIndexDescription? {
        if let owner = archived.object("NSEntity"), owner.reference != object.reference {
            return nil
        }
        let members = archived.list("NSIndexElements").compactMap { $0?.object }
        let elements = members.compactMap(element)
        guard elements.count == members.count else { return nil }
        let index = NSFetchIndexDescription(
            name: archived.string("NSIndexName") ?? "", elements: elements)
        index.partialIndexPredicateText = archived.string(OwnKey.predicate)
        if index.partialIndexPredicateText == nil,
            let predicate = archived.object("NSPartialIndexPredicate")
        {
            guard let text = ArchivedPredicateText().text(ofPredicate: predicate) else {
                return nil
            }
            index.partialIndexPredicateText = text
        }
        return index
    }

    private func element(_ archived: ArchivedObject) -> NSFetchIndexElementDescription? {
        let collation = NSFetchIndexElementType(
            rawValue: UInt(exactly: archived.integer("NSFetchIndexElementType")) ?? 0)
        guard let collation else { return nil }
        let element: NSFetchIndexElementDescription
        if let expression = archived.object("NSIndexedProperty"),
            expression.className == "NSExpressionDescription"
        {
            let archivedText = expression.object("NSExpression")
                .flatMap { ArchivedPredicateText().text(ofExpression: $0) }
            guard let text = expression.string(OwnKey.expression) ?? archivedText else {
                return nil
            }
            let type = UInt(exactly: expression.integer("NSExpressionType"))
            element = NSFetchIndexElementDescription(
                expressionText: text,
                resultType: type.flatMap(NSAttributeType.init) ?? .undefinedAttributeType,
                collationType: collation)
            element.expressionName = archived.string("NSPropertyName")
        } else {
            guard let name = archived.string("NSPropertyName") else { return nil }
            element = NSFetchIndexElementDescription(propertyName: name, collationType: collation)
        }
        element.isAscending = archived.flag("NSAscending")
        return element
    }
}
