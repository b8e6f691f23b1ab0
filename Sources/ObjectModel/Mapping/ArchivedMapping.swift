package import Foundation

/// A compiled mapping model (`.cdm`), as its archive says it. Expressions are texts.
package struct ArchivedMapping {
    /// What the archive says of one entity.
    package struct Entity {
        package let name: String
        /// Apple's raw value.
        package let type: Int
        package let sourceName: String?
        package let sourceHash: Data?
        package let destinationName: String?
        package let destinationHash: Data?
        package let policyClassName: String?
        package let sourceExpression: String?
        package let attributes: [Property]?
        package let relationships: [Property]?
        package let userInfo: [AnyHashable: Any]?
    }

    /// What the archive says of one property.
    package struct Property {
        package let name: String?
        package let expression: String?
        package let userInfo: [AnyHashable: Any]?
    }

    package let entities: [Entity]

    /// Reads the bytes of a `.cdm`; `file` is its name in errors. Throws `ModelFileError` for what
    /// is no such archive, and for an expression that has no text.
    package init(_ data: Data, file: String) throws {
        let archive = try KeyedArchive(data, file: file)
        let root = try archive.root()
        guard root.className == "NSMappingModel" else {
            throw ModelFileError(
                .notAModel, file: file,
                "the archive holds a \(root.className); expected a compiled mapping model")
        }
        entities = try root.list("NSEntityMappings").map { member in
            guard let object = member?.object, object.className == "NSEntityMapping" else {
                throw archive.broken("a member of its entity mappings is none")
            }
            return try Entity(object)
        }
        try archive.checkBudget()
    }
}

extension ArchivedMapping.Entity {
    fileprivate init(_ object: ArchivedObject) throws {
        name = object.string("NSMappingName") ?? ""
        type = object.integer("NSMappingType")
        sourceName = object.string("NSSourceEntityName")
        sourceHash = object.bytes("NSSourceEntityVersionHash")
        destinationName = object.string("NSDestinationEntityName")
        destinationHash = object.bytes("NSDestinationEntityVersionHash")
        policyClassName = object.string("NSEntityMigrationPolicyClassName")
        sourceExpression = try object.expression("NSSourceExpression")
        attributes = try object.properties("NSAttributeMappings")
        relationships = try object.properties("NSRelationshipMappings")
        userInfo = ArchivedDefault.userInfo(object.object("NSUserInfo"))
    }
}

extension ArchivedObject {
    fileprivate func bytes(_ key: String) -> Data? {
        self[key]?.data ?? object(key)?["NS.data"]?.data
    }

    fileprivate func expression(_ key: String) throws -> String? {
        guard let object = object(key) else { return nil }
        if let text = ArchivedPredicateText().text(ofExpression: object) { return text }
        throw archive.broken("an expression of class \(object.className) has no text")
    }

    fileprivate func properties(_ key: String) throws -> [ArchivedMapping.Property]? {
        guard object(key) != nil else { return nil }
        return try list(key).map { member in
            guard let object = member?.object, object.className == "NSPropertyMapping" else {
                throw archive.broken("a member of its property mappings is none")
            }
            return ArchivedMapping.Property(
                name: object.string("NSDestinationPropertyName"),
                expression: try object.expression("NSValueExpression"),
                userInfo: ArchivedDefault.userInfo(object.object("NSUserInfo")))
        }
    }
}
