import Foundation
import ObjectModel
import Predicates
import Testing

/// Predicates of models that go through a compiled model and come back.
@Suite struct ArchivingTests {
    /// What each text is read back as, and whether Apple's form of it stood in the archive.
    private func archived(_ texts: [String]) throws -> [(text: String, isApples: Bool)] {
        let model = NSManagedObjectModel()
        for (place, text) in texts.enumerated() {
            model.fetchRequestTemplates["\(place)"] = FetchRequestTemplate(
                name: "\(place)", entityName: "Row", predicateText: text)
        }
        let again = try NSManagedObjectModel.load(fromArchive: model.compiledData())
        return try texts.indices.map { place in
            let text = try #require(again.fetchRequestTemplates["\(place)"]?.predicateText)
            var builder = KeyedArchiveBuilder()
            let archiver = PredicateArchiver()
            return (text, archiver.archive(predicate: texts[place], into: &builder) != nil)
        }
    }

    @Test(arguments: 1...10)
    func everyPredicateComesBackAsTheSameTree(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let texts = (0..<60).map { _ in RandomPredicate(&dice).node.description }
        var apples = 0
        for (before, after) in zip(texts, try archived(texts)) {
            let (one, other) = (try NSPredicate.parse(before), try NSPredicate.parse(after.text))
            #expect(node(of: one) == node(of: other), "seed \(seed): \(before) → \(after.text)")
            apples += after.isApples ? 1 : 0
        }
        #expect(apples > 10)
    }

    @Test(arguments: [
        "a == 1 AND (b != nil OR NOT c < 2.5)", "name CONTAINS[cd] \"é\"", "SELF > 3",
        "$FETCH_SOURCE.alias == alias", "ANY pages.words IN {1, 2, 3}", "TRUEPREDICATE",
        "kind BETWEEN {1, 9}", "name LIKE \"a*\"", "name MATCHES \"[a-z]+\"",
        "made > CAST(1000.0, \"NSDate\")", "#size == 4 AND #first.#in == YES",
        "key == CAST(\"7E2B1D9C-8F5A-4C0A-9A53-0D6D3F3B7C11\", \"NSUUID\")",
        "pages.@count > 2", "length:(name) == 5", "uppercase:(name) == \"A\"",
        "price == CAST(\"1.25\", \"NSDecimalNumber\")", "made < now()", "a + b * 2 > 7",
        "FUNCTION($manager, \"a:b:\", c, 1) != nil", "data == CAST(\"AQI=\", \"NSData\")",
        "CAST(a, \"NSNumber\") > 2", "NONE tags.name == \"x\"", "name == \"line\\nbreak\"",
    ])
    func whatRealFilesShowIsArchivedAsAppleDoes(text: String) throws {
        let result = try #require(try archived([text]).first)
        #expect(result.isApples)
        #expect(node(of: try .parse(result.text)) == node(of: try .parse(text)), "\(result.text)")
    }

    @Test(arguments: [
        "SUBQUERY(pages, $p, $p.words > 1).@count > 0", "TERNARY(a == 1, b, c) == 2",
        "name BEGINSWITH \"a\"", "name LIKE[c] \"a*\"", "{a, b} CONTAINS 1",
        "(tags UNION others).@count > 0", "tags[FIRST] == 1",
    ])
    func whatNoRealFileShowsKeepsItsText(text: String) throws {
        let result = try #require(try archived([text]).first)
        #expect(!result.isApples)
        #expect(result.text == text)
    }

    @Test func aTextThatIsNoPredicateIsKept() throws {
        #expect(try archived(["a ==="]).map(\.text) == ["a ==="])
    }

    @Test(arguments: [
        ("pages.@count", "pages.@count"), ("pages.words.@sum", "pages.words.@sum"),
        ("chat.serverId", "chat.serverId"), ("canonical:(title)", "canonical:(title)"),
        ("uppercase:(author.name)", "uppercase:(author.name)"), ("now()", "now()"),
        ("max:(pages.words)", "pages.words.@max"),
    ])
    func derivationsComeBackWithTheirHash(text: String, again: String) throws {
        let model = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Book"
        let derived = NSDerivedAttributeDescription()
        derived.name = "made"
        derived.attributeType = .integer64AttributeType
        derived.derivationExpressionText = text
        entity.properties = [derived]
        model.entities = [entity]
        let read = try NSManagedObjectModel.load(fromArchive: model.compiledData())
        let back = read.entitiesByName["Book"]?.attributesByName["made"]
        #expect((back as? NSDerivedAttributeDescription)?.derivationExpressionText == again)
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    }
}
