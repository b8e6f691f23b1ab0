import Foundation
import Testing

/// A line of the conflict log can be traced to its object, to the device, and to who decided.
@Suite struct ConflictNamesTests {
    private struct Clash {
        let workshop: Workshop
        let service: TestService
        let desk: String
        let phone: String
        var settings: [String] { service.settings }
    }

    /// Two devices that gave one book two titles and two authors.
    private func clash(_ words: String...) throws -> Clash {
        let workshop = try Workshop()
        let clash = Clash(
            workshop: workshop, service: try workshop.service(),
            desk: try workshop.library("desk.sqlite"), phone: try workshop.library("phone.sqlite"))
        try workshop.edit(
            clash.desk,
            """
            insert Author one name=One
            insert Author two name=Two
            insert Book title="A title that takes some room in any table" pages=1
            """)
        for store in [clash.desk, clash.phone] {
            try workshop.done(["sync", store] + clash.settings)
        }
        let edits = [(clash.desk, "One", "Desk"), (clash.phone, "Two", "Phone")]
        for (store, author, title) in edits {
            try workshop.edit(
                store,
                "set Book[pages == 1] author=Author[name == '\(author)'] "
                    + "title=\"\(title) gives it a title of its own\"")
        }
        try workshop.done(["sync", clash.desk] + clash.settings)
        _ = try workshop.run(["sync", clash.phone] + words + clash.settings)
        return clash
    }

    @Test func conflictsSpellBooleansAsInspectDoes() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let model = try workshop.model {
            $0.replacing(
                "<attribute name=\"pages\"",
                with: "<attribute name=\"seen\" optional=\"YES\" attributeType=\"Boolean\"/>"
                    + "<attribute name=\"pages\"")
        }
        let stores = ["desk.sqlite", "phone.sqlite"].map(workshop.path)
        for store in stores { try workshop.done(["create", store, "--model", model]) }
        try workshop.edit(stores[0], "insert Book title=Emma")
        for store in stores { try workshop.done(["sync", store] + service.settings) }
        for (store, seen) in zip(stores, ["true", "false"]) {
            try workshop.edit(store, "set Book[title == 'Emma'] seen=\(seen)")
        }
        for store in stores { _ = try workshop.run(["sync", store] + service.settings) }
        let text = try workshop.done(["conflicts", stores[1]]).output
        let words = text.split(whereSeparator: \.isWhitespace)
        #expect(words.contains("seen") || text.contains("seen:"), "\(text)")
        #expect(words.contains("yes") && words.contains("no"), "\(text)")
        #expect(!words.contains("0"), "\(text)")
    }

    @Test func conflictsInspectAndExportCallAnObjectTheSame() throws {
        let clash = try clash()
        let workshop = clash.workshop
        let log = try workshop.done(["conflicts", clash.phone, "--json"]).lines
        let ids = log.compactMap { ($0["object"] as? String)?.split(separator: "/") }
            .map { $0.suffix(2).joined(separator: "/") }
        let exported = try workshop.done(["export", clash.phone]).lines
            .filter { $0["entity"] as? String == "Book" }.compactMap { $0["id"] as? String }
        #expect(Set(ids) == Set(exported))
        let text = try workshop.done(["conflicts", clash.phone]).output
        let book = try #require(exported.first)
        #expect(text.contains(" \(book) "))
        #expect(
            try workshop.done(["inspect", clash.phone, "--entity", "Book"]).output.contains(book))
        // Links lead to objects, too.
        let author =
            try workshop.done([
                "inspect", clash.phone, "--entity", "Author", "--where", "name == 'One'", "--json",
            ]).json["id"] as? String
        let link = try #require(author).split(separator: "/").suffix(2).joined(separator: "/")
        #expect(text.contains(link))
        #expect(log.allSatisfy { ($0["record"] as? String)?.isEmpty == false })
    }

    @Test func theDeviceThatWroteIsNamedAsItNamesItself() throws {
        let clash = try clash()
        let own = try clash.workshop.run("status", clash.desk, "--json").json["device"] as? String
        let log = try clash.workshop.done(["conflicts", clash.phone, "--json"]).lines
        #expect(log.count == 2)
        #expect(log.allSatisfy { $0["device"] as? String == own })
        let short = try #require(own).prefix(8)
        let text = try clash.workshop.done(["conflicts", clash.phone]).output
        #expect(text.contains("of device \(short)"))
        #expect(try clash.workshop.run("status", clash.desk).output.contains(try #require(own)))
    }

    @Test func theLogFitsEightyColumnsAndWideShowsAll() throws {
        let clash = try clash()
        let narrow = try clash.workshop.done(["conflicts", clash.phone]).output
        #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(narrow)")
        #expect(narrow.contains("A title that takes some room"))
        let wide = try clash.workshop.done(["conflicts", clash.phone, "--wide"]).output
        #expect(wide.split(separator: "\n").count == 3)
        #expect(wide.contains("\"A title that takes some room in any table\""))
        #expect(wide.contains("\"Phone gives it a title of its own\""))
    }

    @Test func aDecisionByHandIsNoRules() throws {
        let clash = try clash("--policy", "error")
        let workshop = clash.workshop
        let waiting = try workshop.run("conflicts", clash.phone, "--json")
        #expect(waiting.status == 3)
        let ids = waiting.lines.compactMap { $0["id"] as? Int }
        #expect(waiting.lines.allSatisfy { $0["rule"] as? String == "error" })
        for id in ids {
            let words = ["conflicts", clash.phone, "--resolve", "\(id)", "--take", "local"]
            _ = try workshop.run(words)
        }
        let settled = try workshop.done(["conflicts", clash.phone, "--json"]).lines
        #expect(settled.allSatisfy { $0["rule"] as? String == "hand" })
        let text = try workshop.done(["conflicts", clash.phone]).output
        #expect(text.contains("kept local, by hand"))
    }
}
