import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct DerivedTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture(TestModel.library()) }

    @Test func countsFollowEveryChangeOfTheMembers() throws {
        let (first, second) = (try fixture.insert("Book"), try fixture.insert("Book"))
        #expect(try fixture.value(first, "pageCount") == .integer(0))
        let pages = try (0..<3).map { _ in try fixture.row("Page", [:], ["book": first]) }
        let outcome = try fixture.save { $0.inserts = pages }
        #expect(try fixture.value(first, "pageCount") == .integer(3))
        let slot = try #require(try fixture.layout("Book").attributeSlot("pageCount"))
        #expect(outcome.derivedValues[first]?[slot] == .integer(3))
        _ = try fixture.save {
            $0.updates = [try fixture.update(pages[0].id, [:], ["book": second])]
        }
        #expect(try fixture.value(first, "pageCount") == .integer(2))
        #expect(try fixture.value(second, "pageCount") == .integer(1))
        _ = try fixture.save { $0.deletes = [RowDelete(id: pages[1].id)] }
        #expect(try fixture.value(first, "pageCount") == .integer(1))
    }

    /// Its name is in no version hash, so that nothing is migrated; the column keeps the old one.
    @Test(arguments: [true, false])
    func anAttributeThatAloneIsRenamedIsFollowed(isTold: Bool) throws {
        let scratch = try Scratch()
        let url = scratch.url("store")
        let book = try StoreFixture(TestModel.library(), url: url).insert("Book")
        let model = TestModel.library()
        let count = try #require(model.entitiesByName["Book"]?.attributesByName["pageCount"])
        count.name = "pageCountNow"
        count.renamingIdentifier = isTold ? "pageCount" : nil
        let fixture = try StoreFixture(model, url: url)
        let page = try fixture.row("Page", [:], ["book": book])
        let outcome = try fixture.save { $0.inserts = [page] }
        let slot = try #require(try fixture.layout("Book").attributeSlot("pageCountNow"))
        #expect(outcome.derivedValues[book]?[slot] == .integer(1))
        #expect(try fixture.value(book, "pageCountNow") == .integer(1))
        #expect(try fixture.value(book, "longest") == .null)
    }

    @Test func aPathFollowsTheLinkAndTheValueAtItsEnd() throws {
        let author = try fixture.insert("Author", ["name": .text("Ada")])
        let book = try fixture.insert("Book", [:], ["author": author])
        #expect(try fixture.value(book, "authorName") == .text("Ada"))
        _ = try fixture.save { $0.updates = [try fixture.update(author, ["name": .text("Eve")])] }
        #expect(try fixture.value(book, "authorName") == .text("Eve"))
        let other = try fixture.insert("Author", ["name": .text("Ian")])
        _ = try fixture.save { $0.updates = [try fixture.update(book, [:], ["author": other])] }
        #expect(try fixture.value(book, "authorName") == .text("Ian"))
    }

    @Test func whatNoStoreDerivesIsRefusedWithTheFormsThatWork() throws {
        let refused = [
            "pages.@sum.words": "an operator as an intermediate component",
            "pages.@distinctUnionOfObjects": "operator @distinctUnionOfObjects",
            "pages.words.@avg": "in a Double, Float or Decimal",
            "pages.words": "is to-many", "author.@count": "is to-one",
            "chapters.@count": "no relationship “chapters”", "title": "leads over one to-one",
            "author.age": "no stored attribute “age”", "now()": "only a date",
            "canonical:(title)": "a text attribute of the same entity",
            "author.books.@count": "a count is over", "words + 1": "of no form", "a ==": "be read",
            "pages.author.name.@max": "an attribute of a to-many", "": "no derivation expression",
        ]
        for (text, reason) in refused {
            let model = TestModel.library()
            let longest = model.entitiesByName["Book"]?.attributesByName["longest"]
            (longest as? NSDerivedAttributeDescription)?.derivationExpressionText = text
            let error = #expect(throws: StoreError.self, "\(text)") {
                try StoreFixture(model)
            }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains(reason) == true, "\(text): \(error?.message ?? "")")
            #expect(error?.message.contains("“Book.longest”") == true)
            #expect(error?.message.contains("relationship.@count") == true)
            #expect(error?.fields["attribute"] == "longest")
        }
    }

    @Test func theGreatestValueFollowsTheMembers() throws {
        let book = try fixture.insert("Book")
        #expect(try fixture.value(book, "longest") == .null)
        let pages = try [4, 9, 6].map {
            try fixture.row("Page", ["words": .integer($0)], ["book": book])
        }
        _ = try fixture.save { $0.inserts = pages }
        #expect(try fixture.value(book, "longest") == .integer(9))
        _ = try fixture.save { $0.deletes = [RowDelete(id: pages[1].id)] }
        #expect(try fixture.value(book, "longest") == .integer(6))
        #expect(fixture.store.schemaNotes == [])
    }

    @Test func sumsFollowEveryChangeOfTheMembers() throws {
        let (first, second) = (try fixture.insert("Book"), try fixture.insert("Book"))
        #expect(try fixture.value(first, "wordSum") == .integer(0))
        let pages = try (1...3).map {
            try fixture.row("Page", ["words": .integer(Int64($0) * 10)], ["book": first])
        }
        let outcome = try fixture.save { $0.inserts = pages }
        let slot = try #require(try fixture.layout("Book").attributeSlot("wordSum"))
        #expect(outcome.derivedValues[first]?[slot] == .integer(60))
        _ = try fixture.save {
            $0.updates = [
                try fixture.update(pages[0].id, ["words": .integer(100)], ["book": second])
            ]
        }
        #expect(try fixture.value(first, "wordSum") == .integer(50))
        #expect(try fixture.value(second, "wordSum") == .integer(100))
        _ = try fixture.save {
            $0.updates = [try fixture.update(pages[1].id, ["words": .null], [:])]
            $0.deletes = [RowDelete(id: pages[0].id)]
        }
        #expect(try fixture.value(first, "wordSum") == .integer(30))
        #expect(try fixture.value(second, "wordSum") == .integer(0))
        _ = try fixture.save {
            $0.updates = [try fixture.update(pages[2].id, [:], ["book": nil as RowID?])]
        }
        #expect(try fixture.value(first, "wordSum") == .integer(0))
    }

    @Test func textsAreDerivedWhereTheyAreWritten() throws {
        let row = try fixture.row("Book", ["title": .text("Émile Zola ß")])
        let outcome = try fixture.save { $0.inserts = [row] }
        #expect(try fixture.value(row.id, "searchTitle") == .text("emile zola ss"))
        #expect(try fixture.value(row.id, "upperTitle") == .text("ÉMILE ZOLA SS"))
        #expect(try fixture.value(row.id, "lowerTitle") == .text("émile zola ß"))
        let slot = try #require(try fixture.layout("Book").attributeSlot("upperTitle"))
        #expect(outcome.derivedValues[row.id]?[slot] == .text("ÉMILE ZOLA SS"))
        _ = try fixture.save { $0.updates = [try fixture.update(row.id, ["title": .null])] }
        #expect(try fixture.value(row.id, "searchTitle") == .null)
    }

    @Test func theMomentOfASaveIsDerived() throws {
        let row = try fixture.row("Book", ["title": .text("a"), "changed": .date(1)])
        _ = try fixture.save { $0.inserts = [row] }
        #expect(try fixture.value(row.id, "changed") == .date(800_000_000.25))
        try fixture.store.write { _ = try $0.connection.run("UPDATE ZBOOK SET ZCHANGED = 2") }
        let outcome = try fixture.save {
            $0.updates = [try fixture.update(row.id, ["title": .text("b")])]
        }
        #expect(try fixture.value(row.id, "changed") == .date(800_000_000.25))
        let slot = try #require(try fixture.layout("Book").attributeSlot("changed"))
        #expect(outcome.derivedValues[row.id]?[slot] == .date(800_000_000.25))
    }

    @Test func aGivenValueOfADerivedAttributeIsNotWritten() throws {
        let book = try fixture.insert("Book", ["pageCount": .integer(9)])
        #expect(try fixture.value(book, "pageCount") == .integer(0))
        let outcome = try fixture.save {
            $0.updates = [
                try fixture.update(book, ["pageCount": .integer(9), "title": .text("t")])
            ]
        }
        #expect(outcome.versions == [book: 2])
        #expect(try fixture.value(book, "pageCount") == .integer(0))
        #expect(try fixture.value(book, "title") == .text("t"))
    }
}
