import Foundation
import Testing

/// `diptych history`: what was saved, and what may go.
@Suite struct HistoryTests {
    private let workshop: Workshop
    private let library: String

    init() throws {
        workshop = try Workshop()
        library = try workshop.library()
        try workshop.edit(library, "insert Book b title=One\nsave\nset b title=Two\nsave")
        try workshop.edit(library, "insert Tag t name=t\nsave\ndelete t\nsave")
    }

    private func numbers(_ words: String...) throws -> [Int] {
        try workshop.done(["history", library, "--json"] + words).lines.compactMap {
            $0["transaction"] as? Int
        }
    }

    @Test func transactionsAreShownWithTheirChanges() throws {
        let lines = try workshop.done(["history", library, "--json"]).lines
        #expect(
            Set(lines.first.map { Array($0.keys) } ?? []) == [
                "transaction", "date", "author", "context", "bundle", "process", "changes",
            ])
        let changes = lines.flatMap { $0["changes"] as? [[String: Any]] ?? [] }
        #expect(
            changes.map { $0["kind"] as? String } == ["insert", "update", "insert", "delete"])
        #expect(changes.map { $0["entity"] as? String } == ["Book", "Book", "Tag", "Tag"])
        #expect(changes[1]["properties"] as? [String] == ["title"])
        let text = try workshop.done(["history", library]).output
        #expect(text.contains("update  Book/p1  title"))
    }

    @Test func transactionsAreChosen() throws {
        let id = try #require(
            try workshop.done(["history", library, "--json"]).lines
                .flatMap { $0["changes"] as? [[String: Any]] ?? [] }.first?["id"] as? String)
        #expect(try numbers("--object", id) == [1, 2])
        #expect(try numbers("--object", "Tag/p1") == [3, 4])
        #expect(try numbers("--entity", "Book", "--limit", "1") == [1])
        #expect(try numbers("--since", "2", "--until", "3") == [3])
        #expect(try numbers("--since", "2000-01-01") == [1, 2, 3, 4])
        #expect(try numbers("--until", "2000-01-01T00:00:00Z") == [])
        #expect(try numbers("--author", "nobody") == [])
        #expect(
            try workshop.done(["history", library, "--author", "nobody"]).output
                == "No such transactions.\n")
        for words in [
            ["--object", "Book"], ["--entity", "Bok"], ["--since", "yesterday"],
            ["--readers", "--author", "a"], ["--purge-before", "3"],
        ] {
            #expect(try workshop.run(["history", library] + words).status == 2, "\(words)")
        }
    }

    @Test func aPurgeWaitsForReaders() throws {
        try workshop.done([
            "history", library, "--purge-before", "2000-01-01",
        ])
        #expect(try numbers().count == 4)
        _ = try workshop.sql(
            library,
            "CREATE TABLE ADIPTYCHCONSUMER (ZNAME VARCHAR PRIMARY KEY, ZTRANSACTION INTEGER, "
                + "ZDATE TIMESTAMP) WITHOUT ROWID; "
                + "INSERT INTO ADIPTYCHCONSUMER VALUES ('widget', 2, 0)")
        let readers = try workshop.done(["history", library, "--readers", "--json"]).lines
        #expect(readers.map { $0["reader"] as? String } == ["widget"])
        #expect(readers.first?["behind"] as? Int == 2)
        let purge = try workshop.done(["history", library, "--purge-before", "now"]).output
        #expect(purge.contains("Removed 2 transactions") && purge.contains("widget"))
        #expect(try numbers() == [3, 4])
        #expect(try workshop.run("history", library, "--forget-reader", "wigdet").status == 1)
        let forgotten = try workshop.done(
            ["history", library, "--forget-reader", "widget", "--json"])
        #expect(forgotten.output == "{\"forgotten\":\"widget\"}\n")
        let rest = try workshop.done(["history", library, "--purge-before", "now", "--json"]).json
        #expect(rest["transactions"] as? Int == 2 && rest["changes"] as? Int == 2)
        #expect(try numbers().isEmpty)
        #expect(
            try workshop.done(["history", library]).output == "No such transactions.\n")
    }

    /// Marks that only strangers write: they hold, or let go, and stop nobody.
    @Test(arguments: ["\(Int64.min)", "\(Int64.max)", "'text'", "NULL"])
    func marksOfAnyKindAreShown(_ mark: String) throws {
        _ = try workshop.sql(
            library,
            "CREATE TABLE ADIPTYCHCONSUMER (ZNAME VARCHAR PRIMARY KEY, ZTRANSACTION INTEGER, "
                + "ZDATE TIMESTAMP) WITHOUT ROWID; "
                + "INSERT INTO ADIPTYCHCONSUMER VALUES ('odd', \(mark), \(mark))")
        let readers = try workshop.done(["history", library, "--readers", "--json"]).lines
        #expect(readers.map { $0["reader"] as? String } == ["odd"])
        #expect(try workshop.done(["history", library, "--readers"]).output.contains("odd"))
        try workshop.done(["history", library, "--purge-before", "now"])
        #expect(try numbers() == (mark == "\(Int64.max)" ? [] : [1, 2, 3, 4]))
        try workshop.done(["history", library, "--forget-reader", "odd"])
        try workshop.done(["history", library, "--purge-before", "now"])
        #expect(try numbers().isEmpty)
    }
}
