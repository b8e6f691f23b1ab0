internal import Foundation

/// The extension that declares an entity's properties, with the accessors of its to-manys.
struct PropertiesText {
    /// The extensions, one after another.
    let text: String
    /// Whether a declaration names a type of Foundation.
    let usesFoundation: Bool

    init(entity: NSEntityDescription, name: ClassName) throws {
        var parts = [try Self.properties(of: entity, named: name)]
        for relationship in entity.declaredProperties.compactMap({
            $0 as? NSRelationshipDescription
        })
        where relationship.isToMany {
            let member = try Self.className(of: relationship.destinationEntity)
            parts.append(
                AccessorsText(relationship: relationship, owner: name.text, member: member).text)
        }
        if try Self.isFirstWithClass(entity) {
            parts.append("extension \(name.text) : Identifiable {\n\n}")
        }
        text = parts.joined(separator: "\n\n")
        usesFoundation = AttributeText.namesFoundation(in: parts)
    }

    private static func properties(
        of entity: NSEntityDescription, named name: ClassName
    ) throws -> String {
        var lines = [
            "extension \(name.text) {", "",
            "    @nonobjc public class func fetchRequest() -> NSFetchRequest<\(name.text)> {",
            "        return NSFetchRequest<\(name.text)>(entityName: \(quoted(entity.name)))",
            "    }", "",
        ]
        for property in entity.declaredProperties {
            guard SwiftName.isIdentifier(property.name) else {
                throw ClassGenerationError(
                    .badName, entity: entity.name, fields: ["value": property.name])
            }
            let spelled = SwiftName.member(property.name)
            lines.append("    @NSManaged public var \(spelled): \(try type(of: property))")
        }
        return (lines + ["", "}"]).joined(separator: "\n")
    }

    private static func quoted(_ name: String?) -> String {
        let parts = (name ?? "").unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            case "\r": "\\r"
            default: String(scalar)
            }
        }
        return "\"\(parts.joined())\""
    }

    private static func type(of property: NSPropertyDescription) throws -> String {
        switch property {
        case let attribute as NSAttributeDescription: return AttributeText.type(of: attribute)
        case let relationship as NSRelationshipDescription:
            guard relationship.isToMany else {
                return try className(of: relationship.destinationEntity) + "?"
            }
            return relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
        case let fetched as NSFetchedPropertyDescription:
            let name = fetched.template?.entityName ?? ""
            let entity = fetched.entity.place.model?.entitiesByName[name]
            return "[\(try className(of: entity))]?"
        default: return "NSObject?"
        }
    }

    private static func className(of entity: NSEntityDescription?) throws -> String {
        try entity.map { try ClassName(of: $0) }?.text ?? ClassName.managedObject.text
    }

    /// Whether no ancestor has a class of its own, which would be identifiable already.
    private static func isFirstWithClass(_ entity: NSEntityDescription) throws -> Bool {
        var ancestor = entity.superentity
        while let current = ancestor {
            if current.marks.codeGeneration != nil, try !ClassName(of: current).isManagedObject {
                return false
            }
            ancestor = current.superentity
        }
        return true
    }
}

/// The Swift types of attributes.
enum AttributeText {
    static func type(of attribute: NSAttributeDescription) -> String {
        if attribute.usesScalarValueType == true, let scalar = scalar(attribute.attributeType) {
            return scalar
        }
        return object(attribute) + "?"
    }

    /// Whether one of the declarations names a type of Foundation.
    static func namesFoundation(in declarations: [String]) -> Bool {
        let types: Set<Substring> = [
            "NSNumber", "NSDecimalNumber", "Date", "Data", "UUID", "URL", "NSObject", "NSSet",
            "NSOrderedSet", "TimeInterval",
        ]
        return declarations.contains { text in
            text.split { !$0.isLetter }.contains(where: types.contains)
        }
    }

    private static func scalar(_ type: NSAttributeType) -> String? {
        switch type {
        case .integer16AttributeType: "Int16"
        case .integer32AttributeType: "Int32"
        case .integer64AttributeType: "Int64"
        case .doubleAttributeType: "Double"
        case .floatAttributeType: "Float"
        case .booleanAttributeType: "Bool"
        case .dateAttributeType: "TimeInterval"
        case .undefinedAttributeType, .decimalAttributeType, .stringAttributeType,
            .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType,
            .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType:
            nil
        }
    }

    private static func object(_ attribute: NSAttributeDescription) -> String {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .doubleAttributeType, .floatAttributeType, .booleanAttributeType:
            "NSNumber"
        case .decimalAttributeType: "NSDecimalNumber"
        case .stringAttributeType: "String"
        case .dateAttributeType: "Date"
        case .binaryDataAttributeType: "Data"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URL"
        case .objectIDAttributeType: "NSManagedObjectID"
        case .compositeAttributeType: "[String: Any]"
        case .undefinedAttributeType, .transformableAttributeType:
            attribute.attributeValueClassName ?? "NSObject"
        }
    }
}
