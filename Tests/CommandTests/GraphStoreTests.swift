import Foundation
import Testing

/// XML and binary stores, looked into.
@Suite struct GraphStoreTests {
    private func converted(_ workshop: Workshop, to type: String) throws -> String {
        let library = try workshop.library()
        try workshop.edit(
            library, "insert Author a name=A\ninsert Book b title=B pages=300 author=a\nsave")
        let other = workshop.path("Library.other")
        try workshop.done(["convert", library, other, "--to", type])
        return other
    }

    @Test(arguments: ["xml": "XML", "binary": "Binary"])
    func theFactsHaveTheShapeOfSQLite(type: String, name: String) throws {
        let workshop = try Workshop()
        let store = try converted(workshop, to: type)
        let json = try workshop.done(["inspect", store, "--json", "--model", Workshop.model]).json
        let facts = json["store"] as? [String: Any] ?? [:]
        #expect(Set(facts.keys) == ["type", "uuid", "frameworkVersion", "metadata"])
        #expect(facts["type"] as? String == name)
        #expect(facts["frameworkVersion"] is Int)
        #expect(json["history"] is NSNull && json["mirror"] is NSNull)
        let entities = json["entities"] as? [[String: Any]] ?? []
        let person = entities.first { $0["name"] as? String == "Person" }
        #expect(person?["count"] as? Int == 0)
        #expect(person?["countWithSubentities"] as? Int == 1)
        #expect((person?["versionHash"] as? String)?.count == 64)
        let text = try workshop.done(["inspect", store, "--model", Workshop.model]).output
        #expect(text.contains("\(name == "XML" ? "an XML" : "a binary") store"))
    }

    @Test(arguments: ["xml", "binary"]) func aStoreWithoutItsModelStillCounts(type: String) throws {
        let workshop = try Workshop()
        let store = try converted(workshop, to: type)
        let json = try workshop.done(["inspect", store, "--json"]).json
        let counts = (json["entities"] as? [[String: Any]] ?? []).reduce(into: [String: Int]()) {
            $0[$1["name"] as? String ?? ""] = $1["count"] as? Int
        }
        #expect(counts["Author"] == 1 && counts["Book"] == 1 && counts["Tag"] == 0)
        #expect(json["model"] as? String == "inferred")
        let rows = try workshop.done(["inspect", store, "--entity", "Book", "--json"]).lines
        #expect(rows.count == 1 && rows.first?["entity"] as? String == "Book")
    }

    @Test(arguments: ["xml", "binary"]) func objectsAreChosen(type: String) throws {
        let workshop = try Workshop()
        let store = try converted(workshop, to: type)
        let words = ["inspect", store, "--model", Workshop.model, "--entity", "Book", "--json"]
        let lines = try workshop.done(words + ["--where", "pages > 200"]).lines
        #expect(lines.count == 1)
        let links = lines.first?["relationships"] as? [String: Any] ?? [:]
        #expect((links["author"] as? String)?.contains("/Author/p") == true)
        #expect(try workshop.done(words + ["--where", "pages > 400"]).lines.isEmpty)
    }

    @Test(arguments: ["xml", "binary"]) func damageIsFound(type: String) throws {
        let workshop = try Workshop()
        let store = try converted(workshop, to: type)
        let words = ["inspect", store, "--check", "--json", "--model"]
        #expect(try workshop.done(words + [Workshop.model]).json["ok"] as? Bool == true)
        let other = try workshop.model { $0.replacing("name=\"shelf\"", with: "name=\"place\"") }
        let mismatch = try workshop.run(words + [other])
        #expect(mismatch.status == 1)
        let problems = mismatch.json["problems"] as? [[String: Any]] ?? []
        #expect(problems.first?["code"] as? String == "otherModel")
        let data = try Data(contentsOf: URL(fileURLWithPath: store))
        try data.prefix(data.count * 2 / 3).write(to: URL(fileURLWithPath: store))
        let damaged = try workshop.run(words + [Workshop.model])
        #expect(damaged.status == 1)
        #expect((damaged.json["problems"] as? [Any])?.count == 1)
    }

    @Test func whatIsNoStoreIsRefused() throws {
        let workshop = try Workshop()
        let file = try workshop.write("<?xml version=\"1.0\"?><plist/>", to: "some.xml")
        let run = try workshop.run("inspect", file, "--json")
        #expect(run.status == 1)
        #expect(run.errorCode == "notAStore")
        let store = try converted(workshop, to: "xml")
        let edit = try workshop.run("edit", store, "-", "--json", input: "")
        #expect(edit.errorCode == "unsupported")
        #expect((edit.error["hint"] as? String)?.contains("diptych convert") == true)
    }
}
