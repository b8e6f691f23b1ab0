internal import Foundation
internal import ObjectModel

/// What a model says, for people and for programs.
struct ModelFacts {
    let model: NSManagedObjectModel

    private var entities: [NSEntityDescription] {
        model.entities.sorted { $0.matchName < $1.matchName }
    }

    // MARK: For programs

    var json: JSON {
        [
            "entities": .array(entities.map(json)),
            "configurations": .object(
                model.configurations.map { name in
                    let members = model.entities(forConfigurationName: name) ?? []
                    return (name, .array(members.map { JSON($0.name) }))
                }),
            "fetchRequests": .array(
                model.fetchRequestTemplates.keys.sorted().map(JSON.string)),
            "versionIdentifiers": .array(
                model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
                    .map(JSON.string)),
            "usedWithCloudKit": .bool(model.isUsedWithCloudKit),
            "notRead": .array(model.unreadParts.map(JSON.string)),
        ]
    }

    private func json(_ entity: NSEntityDescription) -> JSON {
        let own = entity.declaredProperties.sorted { $0.name < $1.name }
        return [
            "name": JSON(entity.name), "super": JSON(entity.superentity?.name),
            "abstract": .bool(entity.isAbstract), "class": .string(entity.managedObjectClassName),
            "renamingIdentifier": JSON(entity.givenRenamingIdentifier),
            "attributes": .array(own.compactMap { $0 as? NSAttributeDescription }.map(json)),
            "relationships": .array(own.compactMap { $0 as? NSRelationshipDescription }.map(json)),
            "fetched": .array(
                own.filter { $0 is NSFetchedPropertyDescription }.map { .string($0.name) }),
            "unique": .array(
                entity.uniquenessConstraintNames.map { .array($0.map(JSON.string)) }),
            "indexes": .array(entity.indexes.map { .string($0.name) }),
            "versionHash": .string(Self.hex(entity.versionHash)),
        ]
    }

    private func json(_ attribute: NSAttributeDescription) -> JSON {
        let derived = attribute as? NSDerivedAttributeDescription
        return [
            "name": .string(attribute.name), "type": JSON(attribute.attributeType.fileName),
            "optional": .bool(attribute.isOptional), "transient": .bool(attribute.isTransient),
            "default": JSON(attribute.defaultValue.map(Self.text)),
            "derivation": JSON(derived?.derivationExpressionText),
            "external": .bool(attribute.allowsExternalBinaryDataStorage),
            "renamingIdentifier": JSON(attribute.givenRenamingIdentifier),
        ]
    }

    private func json(_ relationship: NSRelationshipDescription) -> JSON {
        [
            "name": .string(relationship.name),
            "destination": JSON(relationship.destinationEntity?.name),
            "inverse": JSON(relationship.inverseRelationship?.name),
            "toMany": .bool(relationship.isToMany), "ordered": .bool(relationship.isOrdered),
            "optional": .bool(relationship.isOptional),
            "deleteRule": .string(Self.word(relationship.deleteRule)),
            "renamingIdentifier": JSON(relationship.givenRenamingIdentifier),
        ]
    }

    // MARK: For people

    var text: String {
        var parts = entities.map(text)
        let requests = model.fetchRequestTemplates.sorted { $0.key < $1.key }
        if !requests.isEmpty {
            let lines = requests.map { "  \($0.key): \(Self.text(of: $0.value))" }
            parts.append((["Stored requests"] + lines).joined(separator: "\n"))
        }
        if !model.configurations.isEmpty {
            let lines = model.configurations.map { name in
                "  \(name): \((model.configurationMembers[name] ?? []).joined(separator: ", "))"
            }
            parts.append((["Configurations"] + lines).joined(separator: "\n"))
        }
        if !model.unreadParts.isEmpty {
            parts.append(
                (["Not read"] + model.unreadParts.map { "  \($0)" }).joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n")
    }

    /// What a stored request asks for.
    private static func text(of template: FetchRequestTemplate) -> String {
        var text = template.entityName.isEmpty ? "?" : template.entityName
        if let predicate = template.predicateText { text += " where \(predicate)" }
        if !template.sortKeys.isEmpty {
            let keys = template.sortKeys.map { $0.key + ($0.isAscending ? "" : " descending") }
            text += " by \(keys.joined(separator: ", "))"
        }
        if template.fetchLimit > 0 { text += ", at most \(template.fetchLimit)" }
        return text
    }

    private func text(_ entity: NSEntityDescription) -> String {
        var head = entity.matchName
        if let parent = entity.superentity?.name { head += " : \(parent)" }
        if entity.isAbstract { head += "  (abstract)" }
        let className: String = entity.managedObjectClassName
        if className != "NSManagedObject" {
            head += "  class \(className)"
        }
        var table = TextTable(indent: 2)
        for property in entity.declaredProperties.sorted(by: { $0.name < $1.name }) {
            let (kind, facts) = facts(of: property)
            table.add(property.name, kind, facts.joined(separator: ", "))
        }
        var lines = [head]
        if !table.isEmpty { lines.append(table.text) }
        for constraint in entity.uniquenessConstraintNames {
            lines.append("  unique: \(constraint.joined(separator: ", "))")
        }
        for index in entity.indexes { lines.append("  index: \(index.summary)") }
        return lines.joined(separator: "\n")
    }

    private func facts(of property: NSPropertyDescription) -> (kind: String, [String]) {
        var facts = property.isOptional ? [] : ["required"]
        if property.isTransient { facts.append("transient") }
        if let former = property.givenRenamingIdentifier { facts.append("formerly \(former)") }
        switch property {
        case let attribute as NSAttributeDescription:
            if let value = attribute.defaultValue { facts.append("default \(Self.text(value))") }
            if let derived = attribute as? NSDerivedAttributeDescription {
                facts.append("derived from \(derived.derivationExpressionText ?? "?")")
            }
            if attribute.allowsExternalBinaryDataStorage { facts.append("external file") }
            facts += Self.rules(of: attribute)
            return (attribute.attributeType.fileName ?? "?", facts)
        case let link as NSRelationshipDescription:
            facts.insert(link.isToMany ? (link.isOrdered ? "ordered" : "to-many") : "to-one", at: 0)
            facts.append("inverse \(link.inverseRelationship?.name ?? "none")")
            facts.append("on delete \(Self.word(link.deleteRule))")
            return ("→ \(link.destinationEntity?.name ?? "?")", facts)
        case let fetched as NSFetchedPropertyDescription:
            let request = fetched.template.map { Self.text(of: $0) } ?? "no request"
            return ("fetched", [request])
        default: return ("fetched", facts)
        }
    }

    /// What the attribute's values must satisfy.
    private static func rules(of attribute: NSAttributeDescription) -> [String] {
        let isText = attribute.attributeType == .stringAttributeType
        let isDate = attribute.attributeType == .dateAttributeType
        func bound(_ text: String) -> String {
            guard isDate, let seconds = Double(text) else { return text }
            return Timestamp.text(Date(timeIntervalSinceReferenceDate: seconds))
        }
        let unit = isText ? " characters" : ""
        let validation = attribute.validation
        return [
            validation.minimum.map { "at least \(bound($0))\(unit)" },
            validation.maximum.map { "at most \(bound($0))\(unit)" },
            validation.regularExpression.map { "matches \($0)" },
        ].compactMap { $0 } + validation.rules.map { "must satisfy \($0.predicate)" }
    }

    private static func word(_ rule: NSDeleteRule) -> String {
        switch rule {
        case .noActionDeleteRule: "noAction"
        case .nullifyDeleteRule: "nullify"
        case .cascadeDeleteRule: "cascade"
        case .denyDeleteRule: "deny"
        }
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let date as Date: Timestamp.text(date)
        case let data as Data: data.base64EncodedString()
        default: "\(value)"
        }
    }

    static func hex(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension NSFetchIndexDescription {
    /// The index's name, what it is over and which objects it holds.
    var summary: String {
        let parts = elements.map { element in
            (element.propertyName ?? element.expressionText ?? "?")
                + (element.isAscending ? "" : " descending")
                + (element.collationType == .rTree ? " (R-tree)" : "")
        }
        let condition = partialIndexPredicateText.flatMap { $0.isEmpty ? nil : " where \($0)" }
        return "\(name) over \(parts.joined(separator: ", "))\(condition ?? "")"
    }
}
