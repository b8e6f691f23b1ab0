import Foundation
import Testing

@testable import ObjectModel

/// What broken files are told, by line.
@Suite struct BrokenFileTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func error(_ text: String) throws -> ModelFileError? {
        let url = try scratch.write(text, to: "Broken.xcdatamodel/contents")
        return #expect(throws: ModelFileError.self) { try NSManagedObjectModel.load(from: url) }
    }

    @Test(arguments: [
        "", "   ", "not XML at all", "{\"model\": 1}", "<?xml version=\"1.0\"?>",
        "<!-- only a comment -->",
    ])
    func whatIsNoXMLIsNoModel(text: String) throws {
        #expect(try error(text)?.code == .notAModel)
    }

    @Test(arguments: [
        "<model>\n<entity name=\"A\">\n</model>", "<model", "<model><entity name=\"A\"",
        "<model/><model/>", "<model a=\"1\" a=\"2\"/>", "<model>&undefined;</model>",
        "<model><entity name=\"\u{1}\"/></model>",
    ])
    func brokenXMLIsMalformed(text: String) throws {
        #expect(try error(text)?.code == .malformed)
    }

    @Test func unclosedElementsAreNamedWithTheirLine() throws {
        let found = try #require(
            try error("<model>\n\n  <entity name=\"A\">\n    <attribute name=\"x\"/>\n"))
        #expect(found.message.hasPrefix("Broken.xcdatamodel/contents, line "))
        #expect(found.message.contains("entity “A”, which starts on line 3"))
        #expect(found.fields["file"]?.hasSuffix("Broken.xcdatamodel/contents") == true)
    }

    /// Foundation's own parser traps on such bytes.
    @Test func bytesThatAreNoTextAreRefused() throws {
        let url = try scratch.write("", to: "contents")
        try (Data("<model a".utf8) + [0xD2] + Data("=\"x\"/>".utf8)).write(to: url)
        let found = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: url)
        }
        #expect(found?.message.contains("UTF-8") == true)
    }

    @Test func documentTypesAreRefusedBeforeAnyEntityExpands() throws {
        let bomb = """
            <?xml version="1.0"?>
            <!-- harmless --> <!DOCTYPE model [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>
            <model name="&b;"/>
            """
        let found = try #require(try error(bomb))
        #expect(found.code == .malformed)
        #expect(found.message.contains("document type"))
        let sneaky = Data([0xFF, 0xFE]) + (bomb.data(using: .utf16LittleEndian) ?? Data())
        let url = scratch.folder.appendingPathComponent("utf16")
        try sneaky.write(to: url)
        #expect(throws: ModelFileError.self) { try NSManagedObjectModel.load(from: url) }
        #expect(try error("<?xml version=\"1.0\" encoding=\"UTF-7\"?><model/>")?.code == .malformed)
    }

    @Test func aCommentMayMentionAnInstruction() throws {
        let text = "<model><!-- <?x?> --><entity name=\"A\"/><!-- <?y?> --></model>"
        let model = try NSManagedObjectModel.load(fromSource: Data(text.utf8))
        #expect(model.entities.map(\.name) == ["A"])
    }

    @Test func aModelMayFollowACommentThatMentionsADocumentType() throws {
        let url = try scratch.write(
            "<!-- <!DOCTYPE x> -->\n<model><entity name=\"A\"/></model>", to: "contents")
        #expect(try NSManagedObjectModel.load(from: url).entities.count == 1)
    }

    @Test func anotherRootIsNoModel() throws {
        let found = try #require(try error("<plist><dict/></plist>"))
        #expect(found.code == .notAModel)
        #expect(found.message.contains("<plist>"))
    }

    @Test func endlessNestingIsRefused() throws {
        let deep = String(repeating: "<entity>", count: 5000)
        #expect(try error("<model>" + deep)?.code == .tooLarge)
    }

    @Test func giantFilesAreRefusedUnread() throws {
        let url = try scratch.write("", to: "Giant.xcdatamodel/contents")
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(ModelFile.bytesMax) + 1)
        try handle.close()
        let found = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(from: url)
        }
        #expect(found?.code == .tooLarge)
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        var body: String
        var code: ModelFileError.Code
        var words: String
        var testDescription: String { words }
        init(_ body: String, _ code: ModelFileError.Code, _ words: String) {
            self.body = body
            self.code = code
            self.words = words
        }
    }

    static let mistakes: [Mistake] = [
        Mistake("<entity/>", .missingName, "<entity> has no name"),
        Mistake(
            "<entity name=\"A\"><attribute attributeType=\"String\"/></entity>", .missingName,
            "<attribute> has no name"),
        Mistake(
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Text\"/></entity>",
            .unknownAttributeType, "the unknown type “Text”; expected one of"),
        Mistake(
            "<entity name=\"A\"/><entity name=\"A\"/>", .duplicateName, "two entities named “A”"),
        Mistake(
            """
            <entity name="A"><attribute name="x" attributeType="String"/>
            <relationship name="x" destinationEntity="A"/></entity>
            """, .duplicateName, "two properties named “x”, the first on line 3"),
        Mistake(
            "<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"B\"/></entity>",
            .unknownEntity, "the entity “B”, which the model does not have"),
        Mistake(
            "<entity name=\"A\"><relationship name=\"r\"/></entity>", .unknownEntity,
            "has no destination"),
        Mistake("<entity name=\"A\" parentEntity=\"B\"/>", .unknownEntity, "correct parentEntity"),
        Mistake(
            """
            <entity name="A" parentEntity="B"/><entity name="B" parentEntity="C"/>
            <entity name="C" parentEntity="A"/>
            """, .inheritanceCircle, "A → B → C → A"),
        Mistake(
            """
            <entity name="X" parentEntity="A"/><entity name="A" parentEntity="B"/>
            <entity name="B" parentEntity="A"/>
            """, .inheritanceCircle, "inherits from itself"),
        Mistake("<entity name=\"A\" parentEntity=\"A\"/>", .inheritanceCircle, "A → A"),
        Mistake(
            """
            <entity name="A"><attribute name="x" attributeType="Composite" composite="C"/></entity>
            """, .unknownComposite, "<composite name=\"C\">"),
        Mistake(
            """
            <entity name="A"><attribute name="x" attributeType="Composite" composite="C"/></entity>
            <composite name="C">
            <attribute name="y" attributeType="Composite" composite="C"/></composite>
            """, .inheritanceCircle, "the composite “C” contains itself"),
    ]

    /// Bytes are changed by a fixed sequence: the reader may refuse or read on, but must come back.
    @Test func noChangedByteBringsTheReaderDown() throws {
        let body = VersionHashTests.library
        let url = try scratch.write("<model>\n\(body)\n</model>", to: "contents")
        let original = try Data(contentsOf: url)
        var state: UInt64 = 42
        func draw(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let alphabet = Array("<>/=\"'&;:! \n\t\0\u{1}x#[]-?".utf8) + [0xC3, 0xFF]
        var refused = 0
        for _ in 0..<3000 {
            var damaged = original
            for _ in 0...draw(3) { damaged[draw(damaged.count)] = alphabet[draw(alphabet.count)] }
            do {
                _ = try ModelReader.model(in: damaged, file: "damaged").entityVersionHashesByName
            } catch {
                #expect(error is ModelFileError)
                refused += 1
            }
        }
        #expect(refused > 200)
    }

    @Test(arguments: mistakes)
    func mistakesAreNamedWithTheirLine(mistake: Mistake) throws {
        let found = #expect(throws: ModelFileError.self) { try scratch.model(mistake.body) }
        #expect(found?.code == mistake.code)
        #expect(found?.message.contains(mistake.words) == true, "\(found?.message ?? "")")
        #expect(found?.fields["line"].flatMap { Int($0) }.map { $0 >= 3 } == true)
    }
}
