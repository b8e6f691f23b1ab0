import Foundation
import Testing

@testable import ObjectModel

@Suite struct SourceWritingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func rewritten(_ model: NSManagedObjectModel) throws -> NSManagedObjectModel {
        let url = scratch.folder.appendingPathComponent("Written.xcdatamodel")
        try model.writeSource(to: url)
        return try .load(from: url)
    }

    @Test func aModelBuiltInCodeReadsBackEqual() throws {
        let model = BuildingTests.library()
        model.versionIdentifiers = ["1.2"]
        let book = try #require(model.entitiesByName["Book"])
        book.userInfo = ["a": "1 < 2 & \"3\"\n\tä", "b": ""]
        book.managedObjectClassName = ".Book"
        func add(_ name: String, _ type: NSAttributeType, _ value: Any?) {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.defaultValue = value
            book.declaredProperties.append(attribute)
        }
        add("short", .integer16AttributeType, Int16(-3))
        add("word", .integer32AttributeType, Int32(70_000))
        add("long", .integer64AttributeType, Int64.max)
        add("price", .decimalAttributeType, Decimal(string: "12.345"))
        add("ratio", .doubleAttributeType, 0.1)
        add("part", .floatAttributeType, Float(0.1))
        add("isSold", .booleanAttributeType, true)
        add("date", .dateAttributeType, Date(timeIntervalSinceReferenceDate: 12.5))
        add("key", .UUIDAttributeType, UUID(uuidString: "7E2B1D9C-8F5A-4C0A-9A53-0D6D3F3B7C11"))
        add("link", .URIAttributeType, URL(string: "https://a.b/c?d=e&f"))
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.compositeName = "Place"
        let latitude = NSAttributeDescription()
        latitude.name = "latitude"
        latitude.attributeType = .doubleAttributeType
        place.elements = [latitude]
        book.declaredProperties.append(place)
        let derived = NSDerivedAttributeDescription()
        derived.name = "writer"
        derived.attributeType = .stringAttributeType
        derived.derivationExpressionText = "author.name"
        book.declaredProperties.append(derived)
        let request = NSFetchedPropertyDescription()
        request.name = "others"
        request.template = FetchRequestTemplate(
            name: "others", entityName: "Book", predicateText: "title != \"x\"")
        book.declaredProperties.append(request)
        var stored = FetchRequestTemplate(name: "ten", entityName: "Book")
        stored.fetchLimit = 10
        stored.includesSubentities = false
        stored.resultType = 4
        model.fetchRequestTemplates = ["ten": stored]
        let again = try rewritten(model)
        #expect(ModelFacts.differences(again, model) == [])
        #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(try again.sourceText() == model.sourceText())
    }

    /// As Xcode spells them, and not quite alike.
    @Test func flagsOfRequestsAreWrittenAsXcodeSpellsThem() throws {
        let model = BuildingTests.library()
        model.versionIdentifiers = ["1"]
        var stored = FetchRequestTemplate(name: "all", entityName: "Book")
        stored.includesSubentities = false
        stored.includesPropertyValues = false
        stored.includesPendingChanges = false
        stored.returnsObjectsAsFaults = false
        stored.returnsDistinctResults = true
        model.fetchRequestTemplates = ["all": stored]
        let text = try model.sourceText()
        for fact in [
            "includeSubentities=\"NO\"", "includePropertyValues=\"NO\"",
            "includesPendingChanges=\"NO\"", "returnObjectsAsFaults=\"NO\"",
            "returnDistinctResults=\"YES\"",
        ] { #expect(text.contains(" \(fact)"), "\(fact)") }
        #expect(ModelFacts.differences(try rewritten(model), model) == [])
    }

    @Test func numbersGivenAsPlainIntsAreWrittenToo() throws {
        let model = BuildingTests.library()
        let genre = try #require(model.entitiesByName["Novel"]?.attributesByName["genre"])
        genre.attributeType = .integer16AttributeType
        genre.defaultValue = 4
        let again = try rewritten(model)
        let value = again.entitiesByName["Novel"]?.attributesByName["genre"]?.defaultValue
        #expect(value as? Int16 == 4)
    }

    @Test func whatAFileCannotHoldIsRefused() throws {
        func refusal(_ change: (NSManagedObjectModel) -> Void) -> ModelFileError.Code? {
            let model = BuildingTests.library()
            change(model)
            return #expect(throws: ModelFileError.self) { try model.sourceText() }?.code
        }
        #expect(refusal { $0.entities[0].name = nil } == .missingName)
        #expect(refusal { $0.entities[0].name = "A\u{1}" } == .badValue)
        #expect(refusal { $0.entities[0].userInfo = ["a": 1] } == .badValue)
        #expect(refusal { $0.entities[0].declaredProperties[0].name = "" } == .missingName)
        #expect(
            refusal { model in
                model.entities[1].attributesByName["title"]?.defaultValue = Data([1])
            } == .badValue)
        let shapes = refusal { model in
            model.entities[0].declaredProperties += ["x", "y"].map { name in
                let composite = NSCompositeAttributeDescription()
                composite.name = name
                composite.compositeName = "Same"
                let element = NSAttributeDescription()
                element.name = name
                composite.elements = [element]
                return composite
            }
        }
        #expect(shapes == .duplicateName)
    }

    @Test func aPlaceThatCannotBeWrittenIsReported() throws {
        let file = try scratch.write("in the way", to: "file")
        let error = #expect(throws: ModelFileError.self) {
            try BuildingTests.library().writeSource(
                to: file.appendingPathComponent("M.xcdatamodel"))
        }
        #expect(error?.code == .cannotWrite)
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
    func everyModelSourceRoundTrips() throws {
        let files = Corpus.files("xcdatamodel", endingIn: ".xcdatamodel/contents")
        #expect(files.count > 100)
        for file in files {
            let model = try NSManagedObjectModel.load(from: file)
            let again = try rewritten(model)
            #expect(ModelFacts.differences(again, model) == [], "\(file.path)")
            #expect(again.editorLines == model.editorLines, "\(file.path)")
            #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
        }
    }
}
