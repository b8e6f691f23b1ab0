import ChildProcesses
import Foundation
import SQLiteDriver
import Testing

@testable import diptych

/// Tokens that end, pages of other addresses, and schemas of models: what operators set up.
@Suite struct TokenVerbTests {
    private let workshop: Workshop
    private let service: TestService
    private let data: String

    init() throws {
        workshop = try Workshop()
        service = try workshop.service("--allow-origin", "https://notes.example.org")
        data = service.text("dataFolder")
    }

    private func ask(_ words: String...) throws -> Run {
        try workshop.run(["service"] + words + ["--data", data])
    }

    private func issue(_ name: String, _ words: String...) throws -> Run {
        try workshop.run(
            [
                "service", "tokens", "--data", data, "--issue", "owner", "--container",
                service.text("container"), "--token-file", workshop.path(name),
            ] + words)
    }

    /// Their texts would be nowhere, and they would be good.
    @Test func noTokensAreMadeForAFileThatCannotBe() throws {
        let before = try ask("tokens", "--json").lines.count
        let words = ["--token-file", "/proc/ann.tokens", "--data", data]
        for deed in [
            ["--issue", "owner", "--container", service.text("container")],
            ["--administrator", "root"],
        ] {
            let run = try workshop.run(["service", "tokens", "--json"] + deed + words)
            #expect(run.status == 1 && run.errorCode == "cannotWrite")
        }
        #expect(try ask("tokens", "--json").lines.count == before)
    }

    private func days(_ label: String) throws -> Double? {
        let token = try #require(
            try ask("tokens", "--json").lines.first {
                $0["kind"] as? String == "user" && $0["label"] as? String == label
            })
        let format = ISO8601DateFormatter()
        return try (token["expiresAt"] as? String).map { text in
            let end = try #require(format.date(from: text))
            return (end.timeIntervalSinceNow / 86_400).rounded()
        }
    }

    @Test func issuedTokensEndUnlessTold() throws {
        #expect(try issue("a.tokens").status == 0)
        #expect(try issue("b.tokens", "--days", "30").status == 0)
        #expect(try issue("c.tokens", "--days", "none").status == 0)
        #expect(try days("a.tokens") == 365)
        #expect(try days("b.tokens") == 30)
        #expect(try days("c.tokens") == nil)
        // What the folder of the service holds is its owner's, without an end.
        #expect(try days("serve") == nil)
        #expect(try ask("tokens").output.contains("ENDS"))
        for wrong in ["0", "-1", "soon", "40000"] {
            #expect(try issue("d.tokens", "--days", wrong).status == 2)
        }
        #expect(try ask("users", "--days", "3").status == 2)
    }

    @Test func allTokensOfAUserEndAtOnce() throws {
        #expect(try issue("a.tokens").status == 0)
        let library = try workshop.library()
        try workshop.done(["sync", library] + service.settings)
        let ended = try ask("tokens", "--revoke-all", "owner")
        #expect(ended.status == 0 && ended.output.contains("2 tokens ended."))
        #expect(try workshop.run(["sync", library] + service.settings).status == 1)
        #expect(try ask("tokens", "--revoke-all", "Bob").status == 1)
        #expect(try ask("tokens", "--revoke-all", "owner", "--revoke", "x").status == 2)
    }

    private func renew(_ file: String) throws -> Run {
        try workshop.run([
            "sign-in", "--renew", "--json", "--service", service.text("url"), "--container",
            service.text("container"), "--ca-file", service.text("caFile"), "--token-file",
            file,
        ])
    }

    @Test func aLinkedTokenFileIsRenewedWhereItIs() throws {
        #expect(try issue("real.tokens", "--days", "30").status == 0)
        let (file, link) = (workshop.path("real.tokens"), workshop.path("a.tokens"))
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "real.tokens")
        let issued = try String(contentsOfFile: file, encoding: .utf8)
        let rows = try Connection(path: data + "/records.sqlite")
        try rows.script("UPDATE token_lives SET ends_at = ends_at - 25 * 86400000")
        #expect(try renew(link).json["renewed"] as? Bool == true)
        #expect(try String(contentsOfFile: file, encoding: .utf8) != issued)
        let destination = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
        #expect(destination == "real.tokens")
    }

    @Test func aTokenFileIsRenewedInTime() throws {
        #expect(try issue("a.tokens", "--days", "30").status == 0)
        let file = workshop.path("a.tokens")
        func renew() throws -> Run { try self.renew(file) }
        let issued = try String(contentsOfFile: file, encoding: .utf8)
        #expect(try renew().json["renewed"] as? Bool == false)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == issued)
        // As it is five days before the end.
        let rows = try Connection(path: data + "/records.sqlite")
        try rows.script("UPDATE token_lives SET ends_at = ends_at - 25 * 86400000")
        #expect(try renew().json["renewed"] as? Bool == true)
        let renewed = try String(contentsOfFile: file, encoding: .utf8)
        #expect(renewed != issued)
        let mode = try FileManager.default.attributesOfItem(atPath: file)
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try days("a.tokens") == 30)
        #expect(try renew().json["renewed"] as? Bool == false)
        // A copy of the file that was not renewed ends an hour later.
        try rows.script("UPDATE token_lives SET former_until = 1")
        try issued.write(toFile: file, atomically: true, encoding: .utf8)
        let late = try renew()
        #expect(late.status == 1 && late.complaint.contains("AUTHENTICATION_REQUIRED"))
    }

    @Test(arguments: [Int.min, -5, 0, 5, .max]) func aServiceIsAskedNowAndThen(seconds: Int) {
        let codes = SignIn.Codes(
            deviceCode: "d", userCode: "ABCD-EFGH", path: "/console", expiresInSeconds: seconds,
            intervalSeconds: seconds
        ).bounded
        #expect((1...3_600).contains(codes.intervalSeconds))
        #expect((0...86_400).contains(codes.expiresInSeconds))
        #expect(seconds != 5 || codes.intervalSeconds == 5 && codes.expiresInSeconds == 5)
    }

    @Test func aSignInOutlivesALostRequest() throws {
        let canned = try CannedService([
            #"{"deviceCode":"d","userCode":"ABCD-EFGH","path":"/console","#
                + #""expiresInSeconds":60,"intervalSeconds":1}"#,
            nil, #"{"state":"waiting"}"#, nil, nil,
            #"{"state":"approved","api":"dpt_1_a","user":"dpt_2_b"}"#,
        ])
        let file = workshop.path("new.tokens")
        let run = try workshop.run(
            "sign-in", "--service", "http://127.0.0.1:\(canned.port)", "--container",
            "iCloud.local.diptych", "--token-file", file)
        #expect(run.status == 0, "\(run.complaint)")
        let tokens = try? String(contentsOfFile: file, encoding: .utf8)
        #expect(tokens?.contains("user: dpt_2_b") == true)
    }

    /// No code is shown to anybody whose tokens could not be kept.
    @Test func aFileThatCannotBeMadeIsToldBeforeTheCode() throws {
        let canned = try CannedService([])
        let run = try workshop.run(
            "sign-in", "--service", "http://127.0.0.1:\(canned.port)", "--container",
            "iCloud.local.diptych", "--token-file", "/proc/new.tokens", "--json")
        #expect(run.status == 1 && run.errorCode == "cannotWrite", "\(run.complaint)")
    }

    @Test func anOriginIsAllowedByServe() throws {
        let child = try workshop.start(
            "/usr/bin/env",
            [
                "curl", "-s", "-i", "--cacert", service.text("caFile"), "-H",
                "Origin: https://notes.example.org", service.text("url") + "/capabilities",
            ])
        #expect(child.wait() == 0)
        #expect(
            child.printed.lowercased().contains(
                "access-control-allow-origin: https://notes.example.org"))
        for wrong in ["https://a.org/x", "*", "iCloud.a=b"] {
            let refused = try workshop.run([
                "serve", "--data", workshop.path("other"), "--listen", "127.0.0.1:0",
                "--allow-origin", wrong,
            ])
            #expect(refused.status == 2 && refused.complaint.contains("--allow-origin"))
        }
    }

    @Test func theSchemaOfAModelHasWhatItsStoresSend() throws {
        let file = workshop.path("Library.ckdb")
        let text = try workshop.done(["model", "schema", Workshop.model]).output
        #expect(text.hasPrefix("DEFINE SCHEMA") && text.contains("RECORD TYPE CD_Book"))
        #expect(text.contains("RECORD TYPE CDMR") && text.contains("CD_price_exact"))
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let container = ["--container", service.text("container"), "--data", data]
        try workshop.done(["service", "schema", "--import", file] + container)
        let library = try workshop.library()
        try workshop.edit(
            library,
            """
            insert Tag name=a
            insert Book title=Dune price=12.000000000000000000000001
            """)
        try workshop.done(["sync", library] + service.settings)
        // What devices send is in the schema: nothing is new by them.
        let grown = try workshop.done(
            ["service", "schema", "--diff", file] + container)
        #expect(grown.output.contains("The schemas say the same."))
        let json = try workshop.done(["model", "schema", Workshop.model, "--json"]).json
        #expect((json["schema"] as? String).map { $0 + "\n" } == text)
    }

    @Test func theSchemaOfAModelLacksWhatStoresCompute() throws {
        let text = try workshop.done(["model", "schema", workshop.derivedModel()]).output
        #expect(text.contains("CD_title") && !text.contains("CD_search"))
        #expect(text.contains("RECORD TYPE CDMirrorShareRoot"))
    }
}
