import ChildProcesses
import Foundation
import Testing

/// Files that are not what they should be, for every verb that takes a store.
@Suite struct BadInputTests {
    private static let verbs = [
        ["status"], ["conflicts"], ["events"], ["inspect"], ["inspect", "--check"],
        ["inspect", "--schema"], ["inspect", "--entity", "Book"],
        ["sync", "--service", "https://127.0.0.1:1", "--container", "c"],
    ]

    @Test(arguments: verbs) func whatIsNoStoreIsRefused(words: [String]) throws {
        let workshop = try Workshop()
        workshop.environment["DIPTYCH_API_TOKEN"] = "x"
        let files = [
            ("text", "Dear diary, this is no database."), ("empty", ""),
            ("header", "SQLite format 3\0 and then nothing of the kind"),
        ]
        for (name, text) in files {
            let file = try workshop.write(text, to: name)
            try refuse(workshop, words, file)
        }
        try refuse(workshop, words, workshop.path("absent"))
        try refuse(workshop, words, workshop.folder.path)
        let other = workshop.path("other.sqlite")
        _ = try workshop.sql(other, "create table note (text)")
        try refuse(workshop, words, other)
    }

    private func refuse(_ workshop: Workshop, _ words: [String], _ file: String) throws {
        let run = try workshop.run([words[0], file] + words.dropFirst() + ["--json"])
        #expect(run.status == 1, "\(words) \(file)")
        #expect(!run.errorCode.isEmpty, "\(words) \(file): \(run.complaint)")
        let message = run.error["message"] as? String ?? ""
        #expect(message.hasSuffix("."))
        #expect(!message.contains("Error("))
        #expect(run.output.isEmpty)
    }

    @Test func aModelThatContradictsItselfIsRefused() throws {
        let workshop = try Workshop()
        let model = try workshop.model {
            $0.replacing("inverseName=\"pupils\"", with: "inverseName=\"books\"")
        }
        let run = try workshop.run("create", workshop.path("x.sqlite"), "--model", model, "--json")
        #expect(run.status == 1)
        #expect(run.errorCode == "contradictoryModel")
        #expect((run.error["message"] as? String)?.contains("Author.teacher") == true)
        #expect(!FileManager.default.fileExists(atPath: workshop.path("x.sqlite")))
    }

    @Test(arguments: ["<model", "not xml at all", ""]) func aModelThatIsNoneIsRefused(
        text: String
    ) throws {
        let workshop = try Workshop()
        let file = try workshop.write(text, to: "x.xcdatamodel")
        let run = try workshop.run("create", workshop.path("x.sqlite"), "--model", file, "--json")
        #expect(run.status == 1)
        #expect(!run.errorCode.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: workshop.path("x.sqlite")))
    }

    @Test func settingsComeFromFlagsThenVariablesThenFiles() throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        let service = ["--container", "c", "--json"]
        func said() throws -> String {
            try workshop.run(["sync", library] + service).error["message"] as? String ?? ""
        }
        workshop.environment["DIPTYCH_API_TOKEN"] = "x"
        try FileManager.default.createDirectory(
            atPath: workshop.path("config/diptych"), withIntermediateDirectories: true)
        try workshop.write("# far\nservice = far", to: "config/diptych/diptych.conf")
        #expect(try said() == "--service cannot be 'far'.")
        try workshop.write("service = \"near\"", to: "diptych.conf")
        #expect(try said() == "--service cannot be 'near'.")
        workshop.environment["DIPTYCH_SERVICE"] = "variable"
        #expect(try said() == "--service cannot be 'variable'.")
        let flag = try workshop.run(["sync", library, "--service", "flag"] + service)
        #expect(flag.error["message"] as? String == "--service cannot be 'flag'.")
        try workshop.write("servce = x", to: "diptych.conf")
        let run = try workshop.run(["sync", library] + service)
        #expect(run.status == 2)
        #expect(run.errorCode == "badConfiguration")
        #expect((run.error["message"] as? String)?.contains("diptych.conf, line 1") == true)
    }
}
