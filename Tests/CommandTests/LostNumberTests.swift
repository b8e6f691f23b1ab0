import ChildProcesses
import Foundation
import Testing

/// Numbers that a SQLite store does not keep, or not as they are.
@Suite struct LostNumberTests {
    /// An empty store of a model with every kind of property, one of which may be required.
    private func empty(
        _ workshop: Workshop, requiring name: String? = nil
    ) throws -> (store: String, model: String) {
        let (_, model) = try workshop.everyKind()
        if let name {
            let contents = URL(fileURLWithPath: model + "/contents")
            let text = try String(contentsOf: contents, encoding: .utf8).replacing(
                "name=\"\(name)\" optional=\"YES\"", with: "name=\"\(name)\"")
            try Data(text.utf8).write(to: contents)
        }
        let store = workshop.path("Empty.sqlite")
        try workshop.done(["create", store, "--model", model])
        return (store, model)
    }

    private func line(_ values: String) -> String {
        #"{"id":"Item/1","entity":"Item","values":{"name":"a",\#(values)}}"#
    }

    /// An XML store with one object that has the values.
    private func graph(
        _ workshop: Workshop, _ values: String, requiring name: String? = nil
    ) throws -> (store: String, model: String) {
        let (empty, model) = try empty(workshop, requiring: name)
        let store = workshop.path("Graph.xml")
        try workshop.done(["convert", empty, store, "--to", "xml"])
        try workshop.done(["import", store, "-", "--model", model], input: line(values))
        return (store, model)
    }

    /// SQLite has no NaN: the value would be gone, also where one is required.
    @Test(arguments: ["dbl", "flt", "day"], [false, true])
    func anImportRefusesNaN(name: String, isRequired: Bool) throws {
        let workshop = try Workshop()
        let (store, _) = try empty(workshop, requiring: isRequired ? name : nil)
        for word in ["nan", "-nan"] {
            let run = try workshop.run(
                "import", store, "-", "--json", input: line("\"\(name)\":\"\(word)\""))
            #expect(run.status == 1 && run.errorCode == "badLine")
            let message = run.error["message"] as? String ?? ""
            #expect(message.hasPrefix("Line 1: ") && message.contains(name), "\(message)")
        }
        #expect(try workshop.sql(store, "select count(*) from ZITEM") == "0")
    }

    @Test(arguments: ["dbl", "flt"]) func aNumberIsWrittenInTens(name: String) throws {
        let workshop = try Workshop()
        let (store, _) = try empty(workshop)
        let run = try workshop.run(
            "import", store, "-", "--json", input: line("\"\(name)\":\"0x10\""))
        #expect(run.errorCode == "badLine")
        try workshop.done(["import", store, "-"], input: line("\"\(name)\":\"-1.5e1\""))
        #expect(try workshop.sql(store, "select Z\(name.uppercased()) from ZITEM") == "-15.0")
    }

    @Test func anXMLStoreKeepsNaN() throws {
        let workshop = try Workshop()
        let values = #""dbl":"nan","flt":"nan","day":"nan""#
        let (store, model) = try graph(workshop, values)
        let lines = try workshop.done(["export", store, "--model", model]).lines
        let kept = try #require(lines.first?["values"] as? [String: Any])
        for name in ["dbl", "flt", "day"] { #expect(kept[name] as? String == "nan") }
    }

    @Test func aConversionTellsWhichNumbersAreLost() throws {
        let workshop = try Workshop()
        let (store, model) = try graph(workshop, #""dbl":"nan","day":"nan","flt":0.5"#)
        let copy = workshop.path("Copy.sqlite")
        let run = try workshop.run("convert", store, copy, "--to", "sqlite", "--model", model)
        #expect(run.status == 4)
        #expect(run.complaint.contains("2 values"))
        #expect(run.complaint.contains("dbl") && run.complaint.contains("day"))
        #expect(try workshop.sql(copy, "select ZFLT from ZITEM") == "0.5")
        let other = workshop.path("Copy.xml")
        try workshop.done(["convert", store, other, "--to", "xml", "--model", model])
    }

    @Test func aConversionThatWouldLoseARequiredNumberIsRefused() throws {
        let workshop = try Workshop()
        let (store, model) = try graph(workshop, #""dbl":"nan""#, requiring: "dbl")
        let copy = workshop.path("Copy.sqlite")
        let run = try workshop.run("convert", store, copy, "--to", "sqlite", "--model", model)
        #expect(run.status == 1)
        #expect(run.complaint.contains("dbl"))
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test(arguments: ["dbl=nan", "flt=nan", "dbl=-NaN", "flt=1e39", "dbl=1e400"])
    func anEditTakesNoNumberThatIsNone(assignment: String) throws {
        let workshop = try Workshop()
        let (store, _) = try empty(workshop)
        let run = try workshop.run(
            "edit", store, "-", "--json", input: "insert Item a name=a \(assignment)")
        #expect(run.errorCode == "script")
        #expect(try workshop.sql(store, "select count(*) from ZITEM") == "0")
        try workshop.edit(store, "insert Item a name=a dbl=inf flt=-inf")
    }

    /// A column keeps about 15 digits of a decimal.
    @Test func whereDecimalsAreRoundedIsTold() throws {
        let workshop = try Workshop()
        let long = #""dec":"12345678901234567.89""#
        let (graph, model) = try graph(workshop, long)
        let store = workshop.path("Empty.sqlite")
        let run = try workshop.done(["import", store, "-"], input: line(long))
        #expect(run.complaint.contains("1 decimal"))
        let short = try workshop.done(
            ["import", store, "-"], input: line(#""dec":"12345678901234.5""#))
        #expect(short.complaint.isEmpty)
        let copy = workshop.path("Copy.sqlite")
        let made = try workshop.done(["convert", graph, copy, "--to", "sqlite", "--model", model])
        #expect(made.complaint.contains("1 decimal"))
    }
}
