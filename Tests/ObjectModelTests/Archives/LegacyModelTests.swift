import Foundation
import Predicates
import Testing

@testable import ObjectModel

/// Models in the format of Xcode 3, written here as the editor wrote them.
@Suite struct LegacyModelTests {
    private func shelf() -> LegacyArchive {
        let archive = LegacyArchive()
        let book = archive.reserve()
        let tag = archive.reserve()
        let tags = archive.reserve()
        let books = archive.reserve()
        archive.put(
            at: tags, "XDPMRelationship", name: "tags", owner: book,
            [
                "XD_PPSK_isOptional": .bool(true), "XD_PRK_isToMany": .bool(true),
                "XD_PRK_minCount": .integer(0), "XD_PRK_maxCount": .integer(0),
                "XD_PRK_deleteRule": .integer(2), "XD_PRK_ordered": .bool(true),
                "XD_PRK_destination": .uid(tag), "XD_PRK_inverseRelationship": .uid(books),
            ])
        archive.put(
            at: books, "XDPMRelationship", name: "book", owner: tag,
            [
                "XD_PRK_maxCount": .integer(1), "XD_PRK_minCount": .integer(1),
                "XD_PRK_destination": .uid(book), "XD_PRK_inverseRelationship": .uid(tags),
            ])
        let title = archive.put(
            "XDPMAttribute", name: "title", owner: book,
            [
                "XD_PAttK_attributeType": .integer(700), "XD_PPSK_isOptional": .bool(true),
                "XD_PAttK_defaultValueAsString": archive.text("none"),
                "XD_PAttK_maxValueString": archive.text("20"),
                "XD_PPSK_elementID": archive.text("name"), "XD_PPSK_isIndexed": .bool(true),
                "XD_PPSK_userInfo": archive.dictionary(["a": archive.text("b")]),
            ])
        let pages = archive.put(
            "XDPMAttribute", name: "pages", owner: book,
            [
                "XD_PAttK_attributeType": .integer(200), "XD_PPSK_isTransient": .bool(true),
                "XD_PAttK_defaultValueAsString": archive.text("12"),
            ])
        archive.put(
            at: book, "XDPMEntity", name: "Book", owner: 0,
            [
                "XD_PSK_entityClassName": archive.text("ABBook"),
                "XDPMUniquenessConstraints": archive.list([archive.list([archive.text("title")])]),
            ],
            ["OwnedAttributes": ["title": title, "pages": pages, "tags": tags]])
        let parent = archive.put("XDUMLGeneralizationImp", fields: ["_general": .uid(book)])
        archive.put(
            at: tag, "XDPMEntity", name: "Tag", owner: 0,
            ["XD_PSK_isAbstract": .bool(true)], ["OwnedAttributes": ["book": books]],
            fields: ["XDBucketForGeneralizationsstorage": archive.list([.uid(parent)])])
        archive.finish(
            entities: ["Book": book, "Tag": tag],
            configurations: ["Local": archive.list([.uid(tag)])])
        return archive
    }

    @Test func everyFactIsReadIntoTheModel() throws {
        let model = try NSManagedObjectModel.load(fromArchive: shelf().data)
        #expect(model.versionIdentifiers == ["7"])
        #expect(model.configurationMembers == ["Local": ["Tag"]])
        let book = try #require(model.entitiesByName["Book"])
        let tag = try #require(model.entitiesByName["Tag"])
        #expect(book.managedObjectClassName == "ABBook")
        #expect(book.uniquenessConstraintNames == [["title"]])
        #expect(tag.superentity === book)
        #expect(tag.isAbstract && !book.isAbstract)
        let title = try #require(book.attributesByName["title"])
        #expect(title.attributeType == .stringAttributeType)
        #expect(title.isOptional && title.isIndexed && !title.isTransient)
        #expect(title.defaultValue as? String == "none")
        #expect(title.validation.maximum == "20")
        #expect(title.renamingIdentifier == "name")
        #expect(title.userInfo as? [String: String] == ["a": "b"])
        let pages = try #require(book.attributesByName["pages"])
        #expect(pages.defaultValue as? Int32 == 12)
        #expect(pages.isTransient && !pages.isOptional)
        let tags = try #require(book.relationshipsByName["tags"])
        #expect(tags.isToMany && tags.isOrdered && tags.deleteRule == .cascadeDeleteRule)
        #expect(tags.destinationEntity === tag)
        #expect(tags.inverseRelationship === tag.relationshipsByName["book"])
        #expect(tag.relationshipsByName["book"]?.isToMany == false)
    }

    @Test func whatCannotBeReadIsNamed() throws {
        let archive = LegacyArchive()
        let found = archive.put("XDPMFetchedProperty", name: "found", owner: 0, [:])
        let made = archive.put(
            "XDPMAttribute", name: "made", owner: 0,
            [
                "XD_PAttK_attributeType": .integer(900),
                "XD_PAttK_defaultValueAsString": archive.text("today"),
            ])
        let entity = archive.put(
            "XDPMEntity", name: "A", owner: 0, [:],
            ["OwnedAttributes": ["found": found, "made": made]])
        let stored = archive.put("XDPMFetchRequest", name: "All", owner: 0, [:])
        archive.finish(entities: ["A": entity, "All": stored])
        let model = try NSManagedObjectModel.load(fromArchive: archive.data)
        #expect(model.entities.map(\.name) == ["A"])
        #expect(
            Set(model.unreadParts) == [
                "A.found: its request", "A.made: the date “today”", "All, a XDPMFetchRequest",
            ])
        #expect((model.copy() as? NSManagedObjectModel)?.unreadParts == model.unreadParts)
        #expect(try NSManagedObjectModel.load(fromArchive: shelf().data).unreadParts.isEmpty)
    }

    @Test(arguments: [
        ("2009-01-31 12:00:00 +0100", 255_092_400), ("2001-01-01T00:00:00Z", 0),
        ("2000-12-31 23:59:58 -0000", -2), ("today", nil), ("2009-01-31 12:00:00", nil),
        ("2009-02-30 12:00:00 +0000", nil), ("2009-01-31", nil),
    ])
    func datesWithTheirZoneAreReadAndOthersLeftOut(text: String, seconds: Double?) throws {
        let archive = LegacyArchive()
        let made = archive.put(
            "XDPMAttribute", name: "made", owner: 0,
            [
                "XD_PAttK_attributeType": .integer(900),
                "XD_PAttK_defaultValueAsString": archive.text(text),
                "XD_PAttK_minValueString": archive.text(text),
            ])
        let entity = archive.put(
            "XDPMEntity", name: "A", owner: 0, [:], ["OwnedAttributes": ["made": made]])
        archive.finish(entities: ["A": entity])
        let model = try NSManagedObjectModel.load(fromArchive: archive.data)
        let read = try #require(model.entitiesByName["A"]?.attributesByName["made"])
        let date = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
        #expect(read.defaultValue as? Date == date)
        #expect(read.validation.minimum.flatMap { Double($0) } == seconds)
    }

    @Test func whatTheFormatDoesNotKnowIsRefused() throws {
        let archive = LegacyArchive()
        let odd = archive.put(
            "XDPMAttribute", name: "x", owner: 0,
            [
                "XD_PAttK_attributeType": .integer(4711)
            ])
        let entity = archive.put(
            "XDPMEntity", name: "A", owner: 0, [:], ["OwnedAttributes": ["x": odd]])
        archive.finish(entities: ["A": entity])
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(fromArchive: archive.data)
        }
        #expect(error?.code == .unknownAttributeType)
        #expect(error?.fields["line"] == nil)

        let other = LegacyArchive()
        let note = other.put("XDPMNote", name: "n", owner: 0, [:])
        let holder = other.put(
            "XDPMEntity", name: "A", owner: 0, [:], ["OwnedAttributes": ["n": note]])
        other.finish(entities: ["A": holder])
        let refusal = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(fromArchive: other.data)
        }
        #expect(refusal?.code == .unsupportedFormat)
    }

    @Test func noChangedByteBringsTheReaderDown() throws {
        let data = shelf().data
        for place in stride(from: 0, to: data.count, by: 5) {
            for change: UInt8 in [0x01, 0xFF] {
                var damaged = data
                damaged[place] ^= change
                do {
                    _ = try NSManagedObjectModel.load(fromArchive: damaged)
                        .entityVersionHashesByName
                } catch {
                    #expect(error is ModelFileError)
                }
            }
        }
    }

    /// A thousand entities that share one dictionary of a thousand properties.
    @Test func objectsThatUnfoldWithoutEndAreRefused() throws {
        let archive = LegacyArchive()
        let property = archive.put("XDPMAttribute", name: "a", owner: 0, [:])
        let shared = archive.dictionary(
            Dictionary(uniqueKeysWithValues: (0..<1000).map { ("p\($0)", .uid(property)) }))
        let entity = archive.put(
            "XDPMEntity", name: "A", owner: 0, [:],
            fields: ["XDBucketForOwnedAttributesstorage": shared])
        archive.finish(
            entities: Dictionary(uniqueKeysWithValues: (0..<1000).map { ("e\($0)", entity) }))
        let error = #expect(throws: ModelFileError.self) {
            try NSManagedObjectModel.load(fromArchive: archive.data)
        }
        #expect(error?.code == .malformed)
    }
}

/// Real models of Xcode 3.
@Suite(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
struct LegacyCorpusTests {
    let folders = Corpus.files("xcdatamodel-legacy", endingIn: "/elements")
        .map { $0.deletingLastPathComponent() }

    @Test func everyModelIsReadAndWrittenInBothModernForms() throws {
        #expect(folders.count >= 4)
        let scratch = try Scratch()
        for folder in folders {
            let model = try NSManagedObjectModel.load(from: folder)
            #expect(!model.entities.isEmpty)
            try model.checkConsistency()
            let source = scratch.folder.appendingPathComponent("\(UUID()).xcdatamodel")
            try model.writeSource(to: source)
            let reread = try NSManagedObjectModel.load(from: source)
            #expect(ModelFacts.differences(model, reread).isEmpty)
            #expect(reread.entityVersionHashesByName == model.entityVersionHashesByName)
            let compiled = try NSManagedObjectModel.load(fromArchive: model.compiledData())
            #expect(compiled.entityVersionHashesByName == model.entityVersionHashesByName)
        }
    }

    @Test func theStoreOfTheRecipesKnowsItsModel() throws {
        let recipes = try #require(folders.first { $0.path.contains("Recipes.xcdatamodeld") })
        let store = try #require(
            Corpus.files("sqlite", endingIn: "RecipeData/Recipes.sqlite").first)
        let hashes = try StoredModel(store).metadata["NSStoreModelVersionHashes"]
        let model = try NSManagedObjectModel.load(from: recipes)
        #expect(model.entityVersionHashesByName == hashes as? [String: Data])
    }
}
