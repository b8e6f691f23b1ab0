import ChildProcesses
import Foundation
import Testing

/// Rounds with a service over TLS, and what stands in their way.
@Suite struct SyncTests {
    @Test func aRoundReportsWhatItDid() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a\ninsert Book b title=B")
        let run = try workshop.done(["sync", library, "--json"] + service.settings)
        let keys: Set = [
            "event", "exported", "imported", "merged", "conflicts", "bytesSent", "bytesReceived",
            "seconds", "inSync", "notices", "store",
        ]
        #expect(Set(run.json.keys) == keys)
        #expect(run.json["event"] as? String == "done")
        #expect(run.json["exported"] as? Int == 2)
        #expect(run.json["inSync"] as? Bool == true)
        #expect((run.json["bytesSent"] as? Int ?? 0) > 200)
        #expect(run.lines.allSatisfy { $0["event"] is String })
        let events = try workshop.done(["events", library, "--json"]).lines
        #expect(events.compactMap { $0["event"] as? String } == ["setup", "export"])
        #expect(events.last?["finished"] as? Int == 2)
        let text = try workshop.done(["sync", library] + service.settings)
        #expect(text.output.contains("is in sync with \(service.text("url"))."))
        #expect(!text.output.contains("\u{1B}"))
    }

    @Test func theStatusFollowsTheStore() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        func status() throws -> Run { try workshop.run("status", library, "--json") }
        let fresh = try status()
        #expect(fresh.status == 1)
        #expect(fresh.json["state"] as? String == "notMirrored")
        try workshop.edit(library, "insert Tag t name=a\ninsert Tag name=b")
        try workshop.done(["sync", library] + service.settings)
        let synced = try status()
        #expect(synced.status == 0)
        #expect(synced.json["inSync"] as? Bool == true)
        #expect(synced.json["reason"] is NSNull)
        let keys: Set = [
            "inSync", "state", "reason", "device", "zones", "pending", "conflictsWaiting",
            "initialImportCompleted", "waitingSince", "stalled", "activity", "hold", "keptHere",
            "selection", "store", "refused", "furtherStores",
        ]
        #expect(Set(synced.json.keys) == keys)
        try workshop.edit(
            library, "set Tag[name == 'a'] name=c\ndelete Tag[name == 'b']\ninsert Tag name=d")
        let edited = try status()
        #expect(edited.status == 1)
        #expect(edited.json["state"] as? String == "pending")
        #expect(
            edited.json["pending"] as? [String: Int] == ["inserts": 1, "updates": 1, "deletes": 1])
        let zones = edited.json["zones"] as? [[String: Any]] ?? []
        #expect(zones.first?["queued"] as? Int == 3)
        #expect(
            Set(zones.first?.keys.map { $0 } ?? [])
                == [
                    "database", "environment", "name", "owner", "queued", "lastRound", "error",
                    "retryAt",
                ])
    }

    @Test func aStoreKeepsItsZoneWhateverIsNamed() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.edit(library, "insert Book title=Emma")
        try workshop.done(["sync", library, "--zone", "notes"] + service.settings)
        for verb in ["status", "events", "conflicts", "sync", "verify"] {
            let settings = ["sync", "verify"].contains(verb) ? service.settings : []
            let run = try workshop.run([verb, library, "--zone", "other"] + settings)
            #expect(run.status == 2, "\(verb)")
            #expect(run.complaint.contains("the zone notes, not with other"), "\(verb)")
        }
        let trace = try workshop.run("trace", library, "Book/p1", "--zone", "other")
        #expect(trace.status == 2)
        // What is said of other stores is not meant, where a store is only looked at.
        workshop.environment["DIPTYCH_ZONE"] = "other"
        let status = try workshop.run("status", library)
        #expect(status.status == 0 && status.output.contains("notes"), "\(status.complaint)")
        #expect(try workshop.run(["sync", library] + service.settings).status == 2)
        // As the hint says.
        try workshop.done(["reset", library, "--zone", "other"])
        try workshop.done(["sync", library] + service.settings)
        #expect(try workshop.run("status", library).output.contains("other"))
    }

    @Test func settingsAreRememberedWhenAsked() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.done(["sync", library] + service.settings)
        let forgotten = try workshop.run("sync", library)
        #expect(forgotten.status == 2)
        try workshop.write("# mine\nauthor = me\n", to: "diptych.conf")
        try workshop.done(["sync", library, "--remember", "--policy", "remote"] + service.settings)
        try workshop.done(["sync", library])
        let file = try String(contentsOfFile: workshop.path("diptych.conf"), encoding: .utf8)
        #expect(file.hasPrefix("# mine\nauthor = me\n"))
        #expect(file.contains("policy = remote"))
        #expect(!file.contains("dpt_"))
    }

    @Test func tokensMayBeJSONAndShouldBePrivate() throws {
        let workshop = try Workshop()
        let service = try workshop.service("--show-tokens")
        let library = try workshop.library()
        let data = try JSONSerialization.data(withJSONObject: service.ready["tokens"] ?? [:])
        let file = try workshop.write(
            String(decoding: data, as: UTF8.self), to: "tokens.json", mode: 0o644)
        let words = [
            "sync", library, "--service", service.text("url"), "--container",
            service.text("container"), "--ca-file", service.text("caFile"),
        ]
        let open = try workshop.done(words + ["--token-file", file])
        #expect(open.complaint.contains("warning: others may read"))
        let tokens = service.ready["tokens"] as? [String: String] ?? [:]
        workshop.environment["DIPTYCH_API_TOKEN"] = tokens["api"]
        workshop.environment["DIPTYCH_USER_TOKEN"] = tokens["user"]
        #expect(try workshop.done(words).complaint.isEmpty)
    }

    // MARK: What stands in the way

    private func refused(
        _ change: (inout [String: String], Workshop, TestService) throws -> Void
    ) throws -> Run {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        var settings = [
            "service": service.text("url"), "container": service.text("container"),
            "token-file": service.text("tokenFile"), "ca-file": service.text("caFile"),
        ]
        try change(&settings, workshop, service)
        let flags = settings.sorted { $0.key < $1.key }.flatMap { ["--\($0)", $1] }
        let run = try workshop.run(["sync", library, "--json"] + flags)
        #expect(run.status == 1)
        #expect(run.complaint.split(separator: "\n").count == 1)
        #expect(run.error["hint"] is String)
        return run
    }

    @Test func aWrongTokenIsRefused() throws {
        let run = try refused { settings, workshop, service in
            let tokens = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
            let lines = tokens.split(separator: "\n").map { line in
                line.hasPrefix("user: ") ? "user: dpt_0000_guessed" : String(line)
            }
            settings["token-file"] = try workshop.write(
                lines.joined(separator: "\n"), to: "wrong.tokens")
        }
        #expect(run.errorCode == "AUTHENTICATION_FAILED")
        #expect(!run.complaint.contains("guessed"))
    }

    @Test func anUnknownContainerIsRefused() throws {
        let run = try refused { settings, _, _ in settings["container"] = "iCloud.nobody" }
        #expect(run.errorCode == "NOT_FOUND")
        #expect((run.error["message"] as? String)?.contains("iCloud.nobody") == true)
    }

    @Test func anUntrustedCertificateIsRefused() throws {
        let run = try refused { settings, _, _ in settings["ca-file"] = nil }
        #expect(run.errorCode == "tlsUntrusted")
        #expect((run.error["hint"] as? String)?.contains("--ca-file") == true)
    }

    @Test func aFileThatIsNoAuthorityIsRefused() throws {
        let run = try refused { settings, workshop, _ in
            settings["ca-file"] = try workshop.write("no certificate", to: "ca.pem")
        }
        #expect(["badConfiguration", "tlsUntrusted", "tlsFailed"].contains(run.errorCode))
    }

    @Test func aMissingTokenFileIsRefused() throws {
        let run = try refused { settings, workshop, _ in
            settings["token-file"] = workshop.path("none")
        }
        #expect(run.errorCode == "noTokens")
    }

    @Test func anotherContainerThanBeforeIsRefused() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.done(["sync", library] + service.settings)
        let other = try workshop.service("--data", workshop.path("other"))
        let run = try workshop.run(["sync", library, "--json"] + other.settings)
        #expect(run.status == 1)
        #expect(run.errorCode == "otherContainer")
        #expect((run.error["hint"] as? String)?.contains("--moved") == true)
    }

    @Test func aServicesAddressMayBeSpelledInSeveralWays() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a")
        try workshop.done(["sync", library] + service.settings)
        let url = service.text("url")
        for spelling in [url + "/", url.replacing("https", with: "HTTPS") + "//"] {
            let settings = service.settings.map { $0 == url ? spelling : $0 }
            try workshop.done(["sync", library] + settings)
            try workshop.done(["verify", library] + settings)
        }
        // As an earlier version remembers it.
        let key = "ZKEY = 'DiptychContainer'"
        let name = try workshop.sql(
            library, "select ZSTRINGVALUE from ANSCKMETADATAENTRY where \(key)")
        #expect(name == "\(url) \(service.text("container"))")
        _ = try workshop.sql(
            library,
            "update ANSCKMETADATAENTRY set ZSTRINGVALUE = replace(ZSTRINGVALUE, ' ', '/ ') "
                + "where \(key)")
        try workshop.done(["sync", library] + service.settings)
        try workshop.done(["verify", library] + service.settings)
    }

    @Test func aServiceMayMove() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a")
        try workshop.done(["sync", library] + service.settings)
        service.kill()
        let port = try HeldPort(of: service.text("url"))
        defer { withExtendedLifetime(port) {} }
        try workshop.edit(library, "insert Tag name=b")
        let elsewhere = try workshop.service("--data", service.text("dataFolder"))
        let refused = try workshop.run(["sync", library] + elsewhere.settings)
        #expect(refused.status == 1)
        try workshop.done(["sync", library, "--moved"] + elsewhere.settings)
        try workshop.done(["sync", library] + elsewhere.settings)
        let copy = try workshop.library("copy.sqlite")
        try workshop.done(["sync", copy] + elsewhere.settings)
        try workshop.expectEqual(library, copy, rows: 2)
    }

    @Test func aServiceThatIsAwayIsNoLoss() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.done(["sync", library] + service.settings)
        try workshop.edit(library, "insert Tag name=later")
        service.kill()
        let away = try workshop.run(["sync", library, "--json"] + service.settings)
        #expect(away.status == 75)
        #expect(away.errorCode == "cannotConnect")
        let status = try workshop.run("status", library, "--json")
        #expect(status.status == 1)
        #expect(status.json["state"] as? String == "failed")
        #expect(status.json["reason"] is String)
        try service.restart()
        let run = try workshop.done(["sync", library, "--json"] + service.settings)
        #expect(run.json["exported"] as? Int == 1)
        #expect(try workshop.run("status", library).status == 0)
    }
}

/// A round and the store's status say the same, in words and by exit status.
@Suite struct StandingTests {
    /// Expects that `sync` and `status` end alike, and that only a store in sync is called so.
    private func expectAgreement(
        _ workshop: Workshop, _ library: String, _ words: [String], status: Int32
    ) throws {
        let round = try workshop.run(["sync", library, "--json"] + words)
        let standing = try workshop.run("status", library, "--json")
        #expect(round.status == status, "\(round.complaint)")
        #expect(standing.status == status)
        #expect(round.json["inSync"] as? Bool == (status == 0))
        #expect(standing.json["inSync"] as? Bool == (status == 0))
        let told = try workshop.run(["sync", library] + words)
        #expect(told.status == status)
        #expect(told.output.contains("is in sync") == (status == 0), "\(told.output)")
    }

    @Test func syncAndStatusAgree() throws {
        let workshop = try Workshop()
        // It takes the value neither in its record nor beside it.
        let service = try workshop.service("--quota-asset-bytes", "1000000")
        let library = try workshop.library()
        try workshop.edit(library, "insert Book title=small pages=1")
        try expectAgreement(workshop, library, service.settings, status: 0)
        // More than the service takes; all later rounds have nothing to send.
        let long = String(repeating: "long ", count: 400_000)
        try workshop.edit(library, "insert Book title=\"\(long)\" pages=2")
        try expectAgreement(workshop, library, service.settings, status: 1)
        let refused = try workshop.run(["sync", library] + service.settings)
        #expect(refused.complaint.contains("diptych: The service will not take 1 record."))
        #expect(refused.complaint.contains("`diptych status \(library)`"))
        try workshop.edit(library, "set Book[pages == 2] title=short")
        try expectAgreement(workshop, library, service.settings, status: 0)
    }

    @Test func aWaitingConflictIsToldByBoth() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let (desk, phone) = (try workshop.library("d.sqlite"), try workshop.library("p.sqlite"))
        try workshop.edit(desk, "insert Book title=a pages=1")
        for store in [desk, phone] { try workshop.done(["sync", store] + service.settings) }
        for store in [desk, phone] {
            try workshop.edit(store, "set Book[pages == 1] title=\(store.suffix(8).prefix(1))")
        }
        try workshop.done(["sync", desk] + service.settings)
        let words = service.settings + ["--policy", "error"]
        try expectAgreement(workshop, phone, words, status: 3)
        _ = try workshop.run("conflicts", phone, "--resolve", "1", "--take", "remote")
        try expectAgreement(workshop, phone, words, status: 0)
    }
}
