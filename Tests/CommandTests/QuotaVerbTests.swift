import Foundation
import Testing

/// What administrators allow, and what is noted of it.
@Suite struct QuotaVerbTests {
    private let workshop: Workshop
    private let service: TestService
    private let data: String

    init() throws {
        workshop = try Workshop()
        service = try workshop.service("--quota-records", "1")
        data = service.text("dataFolder")
    }

    private func ask(_ words: String...) throws -> Run {
        try workshop.run(["service"] + words + ["--data", data])
    }

    @Test func aUserIsAllowedMoreThanOthers() throws {
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a\ninsert Tag name=b")
        // What finds no room stays with the device, which is told.
        _ = try workshop.run(["sync", library] + service.settings)
        let before = try #require(try ask("quotas", "--json").lines.first)
        #expect(before["records"] as? Int == 1 && before["recordsMax"] as? String == "standard")
        let set = try ask("quotas", "--set", "owner", "--records", "10", "--bytes", "none")
        #expect(set.output.contains("may keep records: 10, bytes: none"))
        // A refused record is sent again once it was edited.
        try workshop.edit(
            library, "set Tag[name == 'a'] name=c\nset Tag[name == 'b'] name=d")
        try workshop.done(["sync", library] + service.settings)
        let after = try #require(try ask("quotas", "--json").lines.first)
        #expect(after["records"] as? Int == 2 && after["recordsMax"] as? String == "10")
        #expect(after["bytesMax"] as? String == "none")
        #expect(try ask("quotas").output.contains("RECORDS"))
        #expect(try ask("quotas", "--set", "owner", "--records", "standard").status == 0)
        let last = try #require(try ask("quotas", "--json").lines.first)
        #expect(last["recordsMax"] as? String == "standard")
        #expect(last["bytesMax"] as? String == "none")
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        #expect(try ask("quotas", "--set", "owner").status == 2)
        #expect(try ask("quotas", "--records", "5").status == 2)
        #expect(try ask("quotas", "--set", "owner", "--records", "many").status == 2)
        #expect(try ask("users", "--set", "owner", "--records", "5").status == 2)
        #expect(try ask("quotas", "--set", "nobody", "--records", "5").status == 1)
    }

    @Test func whatWasDoneIsListedWithoutSecrets() throws {
        _ = try ask("users", "--add", "Ann")
        let tokens = workshop.path("ann.tokens")
        _ = try ask(
            "tokens", "--issue", "Ann", "--container", service.text("container"), "--token-file",
            tokens)
        _ = try ask("quotas", "--set", "Ann", "--records", "5")
        let backup = workshop.path("monday.sqlite")
        #expect(try ask("backup", backup).status == 0)
        service.kill()
        #expect(try ask("restore", backup).status == 0)
        // A restored database brings no older log along.
        let acts = try ask("audit", "--json").lines
        #expect(
            acts.map { $0["act"] as? String ?? "" } == [
                "containerMade", "userAdded", "tokenMade", "tokenMade", "userAdded", "tokenMade",
                "tokenMade", "quotaChanged", "backup", "restore",
            ])
        #expect(acts.last?["subject"] as? String == backup)
        #expect(acts.allSatisfy { ($0["by"] as? String ?? "").isEmpty == false })
        let table = try ask("audit").output
        #expect(table.contains("quotaChanged") && table.contains("records=5"))
        #expect(!table.contains("dpt_"))
    }

    /// A thousandth is a little less as a number, and was told as 753999.
    @Test func timesOfActsAreToldToTheThousandth() throws {
        let log = URL(fileURLWithPath: data).appendingPathComponent("audit.jsonl")
        let line =
            #"{"act":"userAdded","at":1795890077754,"by":"root","details":{},"subject":"_a"}"#
        try Data((line + "\n").utf8).write(to: log)
        let acts = try ask("audit", "--json").lines
        #expect(acts.map { $0["at"] as? String } == ["2026-11-28T18:21:17.754Z"])
    }
}
