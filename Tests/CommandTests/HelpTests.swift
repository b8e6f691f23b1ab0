import Foundation
import Testing

/// What the command says about itself, and about words it does not know.
@Suite struct HelpTests {
    static let verbs = [
        "sync", "status", "conflicts", "events", "reset", "serve", "inspect", "create",
        "edit", "export", "import", "convert", "model",
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

    @Test func itTellsItsVersion() throws {
        let workshop = try Workshop()
        let run = try workshop.run("--version")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("diptych "))
        #expect(try workshop.run("--version", "--json").json["version"] is String)
    }

    @Test(arguments: [
        (["snc", "x"], "There is no verb 'snc'.", "Did you mean 'diptych sync'?"),
        (
            ["sync", "x", "--servce", "y"], "There is no option --servce.",
            "Did you mean --service?"
        ),
        (["status"], "STORE is missing.", "diptych status STORE"),
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
