import ChildProcesses
import Foundation
import Testing

@testable import diptych

/// What the command says about itself, and about words it does not know.
@Suite struct HelpTests {
    static let verbs = [
        "sync", "status", "share", "conflicts", "events", "trace", "verify", "reset", "sign-in",
        "serve",
        "service", "inspect", "history", "create", "edit", "export", "import", "convert",
        "migrate", "model", "key", "scenario", "simulate", "completion",
    ]

    @Test(arguments: verbs) func eachVerbHasHelpWithAnExample(verb: String) throws {
        let workshop = try Workshop()
        for words in [[verb, "--help"], ["help", verb], [verb, "-h"]] {
            let run = try workshop.run(words)
            #expect(run.status == 0)
            #expect(run.output.contains("Examples\n"))
            #expect(run.output.contains("\n  diptych \(verb)"))
            #expect(run.output.contains("--json"))
            #expect(run.complaint.isEmpty)
        }
    }

    @Test func theCommandListsItsVerbs() throws {
        let workshop = try Workshop()
        let run = try workshop.run("--help")
        #expect(run.status == 0)
        for verb in Self.verbs { #expect(run.output.contains("\n  \(verb) ")) }
        #expect(run.output.contains("Example\n"))
        let bare = try workshop.run([])
        #expect(bare.status == 2)
        #expect(bare.output.isEmpty)
    }

    @Test func optionsMayStandBeforeTheVerbThatTheHelpIsAbout() throws {
        let workshop = try Workshop()
        for words in [["help", "--json", "sync"], ["help", "sync", "--json"]] {
            #expect(try workshop.done(words).json["name"] as? String == "sync")
        }
        #expect(try workshop.done(["help", "--json"]).json["verbs"] is [Any])
    }

    @Test func nothingIsMeantByAWordThatIsLongerThanAnyOther() {
        let names = VerbTable.manuals.map(\.name)
        #expect(Spelling.nearest(to: "sinc", among: names) == "sync")
        #expect(Spelling.nearest(to: "simulateeee", among: names) == "simulate")
        let long = String(repeating: "a", count: 1000)
        let close = String(repeating: "a", count: 999)
        #expect(Spelling.nearest(to: long, among: names + [close]) == close)
        #expect(Spelling.nearest(to: long, among: names) == nil)
    }

    @Test func aSettingIsMissedWhereItCanBe() throws {
        let workshop = try Workshop()
        let store = try workshop.library()
        #expect(try workshop.run("sync", store).complaint.contains("diptych.conf beside the store"))
        let run = try workshop.run("sign-in")
        #expect(run.complaint.contains("diptych.conf in XDG_CONFIG_HOME"))
    }

    @Test func itTellsItsVersion() throws {
        let workshop = try Workshop()
        let run = try workshop.run("--version")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("diptych "))
        #expect(try workshop.run("--version", "--json").json["version"] is String)
        #expect(try workshop.run("-v").output == run.output)
        #expect(try workshop.run("--json", "--version").json["version"] is String)
    }

    @Test func theShellCompletesVerbsOptionsAndWords() throws {
        let workshop = try Workshop()
        let script = try workshop.done(["completion", "bash"]).output
        try workshop.write(script, to: "diptych.bash")
        func completed(_ words: String...) throws -> [String] {
            let line = """
                source '\(workshop.path("diptych.bash"))'
                COMP_WORDS=(diptych \(words.map { "'\($0)'" }.joined(separator: " ")))
                COMP_CWORD=\(words.count)
                _diptych
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let child = try workshop.start("/usr/bin/env", ["bash", "-c", line])
            #expect(child.wait() == 0 && child.complaint.isEmpty, "\(child.complaint)")
            return child.printed.split(separator: "\n").map(String.init)
        }
        #expect(try completed("con") == ["conflicts", "convert"])
        #expect(try completed("help", "st") == ["status"])
        #expect(try completed("sync", "x.sqlite", "--re") == ["--remember"])
        #expect(try completed("sync", "x.sqlite", "--policy", "l") == ["local", "latest"])
        #expect(try completed("conflicts", "x", "--take", "") == ["base", "local", "remote"])
        #expect(try completed("convert", "x", "y", "--to", "b") == ["binary"])
        #expect(try completed("sync", "x").isEmpty)
        #expect(try completed("help", "sync", "").isEmpty)
        // The works of a verb, at their place alone.
        #expect(try completed("model", "d") == ["describe", "diff"])
        #expect(try completed("service", "--data", "records", "us") == ["users"])
        #expect(try completed("service", "--json", "us") == ["users"])
        #expect(try completed("service", "--data", "us").isEmpty)
        #expect(try completed("service", "users", "us").isEmpty)
        #expect(try completed("service", "--data=records", "us") == ["users"])
        #expect(try completed("share", "inv").isEmpty)
        #expect(try completed("share", "x.sqlite", "inv") == ["invite"])
        #expect(try completed("key", "ro") == ["rotate"])
        #expect(try completed("scenario", "") == ["run", "new"])
        #expect(try completed("completion", "") == ["bash", "zsh", "fish"])
        let fish = try workshop.done(["completion", "fish"]).output
        #expect(fish.contains("-n '__diptych_verb sync' -l policy -x -a 'local "))
        #expect(
            fish.contains("-n '__diptych_verb key; and __diptych_place 2' -f -a 'create show "))
        #expect(try workshop.done(["completion", "zsh"]).output.hasPrefix("#compdef diptych\n"))
        #expect(try workshop.run("completion", "csh").status == 2)
    }

    @Test func helpIsJSONWhereJSONIsAskedFor() throws {
        let workshop = try Workshop()
        for words in [["--help", "--json"], ["--json", "--help"], ["help", "--json"]] {
            let whole = try workshop.done(words)
            #expect(whole.lines.count == 1)
            let verbs = whole.json["verbs"] as? [[String: Any]] ?? []
            #expect(verbs.compactMap { $0["name"] as? String } == Self.verbs)
        }
        for words in [["sync", "--help", "--json"], ["help", "sync", "--json"]] {
            let one = try workshop.done(words)
            #expect(one.json["operands"] as? [String] == ["STORE"])
            let options = one.json["options"] as? [[String: Any]] ?? []
            #expect(options.contains { $0["name"] as? String == "service" })
            #expect(one.output.hasPrefix("{"))
        }
    }

    @Test(arguments: [
        "test", "demo", "setup", "bench", "soak", "corpus", "fuzz", "examples",
    ]) func toolsPrintTheirHelpAndStartNothing(tool: String) throws {
        let workshop = try Workshop()
        let script = Workshop.package.appendingPathComponent("Tools/\(tool)").path
        // Nothing that a tool could start is on the path, but for what reads its own text.
        let bin = workshop.folder.appendingPathComponent("bin")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        for name in ["bash", "sed", "dirname", "cat", "env"] {
            let found = ["/usr/bin/", "/bin/"].map { $0 + name }
                .first(where: FileManager.default.fileExists)
            try FileManager.default.createSymbolicLink(
                atPath: bin.appendingPathComponent(name).path,
                withDestinationPath: try #require(found))
        }
        workshop.environment["PATH"] = bin.path
        let child = try workshop.start("/bin/bash", [script, "--help"])
        #expect(child.wait() == 0, "\(child.complaint)")
        #expect(child.printed.contains("usage: Tools/\(tool)"))
        #expect(child.complaint.isEmpty)
    }

    @Test(arguments: [
        (["snc", "x"], "There is no verb 'snc'.", "Did you mean `diptych sync`?"),
        (
            ["sync", "x", "--servce", "y"], "There is no option --servce.",
            "Did you mean --service?"
        ),
        (["status"], "STORE is missing.", "diptych status STORE"),
        (["status", ""], "STORE is missing.", "diptych status STORE"),
        (["edit", "x", ""], "SCRIPT is missing.", "diptych edit STORE SCRIPT"),
        (["inspect", "x", "--entity", "A", "--limit", "0"], "--limit cannot be '0'.", "from 1"),
        (["verify", "x", "--limit", "0"], "--limit cannot be '0'.", "from 1"),
        (["history", "x", "--limit", "0"], "--limit cannot be '0'.", "from 1"),
        (
            ["history", "x", "--limit", "a"], "--limit is a whole number, which 'a' is not.",
            "from 1"
        ),
        (["status", "a", "b"], "'b' is one word too many.", "quotes"),
        (["sync", "x", "--service"], "--service lacks its value.", "--service URL"),
        (["status", "x", "--json=yes"], "--json takes no value.", "alone"),
        (["status", "x", "--zone", "a", "--zone", "b"], "--zone is given twice.", "once"),
        (["status", "x", "-z"], "There is no option -z.", "spelled out"),
        (["sync", "x", "--container", "c"], "--service is missing.", "DIPTYCH_SERVICE"),
        (
            ["sync", "x", "--container", "c", "--policy", "lokal"], "--policy cannot be 'lokal'.",
            "Did you mean local?"
        ), (["conflicts", "x", "--resolve", "3"], "--resolve and --take go together.", "--take"),
        (["inspect", "x", "--limit", "3"], "--limit needs --entity.", "--entity"),
        (["model", "dif", "x"], "WORK cannot be 'dif'.", "Did you mean diff?"),
        (["model", "diff", "x"], "NEWER is missing.", "diptych model diff MODEL NEWER"),
        (["model", "hash", "x", "y"], "'y' is one word too many.", "diptych model hash MODEL"),
        (["convert", "x", "y"], "--to is missing.", "--to sqlite"),
        (["serve", "--listen", "nowhere"], "--listen cannot be 'nowhere'.", "ADDRESS:PORT"),
        (["serve", "--tls", "maybe"], "--tls cannot be 'maybe'.", "auto"),
    ]) func wrongUsageIsSaidInASentenceWithAHint(
        words: [String], message: String, hint: String
    ) throws {
        let workshop = try Workshop()
        let run = try workshop.run(words)
        #expect(run.status == 2)
        #expect(run.output.isEmpty)
        let lines = run.complaint.split(separator: "\n").map(String.init)
        #expect(lines.count == 2)
        #expect(lines.first == "diptych: \(message)")
        #expect(lines.last?.hasPrefix("hint: ") == true)
        #expect(lines.last?.contains(hint) == true)
    }

    @Test func errorsAreJSONWhereJSONIsAskedFor() throws {
        let workshop = try Workshop()
        let run = try workshop.run("status", workshop.path("none.sqlite"), "--json")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(Set(run.error.keys) == ["code", "message", "hint"])
        #expect(run.errorCode == "noStore")
    }
}
