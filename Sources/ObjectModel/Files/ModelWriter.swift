internal import Foundation

/// Turns a model into the XML of an `.xcdatamodel`'s `contents`, from which it reads back equal.
struct ModelWriter {
    let model: NSManagedObjectModel

    /// The text of the file. The same model always gives the same text.
    func text() throws -> String {
        let root = try self.root()
        if let value = root.unwritableValue {
            throw ModelFileError(
                .badValue,
                "A text of the model holds a control character, which XML cannot; remove it.",
                fields: ["value": value])
        }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + root.text()
    }

    private func root() throws -> MarkupNode {
        var root = head()
        root.children = try model.entities.map(entity)
        root.children += try composites()
        for name in model.configurations {
            root.children.append(configuration(name, model.configurationMembers[name] ?? []))
        }
        let requests = model.fetchRequestTemplates.sorted { $0.key < $1.key }
        root.children += requests.map { PropertyWriter.fetchRequest($0.value) }
        return root
    }

    private func head() -> MarkupNode {
        let facts = model.documentFacts.isEmpty ? Self.usualFacts : model.documentFacts
        var node = MarkupNode("model")
        for key in Self.factOrder where facts[key] != nil { node.set(key, facts[key]) }
        for key in facts.keys.sorted() where !Self.factOrder.contains(key) {
            node.set(key, facts[key])
        }
        let identifiers = model.versionIdentifiers.map { "\($0.base)" }.sorted()
        let identifier = identifiers.first { !$0.isEmpty } ?? ""
        node.set("userDefinedModelVersionIdentifier", identifier)
        return node
    }

    private func entity(_ entity: NSEntityDescription) throws -> MarkupNode {
        guard let name = entity.name, !name.isEmpty else {
            throw ModelFileError(
                .missingName, "The model has an entity without a name; name it before writing.")
        }
        var node = MarkupNode("entity")
        node.set("name", name)
        let className: String = entity.managedObjectClassName
        node.set("representedClassName", className == "NSManagedObject" ? nil : className)
        node.flag("isAbstract", entity.isAbstract)
        node.set("parentEntity", entity.superentity?.name)
        node.set("versionHashModifier", entity.versionHashModifier)
        node.set("elementID", entity.givenRenamingIdentifier)
        node.set(
            "coreSpotlightDisplayNameExpression", entity.coreSpotlightDisplayNameExpressionText)
        node.set("codeGenerationType", entity.marks.codeGeneration)
        node.set("syncable", entity.isSyncable ? "YES" : "NO")
        node.children = try entity.declaredProperties.map(PropertyWriter.node)
        node.children += entity.indexes.map(index)
        node.children += groups(
            entity.marks.compoundIndexes, list: "compoundIndexes", group: "compoundIndex",
            member: "index")
        node.children += groups(
            entity.uniquenessConstraintNames, list: "uniquenessConstraints",
            group: "uniquenessConstraint", member: "constraint")
        if let userInfo = entity.userInfo, !userInfo.isEmpty {
            node.children.append(try PropertyWriter.userInfo(userInfo, of: name))
        }
        return node
    }

    private func index(_ index: NSFetchIndexDescription) -> MarkupNode {
        var node = MarkupNode("fetchIndex")
        node.set("name", index.name)
        node.set("partialIndexPredicate", index.partialIndexPredicateText)
        node.children = index.elements.map { element in
            var node = MarkupNode("fetchIndexElement")
            node.set("property", element.propertyName)
            if let expression = element.expressionText {
                node.set("expression", expression)
                node.set("expressionType", element.expressionResultType.fileName)
            }
            node.set("type", element.collationType == .rTree ? "RTree" : "Binary")
            node.set("order", element.isAscending ? "ascending" : "descending")
            return node
        }
        return node
    }

    private func groups(
        _ groups: [[String]], list: String, group: String, member: String
    ) -> [MarkupNode] {
        guard !groups.isEmpty else { return [] }
        var node = MarkupNode(list)
        node.children = groups.map { names in
            var inner = MarkupNode(group)
            inner.children = names.map { name in
                var leaf = MarkupNode(member)
                leaf.set("value", name)
                return leaf
            }
            return inner
        }
        return [node]
    }

    private func composites() throws -> [MarkupNode] {
        var writer = CompositeWriter()
        for property in model.entities.flatMap(\.declaredProperties) {
            if let composite = property as? NSCompositeAttributeDescription {
                try writer.add(composite)
            }
        }
        return writer.nodes
    }

    private func configuration(_ name: String, _ members: [String]) -> MarkupNode {
        var node = MarkupNode("configuration")
        node.set("name", name)
        node.children = members.map { member in
            var element = MarkupNode("memberEntity")
            element.set("name", member)
            return element
        }
        return node
    }

    /// What Xcode expects at the head of a file, for models that come from none.
    private static let usualFacts = [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0",
        "minimumToolsVersion": "Automatic", "sourceLanguage": "Swift",
    ]

    private static let factOrder = [
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData",
    ]
}
