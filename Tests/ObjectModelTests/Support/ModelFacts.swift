import Foundation

@testable import ObjectModel

/// Everything a model says, line by line, so that two models can be compared and differences read.
enum ModelFacts {
    /// The lines that only one of the models has.
    static func differences(_ one: NSManagedObjectModel, _ other: NSManagedObjectModel) -> [String]
    {
        let (left, right) = (lines(of: one), lines(of: other))
        return left.filter { !right.contains($0) }.map { "- " + $0 }
            + right.filter { !left.contains($0) }.map { "+ " + $0 }
    }

    static func lines(of model: NSManagedObjectModel) -> [String] {
        var lines = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap(lines)
        lines += model.configurationMembers.sorted { $0.key < $1.key }
            .map { "configuration \($0.key): \($0.value.sorted())" }
        lines += model.fetchRequestTemplates.values.map { "request \($0)" }.sorted()
        lines.append("identifiers \(model.versionIdentifiers.map { "\($0)" }.sorted())")
        return lines
    }

    private static func lines(of entity: NSEntityDescription) -> [String] {
        var lines = [
            """
            entity \(entity.name ?? "nil") class \(entity.managedObjectClassName ?? "") \
            abstract \(entity.isAbstract) parent \(entity.superentity?.name ?? "nil") \
            children \(entity.subentities.compactMap(\.name).sorted()) \
            modifier \(text(entity.versionHashModifier)) \
            renamed \(text(entity.renamingIdentifier)) \
            unique \(entity.uniquenessConstraintNames) compound \(entity.marks.compoundIndexes) \
            userInfo \(userInfo(entity.userInfo))
            """
        ]
        lines += entity.declaredProperties.sorted { $0.name < $1.name }
            .map { "  \(entity.name ?? "").\(fact(of: $0))" }
        lines += entity.indexes.map { index in
            let elements = index.elements.map { element in
                "\(text(element.propertyName)) \(text(element.expressionText)) "
                    + "\(element.expressionResultType) \(element.collationType) "
                    + "\(element.isAscending)"
            }
            return
                "  index \(index.name) where \(text(index.partialIndexPredicateText)) \(elements)"
        }
        return lines
    }

    private static func fact(of property: NSPropertyDescription) -> String {
        let common = """
            \(property.name) \(type(of: property)) optional \(property.isOptional) \
            transient \(property.isTransient) modifier \(text(property.versionHashModifier)) \
            renamed \(text(property.renamingIdentifier)) userInfo \(userInfo(property.userInfo)) \
            indexed \(property.isIndexed)
            """
        return common + " " + special(property)
    }

    private static func special(_ property: NSPropertyDescription) -> String {
        switch property {
        case let relationship as NSRelationshipDescription:
            """
            to \(text(relationship.destinationEntity?.name)) \
            inverse \(text(relationship.inverseRelationship?.name)) \
            of \(text(relationship.inverseRelationship?.entity.name)) \
            \(relationship.minCount)…\(relationship.maxCount) ordered \(relationship.isOrdered) \
            rule \(relationship.deleteRule)
            """
        case let attribute as NSAttributeDescription:
            """
            type \(attribute.attributeType) class \(text(attribute.attributeValueClassName)) \
            default \(defaultText(attribute.defaultValue)) \
            transformer \(text(attribute.valueTransformerName)) \
            external \(attribute.allowsExternalBinaryDataStorage) \
            kept \(attribute.preservesValueInHistoryOnDeletion) \
            encrypted \(attribute.allowsCloudEncryption) bounds \(attribute.validation) \
            derived \(derivation(of: attribute)) \
            elements \(((attribute as? NSCompositeAttributeDescription)?.elements ?? []).map(fact))
            """
        case let fetched as NSFetchedPropertyDescription:
            "template \(String(describing: fetched.template))"
        default: ""
        }
    }

    private static func derivation(of attribute: NSAttributeDescription) -> String {
        text((attribute as? NSDerivedAttributeDescription)?.derivationExpressionText)
    }

    private static func text(_ value: String?) -> String { value.map { "“\($0)”" } ?? "nil" }

    private static func defaultText(_ value: Any?) -> String {
        value.map { "\(type(of: $0)) \($0)" } ?? "nil"
    }

    private static func userInfo(_ entries: [AnyHashable: Any]?) -> String {
        guard let entries else { return "nil" }
        return entries.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: ";")
    }
}

extension NSManagedObjectModel {
    /// What only the editor of the source wrote: not in compiled models.
    var editorLines: [String] {
        var lines = documentFacts.map { "\($0.key) \($0.value)" }.sorted()
        for entity in entities {
            lines.append("\(entity.name ?? "") \(entity.marks)")
            lines += entity.declaredProperties.map { property in
                let scalar = (property as? NSAttributeDescription)?.usesScalarValueType
                let composite = (property as? NSCompositeAttributeDescription)?.compositeName
                return "\(property.name) \(property.marks.rawValue) "
                    + "\(String(describing: scalar)) \(String(describing: composite))"
            }
        }
        return lines
    }
}
