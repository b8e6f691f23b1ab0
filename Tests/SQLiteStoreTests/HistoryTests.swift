import Foundation
import ObjectModel
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

@Suite struct HistoryTests {
    let fixture: StoreFixture

    init() throws {
        var options = SQLiteStoreOptions()
        options.origin = HistoryOrigin(bundleIdentifier: "org.example.app", processName: "app")
        fixture = try StoreFixture(TestModel.society(), options: options)
    }

    @Test func anOriginIsTheProcessUnlessItIsGiven() {
        var origin = SQLiteStoreOptions().origin
        #expect(origin.processName == ProcessInfo.processInfo.processName)
        #expect(origin.bundleIdentifier == Bundle.main.bundleIdentifier)
        origin.bundleIdentifier = "org.example.app"
        #expect(origin.processName == ProcessInfo.processInfo.processName)
        origin.processName = nil
        #expect(origin.processName == nil && origin.bundleIdentifier == "org.example.app")
        #expect(HistoryOrigin().processName == nil)
    }

    @Test func everySaveIsOneTransactionThatSaysWhatChanged() throws {
        let person = try fixture.row("Manager", ["name": .text("Ada"), "email": .text("ada@x")])
        let other = try fixture.insert("Person")
        var changes = ChangeSet()
        changes.author = "writer"
        changes.contextName = "main"
        changes.inserts = [person]
        var update = try fixture.update(
            other, ["name": .text("x"), "age": .integer(1)], ["home": nil])
        update.changedToManys = [try #require(try fixture.layout("Person").toManySlot("tags"))]
        changes.updates = [update]
        #expect(try fixture.store.save(changes).transactionNumber == 2)
        _ = try fixture.save { $0.deletes = [RowDelete(id: person.id)] }
        let history = try fixture.store.history(after: 1, limit: nil)
        #expect(history.map(\.number) == [2, 3])
        #expect(history[0].author == "writer" && history[0].contextName == "main")
        #expect(history[0].bundleID == "org.example.app" && history[0].processID == "app")
        #expect(history[0].date == StillClock().now())
        #expect(history[0].changes.map(\.kind) == [.insert, .update])
        #expect(history[0].changes.map(\.id) == [person.id, other])
        #expect(history[0].changes[1].changedProperties == ["home", "age", "name", "tags"])
        #expect(history[1].author == nil)
        #expect(history[1].changes.map(\.kind) == [.delete])
        #expect(history[1].changes[0].tombstone == ["email": .text("ada@x")])
        #expect(try fixture.store.history(after: 1, limit: 1).map(\.number) == [2])
        #expect(try fixture.store.lastTransactionNumber() == 3)
    }

    @Test func theTablesAreThoseOfApple() throws {
        let declared = try fixture.sql(
            "SELECT sql FROM sqlite_master WHERE tbl_name LIKE 'ACHANGE' OR tbl_name LIKE 'ATRANS%'"
        ).compactMap { $0[0].string }
        #expect(declared.count == 11)
        #expect(
            declared[0]
                == "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
                + "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
                + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB )"
        )
        try fixture.insert("Tag")
        try fixture.insert("Tag")
        let keys = try fixture.sql(
            "SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        #expect(
            keys == [
                [16001, "CHANGE", 2], [16002, "TRANSACTION", 2], [16003, "TRANSACTIONSTRING", 2],
            ])
        #expect(
            try fixture.sql(
                "SELECT Z_ENT, Z_OPT, ZAUTHOR, ZBUNDLEIDTS, ZPROCESSIDTS, ZTIMESTAMP "
                    + "FROM ATRANSACTION"
            )
                == [
                    [16002, .null, .null, 1, 2, .real(800_000_000.25)],
                    [16002, .null, .null, 1, 2, .real(800_000_000.25)],
                ])
    }

    /// `80` is the first slot: to-ones come before attributes.
    @Test func bitmapsAreThoseOfARealStore() throws {
        let item = TestModel.entity("Item", [TestModel.attribute("name", .stringAttributeType)])
        let recipe = TestModel.entity(
            "CraftingRecipe", [TestModel.attribute("producedItemCount", .integer64AttributeType)])
        TestModel.relate(item, "craftingRecipe", recipe, inverse: "item")
        let component = TestModel.entity("Component", [])
        TestModel.relate(recipe, "requiredComponents", toMany: true, component, inverse: "recipe")
        let fixture = try StoreFixture(TestModel.model([item, recipe, component]))
        let (first, second) = (try fixture.insert("Item"), try fixture.insert("CraftingRecipe"))
        var marked = try fixture.update(second)
        marked.changedToManys = [0]
        _ = try fixture.save {
            $0.updates = [
                try fixture.update(first, [:], ["craftingRecipe": second]), marked,
            ]
        }
        _ = try fixture.save {
            $0.updates = [try fixture.update(second, ["producedItemCount": .integer(2)])]
        }
        let bitmaps = try fixture.sql("SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1")
        #expect(bitmaps == [["80"], ["20"], ["40"]])
    }

    @Test func removedHistoryIsToldFromNoHistory() throws {
        for _ in 0..<5 { try fixture.insert("Tag") }
        try fixture.store.deleteHistory(.upTo(3))
        #expect(try fixture.store.history(after: 3, limit: nil).map(\.number) == [4, 5])
        #expect(try fixture.store.history(after: 0, limit: nil).map(\.number) == [4, 5])
        let error = #expect(throws: StoreError.self) {
            try fixture.store.history(after: 2, limit: nil)
        }
        #expect(error?.code == .historyExpired)
        try fixture.store.deleteHistory(.upTo(5))
        #expect(try fixture.store.lastTransactionNumber() == 5)
        #expect(try fixture.store.history(after: 5, limit: nil).isEmpty)
        #expect(try fixture.sql("SELECT count(*) FROM ACHANGE") == [[0]])
        try fixture.insert("Tag")
        #expect(try fixture.store.lastTransactionNumber() == 6)
    }

    @Test func aSaveThatChangesNothingWritesNoHistory() throws {
        let tag = try fixture.insert("Tag")
        let outcome = try fixture.save { $0.updates = [RowUpdate(id: tag, expectedVersion: 1)] }
        #expect(outcome.transactionNumber == nil && outcome.versions == [tag: 2])
        #expect(try fixture.store.save(ChangeSet()).transactionNumber == nil)
        #expect(try fixture.store.lastTransactionNumber() == 1)
    }

    @Test func aStoreWithoutHistoryKeepsNone() throws {
        var options = SQLiteStoreOptions()
        options.tracksHistory = false
        let plain = try StoreFixture(TestModel.society(), options: options)
        try plain.insert("Tag")
        #expect(!plain.store.keepsHistory)
        #expect(try plain.store.history(after: 0, limit: nil).isEmpty)
        #expect(try plain.store.lastTransactionNumber() == 0)
        #expect(try plain.sql("SELECT count(*) FROM sqlite_master WHERE name = 'ACHANGE'") == [[0]])
    }

    /// Two texts that Swift takes for one are two authors.
    @Test func authorsAreToldApartByTheirBytes() throws {
        for author in ["\u{E9}", "e\u{301}", "\u{E9}"] {
            _ = try fixture.save {
                $0.author = author
                $0.inserts = [try fixture.row("Tag")]
            }
        }
        let history = try fixture.store.history(after: 0, limit: nil)
        #expect(
            history.map { $0.author.map { Array($0.utf8) } } == [
                [0xC3, 0xA9], [0x65, 0xCC, 0x81], [0xC3, 0xA9],
            ])
    }

    /// One thread's save is rolled back while others wait for their turn: none of them may meet a
    /// text or a key that only the lost transaction had.
    @Test func whatIsRolledBackIsForgottenBeforeTheNextThreadsTurn() async throws {
        struct Stop: Error {}
        let store = fixture.store
        let layout = try fixture.layout("Tag")
        @Sendable func changes(_ author: String) throws -> ChangeSet {
            let key = try store.reserveKeys(entity: layout.number, count: 1)[0]
            var set = ChangeSet()
            set.author = author
            set.inserts = [Row(id: RowID(entity: layout.number, key: key), layout: layout)]
            return set
        }
        for round in 0..<200 {
            let author = "author \(round)"
            let (lost, kept) = (try changes(author), try changes(author))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    _ = try? store.write { transaction in
                        _ = try transaction.apply(lost)
                        throw Stop()
                    }
                }
                for _ in 0..<2 {
                    group.addTask {
                        _ = try? store.count(matching: RowQuery(entity: layout.number))
                    }
                }
                group.addTask { _ = try store.save(kept) }
                try await group.waitForAll()
            }
        }
        let authors = try store.history(after: 0, limit: nil).map(\.author)
        #expect(authors == (0..<200).map { "author \($0)" })
    }
}
