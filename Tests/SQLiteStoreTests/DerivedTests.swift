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
        #expect(outcome.derivedValues[first] == [slot: .integer(3)])
        _ = try fixture.save {
            $0.updates = [try fixture.update(pages[0].id, [:], ["book": second])]
        }
        #expect(try fixture.value(first, "pageCount") == .integer(2))
        #expect(try fixture.value(second, "pageCount") == .integer(1))
        _ = try fixture.save { $0.deletes = [RowDelete(id: pages[1].id)] }
        #expect(try fixture.value(first, "pageCount") == .integer(1))
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

    @Test func whatHasNoTriggersIsSaid() throws {
        #expect(fixture.store.schemaNotes.map(\.subject) == ["searchTitle"])
        let book = try fixture.insert("Book", ["title": .text("Ä")])
        #expect(try fixture.value(book, "searchTitle") == .null)
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
