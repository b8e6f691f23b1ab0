import ChildProcesses
import Foundation
import Testing

/// Two calls that make the same file at the same moment: one does, the other says that it is there.
@Suite struct TogetherTests {
    private func expectOne(_ workshop: Workshop, _ words: [String]) throws {
        let children = try (0..<2).map { _ in try workshop.start(words) }
        let statuses = children.map { $0.wait() }
        #expect(statuses.sorted() == [0, 1], "\(words)")
        for (child, status) in zip(children, statuses) where status == 1 {
            #expect(child.complaint.contains("is there already."), "\(child.complaint)")
        }
    }

    private func drafts(_ workshop: Workshop) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: workshop.folder.path)
            .filter { $0.hasPrefix(".") && $0.contains("made") }
    }

    @Test func oneOfTwoMakesAStore() throws {
        let workshop = try Workshop()
        for turn in 0..<6 {
            let path = workshop.path("made\(turn).sqlite")
            try expectOne(workshop, ["create", path, "--model", Workshop.model])
            try workshop.done(["inspect", path, "--check"])
        }
        #expect(try drafts(workshop) == [])
    }

    @Test(arguments: ["sqlite", "xml", "binary"])
    func oneOfTwoConverts(type: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let script = (0..<300).map { "insert Tag name=t\($0)" }
        try workshop.edit(library, script.joined(separator: "\n"))
        for turn in 0..<6 {
            let path = workshop.path("made\(turn).\(type)")
            try expectOne(workshop, ["convert", library, path, "--to", type])
            let back = workshop.path("back\(turn).sqlite")
            try workshop.done(
                ["convert", path, back, "--to", "sqlite", "--model", Workshop.model])
            #expect(try workshop.sql(back, "select count(*) from ZTAG") == "300")
        }
        #expect(try drafts(workshop) == [])
    }
}
