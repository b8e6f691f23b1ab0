internal import Foundation

/// Entities and properties as Apple's framework prints them.
enum DescriptionText {
    static func of(_ entity: NSEntityDescription) -> String {
        let className: String = entity.managedObjectClassName
        let properties = entity.propertiesByName.keys.sorted()
        let subentities = entity.subentities.compactMap(\.name).sorted()
        return "(\(head(entity))) name \(entity.name ?? "(null)"), "
            + "managedObjectClassName \(className), "
            + "renamingIdentifier \(entity.givenRenamingIdentifier ?? entity.name ?? "(null)"), "
            + "isAbstract \(number(entity.isAbstract)), "
            + "superentity name \(entity.superentity?.name ?? "(null)"), "
            + "properties {\(list(properties))}, subentities {\(list(subentities))}, "
            + "userInfo {\(info(entity.userInfo))}, "
            + "versionHashModifier \(entity.versionHashModifier ?? "(null)"), "
            + "uniquenessConstraints (\(list(entity.uniquenessConstraintNames.map { "\($0)" })))"
    }

    static func of(_ property: NSPropertyDescription) -> String {
        // Reading the name alone never ends up at an entity that is gone.
        let entity = property.entity.name ?? "(null)"
        var text =
            "(\(head(property))), name \(property.name), "
            + "isOptional \(number(property.isOptional)), "
            + "isTransient \(number(property.isTransient)), entity \(entity), "
            + "renamingIdentifier \(property.givenRenamingIdentifier ?? property.name), "
            + "versionHashModifier \(property.versionHashModifier ?? "(null)") "
            + "userInfo {\(info(property.userInfo))}"
        switch property {
        case let attribute as NSAttributeDescription:
            let className = attribute.attributeValueClassName
            text += ", attributeType \(attribute.attributeType.rawValue)"
            text += ", attributeValueClassName \(className ?? "(null)")"
            text += ", defaultValue \(attribute.defaultValue.map { "\($0)" } ?? "(null)")"
        case let relationship as NSRelationshipDescription:
            text += ", destination entity \(relationship.destinationEntity?.name ?? "(null)")"
            text += ", inverseRelationship \(relationship.inverseRelationship?.name ?? "(null)")"
            text += ", minCount \(relationship.minCount), maxCount \(relationship.maxCount)"
            text += ", isOrdered \(number(relationship.isOrdered))"
            text += ", deleteRule \(relationship.deleteRule.rawValue)"
        default: break
        }
        return text
    }

    private static func head(_ object: NSObject) -> String {
        let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
        return "<\(type(of: object)): 0x\(String(address, radix: 16))>"
    }

    private static func number(_ flag: Bool) -> Int { flag ? 1 : 0 }

    private static func list(_ words: [String]) -> String {
        words.isEmpty ? "" : "\n    " + words.joined(separator: ",\n    ") + "\n"
    }

    private static func info(_ info: [AnyHashable: Any]?) -> String {
        list((info ?? [:]).map { "\($0.key) = \($0.value)" }.sorted())
    }
}
