import Foundation
import Testing

@testable import ObjectModel

@Suite struct AttributeReadingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func attribute(_ facts: String) throws -> NSAttributeDescription {
        let model = try scratch.model(
            "<entity name=\"E\"><attribute name=\"a\" \(facts)/></entity>")
        return try #require(model.entitiesByName["E"]?.attributesByName["a"])
    }

    @Test(
        arguments: [
            ("Undefined", 0), ("Integer 16", 100), ("Integer 32", 200), ("Integer 64", 300),
            ("Decimal", 400), ("Double", 500), ("Float", 600), ("String", 700), ("Boolean", 800),
            ("Date", 900), ("Binary", 1000), ("UUID", 1100), ("URI", 1200), ("Transformable", 1800),
        ] as [(String, UInt)])
    func everyTypeIsKnownByItsName(name: String, rawValue: UInt) throws {
        #expect(try attribute("attributeType=\"\(name)\"").attributeType.rawValue == rawValue)
    }

    @Test func anAttributeWithoutTypeIsUndefined() throws {
        #expect(try attribute("transient=\"YES\"").attributeType == .undefinedAttributeType)
    }

    @Test func defaultValuesComeInTheirSwiftTypes() throws {
        func value(_ type: String, _ text: String) throws -> Any? {
            try attribute("attributeType=\"\(type)\" defaultValueString=\"\(text)\"").defaultValue
        }
        #expect(try value("Integer 16", "-7") as? Int16 == -7)
        #expect(try value("Integer 32", "70000") as? Int32 == 70000)
        #expect(try value("Integer 64", "5000000000") as? Int64 == 5_000_000_000)
        #expect(try value("Integer 64", "3.0") as? Int64 == 3)
        #expect(try value("Double", "0.25") as? Double == 0.25)
        #expect(try value("Float", "0.5") as? Float == 0.5)
        #expect(try value("Decimal", "10.10") as? Decimal == Decimal(string: "10.1"))
        #expect(try value("Boolean", "YES") as? Bool == true)
        #expect(try value("Boolean", "NO") as? Bool == false)
        #expect(try value("String", "a &amp; b") as? String == "a & b")
        #expect(try value("String", "") as? String == "")
        let uuid = "7E2B1D9C-8F5A-4C0A-9A53-0D6D3F3B7C11"
        #expect(try value("UUID", uuid) as? UUID == UUID(uuidString: uuid))
        #expect(try value("UUID", "leftover") == nil)
        #expect(try value("URI", "https://a.b/c") as? URL == URL(string: "https://a.b/c"))
        #expect(try value("Integer 16", "") == nil)
        let date = try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"704497620\"")
        #expect(date.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 704_497_620))
    }

    @Test func boundsAreKeptAsTexts() throws {
        let number = try attribute(
            "attributeType=\"Integer 16\" minValueString=\"-1\" maxValueString=\"10\"")
        #expect(number.validation == AttributeValidation(minimum: "-1", maximum: "10"))
        let text = try attribute(
            "attributeType=\"String\" minValueString=\"1\" regularExpressionString=\"[a-z]+\"")
        #expect(text.validation == AttributeValidation(minimum: "1", regularExpression: "[a-z]+"))
        let date = try attribute("attributeType=\"Date\" minDateTimeInterval=\"0\"")
        #expect(date.validation == AttributeValidation(minimum: "0"))
    }

    @Test func everyFlagIsKept() throws {
        let binary = try attribute(
            """
            optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"
            preservesValueInHistoryOnDeletion="YES" allowsCloudEncryption="YES" indexed="YES"
            spotlightIndexingEnabled="YES" storedInTruthFile="YES" syncable="NO"
            versionHashModifier="2" elementID="old" usesScalarValueType="NO"
            """)
        #expect(binary.isOptional)
        #expect(binary.allowsExternalBinaryDataStorage)
        #expect(binary.preservesValueInHistoryOnDeletion)
        #expect(binary.allowsCloudEncryption)
        #expect(binary.marks == [.indexed, .indexedBySpotlight, .storedInExternalRecord])
        #expect(binary.versionHashModifier == "2")
        #expect(binary.renamingIdentifier == "old")
        #expect(binary.usesScalarValueType == false)
        let plain = try attribute("attributeType=\"Binary\"")
        #expect(!plain.isOptional)
        #expect(plain.marks == .syncable)
        #expect(plain.usesScalarValueType == nil)
        #expect(plain.renamingIdentifier == plain.name)
    }

    @Test func transformersAndTheirClassesAreKept() throws {
        let colour = try attribute(
            """
            attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData"
            customClassName="[String: Double]"
            """)
        #expect(colour.valueTransformerName == "NSSecureUnarchiveFromData")
        #expect(colour.attributeValueClassName == "[String: Double]")
    }

    @Test func derivedAttributesKeepTheirExpression() throws {
        let derived = try attribute(
            "attributeType=\"Integer 64\" derived=\"YES\" derivationExpression=\"pages.@count\"")
        #expect(
            (derived as? NSDerivedAttributeDescription)?.derivationExpressionText == "pages.@count")
    }

    @Test func compositesHoldTheirElements() throws {
        let model = try scratch.model(
            """
            <entity name="E">
                <attribute name="home" optional="YES" attributeType="Composite"
                    composite="Address"/>
            </entity>
            <composite name="Address">
                <attribute name="street" optional="YES" attributeType="String"/>
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            </composite>
            <composite name="Place">
                <attribute name="latitude" optional="YES" attributeType="Double"/>
            </composite>
            """)
        let home = try #require(
            model.entitiesByName["E"]?.attributesByName["home"] as? NSCompositeAttributeDescription)
        #expect(home.compositeName == "Address")
        #expect(home.elements.map(\.name) == ["street", "place"])
        let place = try #require(home.elements[1] as? NSCompositeAttributeDescription)
        #expect(place.elements.map(\.name) == ["latitude"])
        #expect(home.attributeType == .compositeAttributeType)
    }
}
