import ChildProcesses
import Foundation
import Testing

/// What a failure tells to do can be done as it stands there.
@Suite struct HintTests {
    /// The commands of a hint, between backticks.
    private static func commands(in text: String) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// Runs a line as a shell would, in the workshop's folder, with the command on the path.
    private func shell(_ workshop: Workshop, _ line: String) throws -> Run {
        let bin = URL(fileURLWithPath: Workshop.command).deletingLastPathComponent().path
        let script = "cd '\(workshop.folder.path)' && PATH='\(bin)':\"$PATH\" && \(line)"
        let child = try workshop.start("/usr/bin/env", ["bash", "-c", script])
        return Run(status: child.wait(), output: child.printed, complaint: child.complaint)
    }

    @Test func aHintRunsAsItIsPrinted() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        try FileManager.default.createDirectory(
            atPath: workshop.path("it's $HOME here"), withIntermediateDirectories: true)
        let store = "it's $HOME here/my store.sqlite"
        let quoted = "'it'\\''s $HOME here/my store.sqlite'"
        let missing = try shell(workshop, "diptych inspect \(quoted) --model '\(Workshop.model)'")
        let create = try #require(Self.commands(in: missing.complaint).first)
        #expect(create == "diptych create \(quoted) --model \(Workshop.model)")
        #expect(try shell(workshop, create).status == 0)
        #expect(FileManager.default.fileExists(atPath: workshop.path(store)))

        let fresh = try shell(workshop, "diptych status \(quoted) --zone own")
        #expect(fresh.output.contains("`diptych sync \(quoted) --zone own`"))
        let flags = service.settings.map { "'\($0)'" }.joined(separator: " ")
        #expect(try shell(workshop, "diptych sync \(quoted) \(flags)").status == 0)
        let other = try workshop.service("--data", workshop.path("other"))
        let otherFlags = other.settings.map { "'\($0)'" }.joined(separator: " ")
        let refused = try shell(workshop, "diptych sync \(quoted) \(otherFlags)")
        let advised = Self.commands(in: refused.complaint)
        #expect(advised.count == 2)
        #expect(advised.first?.hasSuffix(" --moved") == true)
        #expect(advised.first?.contains("--service \(other.text("url"))") == true)
        #expect(advised.last == "diptych reset \(quoted)")
        for line in advised.reversed() { #expect(try shell(workshop, line).status == 0) }
    }

    @Test func wholePathsAreTold() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let lost = workshop.path("nowhere/nope/X")
        let text = try workshop.write("x", to: "text.sqlite")
        for words in [
            ["inspect", lost], ["model", "describe", lost], ["edit", library, lost],
            ["import", library, lost], ["create", workshop.path("n"), "--model", lost],
        ] {
            let run = try workshop.run(words)
            #expect(run.complaint.contains(lost), "\(words): \(run.complaint)")
        }
        #expect(try workshop.run("inspect", text).complaint.contains(text))
        #expect(
            try workshop.run("create", library, "--model", Workshop.model).complaint
                .contains(library))
        _ = try workshop.sql(library, "delete from Z_MODELCACHE")
        #expect(try workshop.run("export", library).complaint.contains(library))
    }

    @Test func aMissingFolderIsNamed() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let missing = workshop.path("nowhere")
        let file = missing + "/nope/X.mom"
        for words in [
            ["create", file, "--model", Workshop.model],
            ["convert", library, file, "--to", "xml"], ["model", "convert", Workshop.model, file],
            ["serve", "--data", workshop.path("s"), "--ready-file", file],
        ] {
            let run = try workshop.run(words)
            #expect(run.status == 1)
            #expect(run.complaint.contains("There is no folder \(missing), so"), "\(words)")
            #expect(Self.commands(in: run.complaint) == ["mkdir -p \(missing)/nope"])
        }
    }

    @Test func aStoreOfAnotherVersionIsToldTheVerbThatMigratesIt() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let other = try workshop.model { $0.replacing("name=\"shelf\"", with: "name=\"place\"") }
        let run = try workshop.run("inspect", library, "--entity", "Book", "--model", other)
        #expect(run.status == 1)
        #expect(run.complaint.contains("diptych migrate STORE --to MODEL"))
        try workshop.done(["migrate", library, "--to", other])
        try workshop.done(["inspect", library, "--entity", "Book", "--model", other])
    }

    @Test func theAddressThatDoesNotAnswerIsNamed() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.done(["sync", library] + service.settings)
        service.kill()
        let port = try HeldPort(of: service.text("url"))
        defer { withExtendedLifetime(port) {} }
        let run = try workshop.run(["sync", library] + service.settings)
        #expect(run.status == 75)
        #expect(run.complaint.contains("Nothing answers at \(service.text("url"))."))
        // The waits between the tries, in seconds, with their reason.
        #expect(run.complaint.contains("trying again in "))
        #expect(!run.complaint.contains(" ms"))
        let status = try workshop.run("status", library)
        #expect(status.output.contains("Nothing answers at \(service.text("url"));"))
    }

    @Test func aDeletedObjectsValueCannotBePutBackAndThatIsSaid() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let (desk, phone) = (try workshop.library("d.sqlite"), try workshop.library("p.sqlite"))
        try workshop.edit(desk, "insert Book title=a pages=1")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        try workshop.edit(desk, "delete Book[pages == 1]")
        try workshop.edit(phone, "set Book[pages == 1] shelf=kept")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        let log = try workshop.done(["conflicts", phone]).output
        #expect(log.contains("(deleted)"))
        let run = try workshop.run("conflicts", phone, "--resolve", "1", "--take", "local")
        #expect(run.status == 1)
        #expect(run.complaint.contains("is deleted, so its value cannot be put back."))
        let again = try #require(Self.commands(in: run.complaint).first)
        let lines = try shell(workshop, again)
        #expect(lines.json["local"] as? String == "kept")
    }
}
