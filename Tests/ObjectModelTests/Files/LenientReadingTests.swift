import Foundation
import Testing

@testable import ObjectModel

/// Values that are none of their type: Apple's compiler accepts them, so they are read as it reads
/// them, and the model says so.
@Suite struct LenientReadingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func attribute(_ facts: String) throws -> (NSAttributeDescription, notes: [String]) {
        let model = try scratch.model(
            "<entity name=\"E\"><attribute name=\"a\" \(facts)/></entity>")
        return (
            try #require(model.entitiesByName["E"]?.attributesByName["a"]), model.readingNotes
        )
    }

    private static let integers: [(text: String, value: Int64)] = [
        ("NO", 0), ("YES", 0), ("true", 0), ("false", 0), ("none", 0), ("-", 0), ("3.7", 3),
        ("12 apples", 12), (" 7x", 7), ("-4,5", -4), ("+9!", 9), ("0x10", 0), ("inf", 0),
        ("99999999999999999999", .max), ("-99999999999999999999", .min),
    ]

    @Test(arguments: integers) func anIntegerIsTheLeadingNumberOrZero(
        text: String, value: Int64
    ) throws {
        let (read, notes) = try attribute(
            "attributeType=\"Integer 64\" defaultValueString=\"\(text)\"")
        #expect(read.defaultValue as? Int64 == value)
        #expect(notes.count == 1)
        #expect(notes.first?.hasPrefix("E.a, line 3: defaultValueString=\"\(text)\"") == true)
        #expect(notes.first?.hasSuffix("read as \(value)") == true)
    }

    @Test func smallIntegersStayWithinTheirType() throws {
        let facts = "defaultValueString=\"40000\""
        #expect(
            try attribute("attributeType=\"Integer 16\" \(facts)").0.defaultValue as? Int16
                == .max)
        #expect(
            try attribute("attributeType=\"Integer 32\" defaultValueString=\"NO\"").0
                .defaultValue as? Int32 == 0)
    }

    @Test func fractionsAreTheLeadingNumberOrZero() throws {
        func value(_ type: String, _ text: String) throws -> (Any?, notes: Int) {
            let (read, notes) = try attribute(
                "attributeType=\"\(type)\" defaultValueString=\"\(text)\"")
            return (read.defaultValue, notes.count)
        }
        #expect(try value("Double", "1,5") == (1.0, 1))
        #expect(try value("Double", "1.5e2kg") == (150.0, 1))
        #expect(try value("Double", "nan") == (0.0, 1))
        #expect(try value("Double", "1e999") == (Double.greatestFiniteMagnitude, 1))
        #expect(try value("Double", " 2.5 ") == (2.5, 0))
        #expect(try value("Float", "YES") == (Float(0), 1))
        #expect(try value("Float", "-.5") == (Float(-0.5), 0))
        #expect(try value("Decimal", "ten") == (Decimal(0), 1))
        #expect(try value("Decimal", "-7.25 EUR") == (try #require(Decimal(string: "-7.25")), 1))
        #expect(try value("Decimal", "-7.25") == (try #require(Decimal(string: "-7.25")), 0))
    }

    @Test func flagsBeginWithYesOrANumber() throws {
        func value(_ text: String) throws -> (Any?, notes: Int) {
            let (read, notes) = try attribute(
                "attributeType=\"Boolean\" defaultValueString=\"\(text)\"")
            return (read.defaultValue, notes.count)
        }
        #expect(try value("YES") == (true, 0))
        #expect(try value("Yup") == (true, 1))
        #expect(try value("-01") == (true, 1))
        #expect(try value("000") == (false, 1))
        #expect(try value("maybe") == (false, 1))
        let (optional, notes) = try attribute("attributeType=\"String\" optional=\"TRUE!\"")
        #expect(optional.isOptional && notes.count == 1)
    }

    @Test func aDateThatIsNoNumberIsTheReferenceDate() throws {
        let (read, notes) = try attribute(
            "attributeType=\"Date\" defaultDateTimeInterval=\"nan\"")
        #expect(read.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 0))
        #expect(notes.count == 1)
    }

    @Test func boundsWithoutNumberArePassedOver() throws {
        let (read, notes) = try attribute(
            "attributeType=\"String\" minValueString=\"2 letters\" maxValueString=\"long\"")
        #expect(read.validation == AttributeValidation(minimum: "2"))
        #expect(notes.count == 2)
        let (date, _) = try attribute("attributeType=\"Date\" maxDateTimeInterval=\"today\"")
        #expect(date.validation == AttributeValidation())
    }

    @Test func aTransientOfALaterTypeHasNoType() throws {
        let (read, notes) = try attribute("attributeType=\"Vector\" transient=\"YES\"")
        #expect(read.attributeType == .undefinedAttributeType && notes.count == 1)
        #expect(throws: ModelFileError.self) { try attribute("attributeType=\"Vector\"") }
    }

    @Test func whatLeadsNowhereIsReadWithoutIt() throws {
        let model = try scratch.model(
            """
            <entity name="A" future="yes">
            <attribute name="s" optional="YES" attributeType="String">
            <userInfo><entry key="k" value="1"/><entry key="k" value="2"/><entry key="" value="3"/>
            </userInfo></attribute>
            <relationship name="r" optional="YES" destinationEntity="A" inverseName="s"
            inverseEntity="B" deletionRule="Erase" toMany="YES" maxCount="99999999999"/>
            <fetchIndex name="i"><fetchIndexElement property="s" type="Hash" order="up"/>
            </fetchIndex>
            <fetchIndex name="j"><fetchIndexElement/></fetchIndex>
            <uniquenessConstraints><uniquenessConstraint><constraint value=""/>
            </uniquenessConstraint></uniquenessConstraints>
            </entity>
            <configuration/><fetchRequest entity="A"/>
            """)
        let entity = try #require(model.entitiesByName["A"])
        let link = try #require(entity.relationshipsByName["r"])
        #expect(link.inverseRelationship == nil && link.deleteRule == .nullifyDeleteRule)
        #expect(link.maxCount == Int(Int32.max))
        #expect(entity.attributesByName["s"]?.userInfo as? [String: String] == ["k": "2", "": "3"])
        #expect(entity.indexes.map(\.name) == ["i"])
        #expect(entity.indexes[0].elements[0].collationType == .binary)
        #expect(entity.uniquenessConstraintNames.isEmpty)
        #expect(model.readingNotes.count == 11)
        try model.checkConsistency()
        #expect((model.copy() as? NSManagedObjectModel)?.readingNotes == model.readingNotes)
    }

    @Test func theEncodingMayBeSpelledInOtherWays() throws {
        for name in ["UTF-8", "utf8", "UTF8", "us-ascii"] {
            let text =
                "<?xml version=\"1.0\" encoding=\"\(name)\"?><model><entity name=\"A\"/></model>"
            let model = try NSManagedObjectModel.load(fromSource: Data(text.utf8))
            #expect(model.entities.map(\.name) == ["A"], "\(name)")
        }
    }

    @Test func modelsWithoutOddValuesHaveNoNotes() throws {
        let model = try scratch.model(VersionHashTests.library)
        #expect(model.readingNotes.isEmpty)
    }

    /// Swift compares texts by canonical equivalence, and dictionaries by name are Apple's own
    /// interface: two such names cannot both be reached, so the model is refused rather than one
    /// property lost.
    @Test func namesThatOnlyDifferInTheirCompositionAreRefused() throws {
        let found = #expect(throws: ModelFileError.self) {
            try scratch.model(
                "<entity name=\"A\"><attribute name=\"\u{E9}\" attributeType=\"String\"/>\n"
                    + "<attribute name=\"e\u{301}\" attributeType=\"String\"/></entity>")
        }
        #expect(found?.code == .duplicateName)
    }
}

/// Whether a default value and the number of notes are those expected.
private func == <Value: Equatable>(found: (Any?, notes: Int), wanted: (Value, Int)) -> Bool {
    found.0 as? Value == wanted.0 && found.notes == wanted.1
}
