import Foundation
import Testing

@testable import ObjectModel

/// What descriptions answer where nothing was set.
@Suite struct DescriptionDefaultsTests {
    private static let classes: [(NSAttributeType, String?)] = [
        (.stringAttributeType, "NSString"), (.integer16AttributeType, "NSNumber"),
        (.integer32AttributeType, "NSNumber"), (.integer64AttributeType, "NSNumber"),
        (.doubleAttributeType, "NSNumber"), (.floatAttributeType, "NSNumber"),
        (.booleanAttributeType, "NSNumber"), (.dateAttributeType, "NSDate"),
        (.binaryDataAttributeType, "NSData"), (.decimalAttributeType, "NSDecimalNumber"),
        (.UUIDAttributeType, "NSUUID"), (.URIAttributeType, "NSURL"),
        (.transformableAttributeType, nil), (.undefinedAttributeType, nil),
    ]

    @Test(arguments: classes)
    func attributesNameTheClassOfTheirType(_ type: NSAttributeType, _ name: String?) {
        let attribute = NSAttributeDescription()
        attribute.attributeType = type
        #expect(attribute.attributeValueClassName == name)
        attribute.attributeValueClassName = "Color"
        #expect(attribute.attributeValueClassName == "Color")
        #expect((attribute.copy() as? NSAttributeDescription)?.attributeValueClassName == "Color")
        attribute.attributeValueClassName = nil
        #expect(attribute.attributeValueClassName == name)
    }

    /// Sources write `userInfo?["key"] = value` into what they just made.
    @Test func userInfoIsThereToBeFilled() throws {
        let (entity, attribute) = (NSEntityDescription(), NSAttributeDescription())
        entity.name = "Book"
        attribute.name = "title"
        attribute.attributeType = .stringAttributeType
        let hash = attribute.versionHash
        attribute.userInfo?["search"] = "great"
        entity.userInfo?["kind"] = "shelf"
        entity.properties = [attribute]
        #expect(entity.userInfo?["kind"] as? String == "shelf")
        #expect(entity.attributesByName["title"]?.userInfo?["search"] as? String == "great")
        #expect(attribute.versionHash == hash)
    }

    /// The class goes with the type, and an identifier with the name.
    @Test func whatWasNotSetFollows() throws {
        let attribute = NSAttributeDescription()
        attribute.name = "title"
        attribute.attributeType = .stringAttributeType
        let entity = NSEntityDescription()
        entity.name = "Book"
        entity.properties = [attribute]
        #expect(attribute.renamingIdentifier == "title" && entity.renamingIdentifier == "Book")
        #expect(attribute.attributeValueClassName == "NSString")
        let twin = try #require(entity.copy() as? NSEntityDescription)
        let copy = try #require(twin.attributesByName["title"])
        copy.name = "name"
        copy.attributeType = .dateAttributeType
        twin.name = "Work"
        #expect(copy.renamingIdentifier == "name" && twin.renamingIdentifier == "Work")
        #expect(copy.attributeValueClassName == "NSDate")
        copy.renamingIdentifier = "title"
        twin.renamingIdentifier = "Book"
        #expect(copy.renamingIdentifier == "title" && twin.renamingIdentifier == "Book")
        copy.renamingIdentifier = nil
        #expect(copy.renamingIdentifier == "name")
    }
}
