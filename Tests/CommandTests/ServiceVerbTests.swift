import ChildProcesses
import Foundation
import SQLiteDriver
import Testing

/// `diptych service`: administration beside a running service.
@Suite struct ServiceVerbTests {
    private let workshop: Workshop
    private let service: TestService
    private let data: String

    init() throws {
        workshop = try Workshop()
        service = try workshop.service()
        data = service.text("dataFolder")
    }

    private func ask(_ words: String...) throws -> Run {
        try workshop.run(["service"] + words + ["--data", data])
    }

    private func settings(_ tokens: String) -> [String] {
        [
            "--service", service.text("url"), "--container", service.text("container"),
            "--ca-file", service.text("caFile"), "--token-file", tokens,
        ]
    }

    /// The folder is named where it may be the wrong one, not where it is found and a wish refused.
    @Test func aHintHasToDoWithWhatIsRefused() throws {
        let place = ["--container", service.text("container")]
        for wish in [
            ["users", "--add", ""],
            ["roles", "--grant", "_world", "--type", "Note", "--rights", "write"] + place,
            ["tokens", "--revoke", "none"],
        ] {
            let run = try workshop.run(["service"] + wish + ["--data", data])
            #expect(run.status == 1 && !run.complaint.contains("--data"), "\(run.complaint)")
        }
        let lost = try workshop.run(["service", "users", "--data", workshop.path("nowhere")])
        #expect(lost.status == 1 && lost.complaint.contains("--data names the folder"))
    }

    @Test func aFurtherUserHasRecordsOfTheirOwn() throws {
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a")
        try workshop.done(["sync", library] + service.settings)
        #expect(try ask("users", "--add", "Ann").output.hasPrefix("_"))
        let tokens = workshop.path("ann.tokens")
        let issued = try ask(
            "tokens", "--issue", "Ann", "--container", service.text("container"),
            "--token-file", tokens)
        #expect(issued.status == 0 && !issued.output.contains("dpt_"))
        let mode = try FileManager.default.attributesOfItem(atPath: tokens)
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let other = try workshop.library("Other.sqlite")
        let first = try workshop.done(["sync", other, "--json"] + settings(tokens))
        #expect(first.json["imported"] as? Int == 0)
        // Revoked, the tokens open nothing.
        let listed = try ask("tokens", "--json").lines
        let own = try #require(
            listed.last {
                $0["kind"] as? String == "user" && $0["label"] as? String == "ann.tokens"
            })
        #expect(try ask("tokens", "--revoke", own["id"] as? String ?? "").status == 0)
        #expect(try workshop.run(["sync", other] + settings(tokens)).status == 1)
        #expect(try ask("tokens").output.contains("REVOKED"))
    }

    @Test func tokensAreWrittenOverNothingAndForSomebody() throws {
        let container = service.text("container")
        let there = try workshop.write("mine", to: "there")
        let over = try ask(
            "tokens", "--issue", "owner", "--container", container, "--token-file", there)
        #expect(over.status == 1 && over.complaint.contains("is there already"))
        let nobody = try ask(
            "tokens", "--issue", "Bob", "--container", container, "--token-file",
            workshop.path("bob"))
        #expect(nobody.status == 1 && nobody.complaint.contains("no user 'Bob'"))
        #expect(try ask("tokens", "--issue", "owner", "--container", container).status == 2)
        #expect(try ask("users", "--revoke", "x").status == 2)
        #expect(try ask("backup").status == 2)
        #expect(try ask("userz").complaint.contains("Did you mean users?"))
    }

    @Test func orphansAreLookedForInABucketAlone() throws {
        let keys = try workshop.write("access: a\nsecret: hidden-secret\n", to: "bucket.keys")
        let folder = try ask("assets")
        #expect(folder.status == 2 && folder.complaint.contains("--assets names no bucket"))
        #expect(try ask("assets", "--assets", "there").status == 2)
        #expect(try ask("users", "--yes").status == 2)
        #expect(try ask("assets", "--add", "x", "--assets", "s3://shelf/assets").status == 2)
        for elsewhere in ["s3://shelf/../other", "s3://shelf/a/./b", "s3://../shelf"] {
            let refused = try ask("assets", "--assets", elsewhere, "--assets-keys", keys)
            #expect(refused.status == 2 && refused.complaint.contains("names no bucket"))
        }
        let silent = try ask(
            "assets", "--assets", "s3://shelf/assets", "--assets-endpoint", "http://127.0.0.1:1",
            "--assets-keys", keys)
        #expect(silent.status != 0 && silent.status != 2)
        #expect(silent.complaint.contains("cannot be listed in the store of objects"))
        #expect(!(silent.output + silent.complaint).contains("hidden-secret"))
    }

    @Test func whatIsKnownOfAUserIsTold() throws {
        let name = try ask(
            "users", "--add", "Ann", "--email", "Ann@example.org", "--discoverable", "yes"
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try ask("users", "--profile", "Ann", "--given-name", "Ann").status == 0)
        let user = try #require(
            try ask("users", "--json").lines.first { $0["userRecordName"] as? String == name })
        #expect(user["emailAddress"] as? String == "ann@example.org")
        #expect(user["givenName"] as? String == "Ann")
        #expect(user["discoverable"] as? Bool == true)
        #expect(try ask("users").output.contains("ann@example.org"))
        #expect(try ask("users", "--profile", "Bob", "--email", "b@c").status == 1)
        #expect(try ask("users", "--profile", "Ann", "--email", "none").status == 1)
        #expect(try ask("tokens", "--email", "a@b").status == 2)
        #expect(try ask("users", "--add", "x", "--discoverable", "maybe").status == 2)
    }

    @Test func aUserWhoIsRefusedIsNotMade() throws {
        #expect(try ask("users", "--add", "Ann", "--email", "ann@example.org").status == 0)
        for wrong in ["Ann@example.org", "nonsense"] {
            #expect(try ask("users", "--add", "Bob", "--email", wrong).status == 1)
            let labels = try ask("users", "--json").lines.map { $0["label"] as? String }
            #expect(!labels.contains("Bob"))
        }
        let audit = try ask("audit").output
        #expect(!audit.contains("Bob"))
        #expect(try ask("users", "--add", "Bob", "--email", "bob@example.org").status == 0)
        let tokens = try ask(
            "tokens", "--issue", "Bob", "--container", service.text("container"),
            "--token-file", workshop.path("bob.tokens"))
        #expect(tokens.status == 0, "\(tokens.complaint)")
    }

    @Test func aLabelIsReadable() throws {
        for wrong in ["", "a\u{202E}c", "a\nb", String(repeating: "a", count: 256)] {
            #expect(try ask("users", "--add", wrong).status == 1)
        }
        #expect(try ask("users", "--json").lines.count == 1)
        #expect(try ask("users", "--add", "Änne O'Hara 2").status == 0)
    }

    @Test func rolesAreGrantedAndGiven() throws {
        let container = ["--container", service.text("container")]
        func roles(_ words: String...) throws -> Run {
            try workshop.run(["service", "roles", "--data", data] + container + words)
        }
        #expect(try roles().output == "None.\n")
        #expect(
            try roles("--grant", "_icloud", "--type", "Note", "--rights", "create,read").status == 0
        )
        #expect(try roles("--grant", "editors", "--type", "Note", "--rights", "write").status == 0)
        #expect(try roles("--give", "editors", "--user", "owner").status == 0)
        let lines = try roles("--json").lines
        #expect(lines.map { $0["role"] as? String } == ["_icloud", "editors", "editors"])
        #expect(lines[0]["create"] as? Bool == true && lines[0]["write"] as? Bool == false)
        #expect(try roles().output.contains("create, read"))
        #expect(try roles("--take", "editors", "--user", "owner").status == 0)
        #expect(try roles("--ungrant", "Note").status == 0)
        #expect(try roles("--ungrant", "Note").status == 1)
        #expect(try roles("--grant", "_world", "--type", "Note", "--rights", "write").status == 1)
        #expect(try roles("--grant", "_world", "--type", "Note", "--rights", "sing").status == 2)
        #expect(try roles("--grant", "_world", "--type", "Note").status == 2)
        #expect(try ask("users", "--grant", "x").status == 2)
    }

    @Test func theStatusCountsRecords() throws {
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a\ninsert Tag name=b")
        try workshop.done(["sync", library] + service.settings)
        let entry = try #require(try ask("status", "--json").lines.first)
        #expect(entry["records"] as? Int == 2 && entry["users"] as? Int == 1)
        #expect(try ask("status").output.contains("RECORDS"))
        #expect(try ask("containers").output == service.text("container") + "\n")
    }

    @Test func aBackupIsRestoredAndDevicesSendWhatItLacks() throws {
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=old")
        try workshop.done(["sync", library] + service.settings)
        let backup = workshop.path("monday.sqlite")
        #expect(try ask("backup", backup).status == 0)
        #expect(try ask("backup", backup).complaint.contains("already"))
        try workshop.edit(library, "insert Tag name=new")
        try workshop.done(["sync", library] + service.settings)
        let running = try ask("restore", backup)
        #expect(running.status == 1 && running.complaint.contains("A service (process "))
        service.kill()
        let restored = try ask("restore", backup)
        #expect(restored.status == 0, "\(restored.complaint)")
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        #expect(names.contains("records.sqlite.before-1"))
        #expect(!names.contains { $0.contains("restoring") })
        try service.restart()
        try workshop.done(["sync", library] + service.settings)
        let other = try workshop.library("Other.sqlite")
        try workshop.done(["sync", other] + service.settings)
        try workshop.expectEqual(library, other, rows: 2)
    }

    @Test func aBackupLacksOneContainerAndSaysSoAtItsRestore() throws {
        #expect(try ask("containers", "--add", "broken").status == 0)
        let container = service.text("container")
        let folder = data + "/records.sqlite.containers"
        service.kill()
        // A file where its own is to be, be the folder there yet or not.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let library = try Connection(path: data + "/records.sqlite")
        let name = try #require(
            try library.value("SELECT file FROM container_files WHERE container = 'broken'")?
                .string)
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        let backup = workshop.path("partly.sqlite")
        let made = try ask("backup", backup)
        #expect(made.status == 4)
        #expect(made.complaint.contains("lacks the container broken"))
        let restored = try ask("restore", backup)
        #expect(restored.status == 4, "\(restored.complaint)")
        #expect(restored.complaint.contains("lacks the container broken"))
        #expect(!restored.complaint.contains(container))
        #expect(try ask("containers").output.contains("broken"))
    }

    @Test func whatStandsInTheLogBesideABackupIsRestoredWithIt() throws {
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=logged")
        try workshop.done(["sync", library] + service.settings)
        service.kill()
        let backup = workshop.path("killed.sqlite")
        var before: [String: Data] = [:]
        for suffix in ["", "-wal"] {
            let (file, copy) = ("\(data)/records.sqlite\(suffix)", backup + suffix)
            try FileManager.default.copyItem(atPath: file, toPath: copy)
            before[copy] = try Data(contentsOf: URL(fileURLWithPath: copy))
        }
        try FileManager.default.copyItem(
            atPath: "\(data)/records.sqlite.containers", toPath: backup + ".containers")
        #expect(before["\(backup)-wal"]?.isEmpty == false)
        let restored = try ask("restore", backup)
        #expect(restored.status == 0, "\(restored.complaint)")
        for (file, bytes) in before {
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == bytes)
        }
        try service.restart()
        let other = try workshop.library("Other.sqlite")
        try workshop.done(["sync", other] + service.settings)
        try workshop.expectEqual(library, other, rows: 1)
    }

    @Test func aBackupWhoseLastWriteWasCutOffIsRefused() throws {
        let backup = workshop.path("cut.sqlite")
        #expect(try ask("backup", backup).status == 0)
        service.kill()
        _ = try workshop.write("what was there before", to: "cut.sqlite-journal")
        let run = try ask("restore", backup)
        #expect(run.status == 1 && run.complaint.contains("cut off"))
    }

    @Test func aDamagedBackupIsNotRestored() throws {
        #expect(try ask("backup", workshop.path("good.sqlite")).status == 0)
        service.kill()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: workshop.path("good.sqlite")))
        bytes.replaceSubrange(
            bytes.count - 4_096..<bytes.count, with: Data(repeating: 0xEE, count: 4_096))
        try bytes.write(to: URL(fileURLWithPath: workshop.path("bad.sqlite")))
        let before = try Data(contentsOf: URL(fileURLWithPath: data + "/records.sqlite"))
        let run = try ask("restore", workshop.path("bad.sqlite"))
        #expect(run.status == 1 && run.complaint.contains("damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: data + "/records.sqlite")) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        #expect(!names.contains { $0.contains("restoring") || $0.contains("before") })
        let foreign = try workshop.write("no database", to: "foreign.sqlite")
        #expect(try ask("restore", foreign).status == 1)
        #expect(try ask("restore", workshop.path("none.sqlite")).complaint.contains("no backup"))
    }

    @Test func withJSONEachActIsOneObject() throws {
        let container = service.text("container")
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a")
        try workshop.done(["sync", library] + service.settings)
        #expect(try ask("users", "--add", "Ann").status == 0)
        let own = ["--container", container]
        func tokens(_ name: String) -> [String] { ["--token-file", workshop.path(name)] }
        let password = try workshop.write("correct horse", to: "password")
        let acts: [[String]] = [
            ["containers", "--add", "more"],
            ["tokens", "--issue", "Ann"] + own + tokens("ann"),
            ["tokens", "--administrator", "Desk"] + tokens("desk"),
            ["tokens", "--revoke-all", "Ann"], ["quotas", "--set", "Ann", "--records", "10"],
            ["roles", "--grant", "_icloud", "--type", "Note", "--rights", "read"] + own,
            ["roles", "--give", "editors", "--user", "Ann"] + own,
            ["roles", "--take", "editors", "--user", "Ann"] + own,
            ["roles", "--ungrant", "Note"] + own,
            ["users", "--password", "Ann", "--password-file", password],
            ["users", "--no-password", "Ann"], ["schema", "--unique", "CD_Tag.CD_name"] + own,
            ["schema", "--not-unique", "CD_Tag.CD_name"] + own,
            ["backup", workshop.path("copy.sqlite")],
        ]
        func act(_ words: [String]) throws {
            let run = try workshop.done(["service"] + words + ["--data", data, "--json"])
            #expect(run.lines.count == 1, "\(words): \(run.output)")
            #expect(run.output.hasPrefix("{") && run.output.hasSuffix("}\n"), "\(run.output)")
        }
        for words in acts { try act(words) }
        let token = try ask("tokens", "--json").lines.first {
            $0["kind"] as? String == "user" && $0["label"] as? String != "ann"
        }
        try act(["tokens", "--revoke", try #require(token?["id"] as? String)])
        service.kill()
        try act(["restore", workshop.path("copy.sqlite")])
    }

    /// What `cp`, a full disk or a broken pipeline leaves, and what no service ever wrote.
    @Test func whatIsNoBackupTakesNoDatabasesPlace() throws {
        // A container has a file from its first use on.
        let library = try workshop.library()
        try workshop.done(["sync", library] + service.settings)
        service.kill()
        let before = try Data(contentsOf: URL(fileURLWithPath: data + "/records.sqlite"))
        let empty = try workshop.write("", to: "empty.sqlite")
        let bare = workshop.path("bare.sqlite")
        _ = try workshop.sql(bare, "create table a(b); drop table a;")
        let container = try #require(
            FileManager.default.contentsOfDirectory(atPath: data + "/records.sqlite.containers")
                .first { $0.hasSuffix(".sqlite") })
        let part = data + "/records.sqlite.containers/" + container
        for file in [empty, "/dev/null", workshop.folder.path, bare, library, part] {
            let run = try ask("restore", file, "--json")
            #expect(run.status == 1 && run.errorCode == "noBackup", "\(file): \(run.complaint)")
            #expect((run.error["message"] as? String)?.contains(file) == true)
            #expect((run.error["hint"] as? String)?.contains("inspect") == false)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: data + "/records.sqlite")) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        #expect(!names.contains { $0.contains("restoring") || $0.contains("before") })
        let nowhere = workshop.path("nowhere")
        #expect(try workshop.run("service", "restore", empty, "--data", nowhere).status == 1)
        #expect(!FileManager.default.fileExists(atPath: nowhere))
    }

    @Test func withoutAServiceThereIsNothingToAdminister() throws {
        let run = try workshop.run("service", "users", "--data", workshop.path("empty"))
        #expect(run.status == 1 && run.complaint.contains("no service's database"))
        #expect(!FileManager.default.fileExists(atPath: workshop.path("empty")))
    }

    // MARK: The console

    private func curl(
        _ service: TestService, _ path: String, _ words: [String] = []
    ) throws -> String {
        let child = try workshop.start(
            "/usr/bin/env",
            ["curl", "-s", "--cacert", service.text("caFile"), service.text("url") + path] + words)
        #expect(child.wait() == 0, "\(child.complaint)")
        return child.printed
    }

    @Test func anAdministratorsTokenOpensTheConsole() throws {
        let file = workshop.path("desk.token")
        let made = try ask("tokens", "--administrator", "desk", "--token-file", file)
        #expect(made.status == 0 && !made.output.contains("dpt_"))
        #expect(try ask("tokens", "--administrator", "x", "--token-file", file).status != 0)
        let token = try String(contentsOfFile: file, encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        #expect(token.hasPrefix("dpt_"))
        #expect(try curl(service, "/console").contains("NOT_FOUND"))

        let open = try workshop.service("--data", workshop.path("open"), "--console", "on")
        #expect(try curl(open, "/console").contains("<!doctype html>"))
        let words = ["-H", "Content-Type: application/json", "-d"]
        let refused = try curl(
            open, "/console/api/session", words + [#"{"token":"\#(token)"}"#])
        #expect(refused.contains("AUTHENTICATION_FAILED"))
        let own = workshop.path("own.token")
        let issued = try workshop.run([
            "service", "tokens", "--administrator", "desk", "--token-file", own, "--data",
            open.text("dataFolder"),
        ])
        #expect(issued.status == 0, "\(issued.complaint)")
        let good = try String(contentsOfFile: own, encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        let session = try curl(
            open, "/console/api/session", words + [#"{"token":"\#(good)"}"#])
        #expect(session.contains(#""isAdministrator":true"#))
        let listed = try workshop.run([
            "service", "tokens", "--data", open.text("dataFolder"),
        ])
        #expect(listed.output.contains("administrator") && !listed.output.contains("dpt_"))
    }

    @Test func aDeviceIsLetInOnAnotherScreen() throws {
        let open = try workshop.service("--data", workshop.path("open"), "--console", "on")
        let file = workshop.path("new.tokens")
        let place = [
            "--service", open.text("url"), "--container", open.text("container"), "--ca-file",
            open.text("caFile"),
        ]
        let words = ["sign-in", "--json", "--name", "phone", "--token-file", file] + place
        let device = try workshop.start(words)
        var code = ""
        for _ in 0..<12_000 where code.isEmpty {
            let line = device.printed.split(separator: "\n").first ?? ""
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
            code = (object as? [String: Any])?["code"] as? String ?? ""
            usleep(20_000)
        }
        #expect(code.count == 9)
        let tokens = try String(contentsOfFile: open.text("tokenFile"), encoding: .utf8)
        let user = try #require(tokens.split(separator: "\n").first { $0.hasPrefix("user: ") })
        let cookies = workshop.path("cookies")
        let json = ["-H", "Content-Type: application/json", "-b", cookies, "-c", cookies, "-d"]
        let session = try curl(
            open, "/console/api/session", json + [#"{"token":"\#(user.dropFirst(6))"}"#])
        let object = try JSONSerialization.jsonObject(with: Data(session.utf8)) as? [String: Any]
        let token = try #require(object?["requestToken"] as? String)
        let approved = try curl(
            open, "/console/api/device/approval",
            ["-H", "X-Diptych-Request-Token: \(token)"] + json
                + [#"{"userCode":"\#(code)","approves":true}"#])
        #expect(approved == "{}")
        #expect(device.wait() == 0, "\(device.complaint)")
        #expect(!device.printed.contains("dpt_"))
        let mode = try FileManager.default.attributesOfItem(atPath: file)
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let library = try workshop.library()
        try workshop.done(["sync", library, "--token-file", file] + place)
        let again = try workshop.run(words)
        #expect(again.status != 0 && again.complaint.contains("is there already"))
        let closed = try workshop.run([
            "sign-in", "--token-file", workshop.path("x.tokens"), "--service",
            service.text("url"), "--container", service.text("container"), "--ca-file",
            service.text("caFile"),
        ])
        #expect(closed.status != 0 && closed.complaint.contains("--console on"))
    }

    // MARK: Schemas

    @Test func theSchemaIsPrintedComparedAndDeployed() throws {
        let library = try workshop.library()
        try workshop.edit(library, "insert Tag name=a")
        try workshop.done(["sync", library] + service.settings)
        func schema(_ words: String...) throws -> Run {
            try workshop.run(
                ["service", "schema", "--data", data, "--container", service.text("container")]
                    + words)
        }
        let text = try schema().output
        #expect(text.contains("RECORD TYPE CD_Tag (") && text.contains("CD_name"))
        let file = workshop.path("notes.ckdb")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try schema("--diff", file).output == "The schemas say the same.\n")
        let more = text.replacing(
            "RECORD TYPE CD_Tag (", with: "RECORD TYPE CD_Tag ( colour STRING QUERYABLE,")
        try Data(more.utf8).write(to: URL(fileURLWithPath: file))
        let differs = try schema("--diff", file)
        #expect(differs.status == 1)
        #expect(differs.output == "+ CD_Tag.colour STRING QUERYABLE\n")
        #expect(try schema("--import", file).output == differs.output)
        let deployed = try schema("--deploy")
        #expect(deployed.output.contains("+ CD_Tag.colour STRING QUERYABLE"))
        #expect(try schema("--deploy").output == "Production has all of it already.\n")
        #expect(try schema("--environment", "production").output.contains("colour"))
        try Data("DEFINE SCHEMA\nRECORD NOTE".utf8).write(to: URL(fileURLWithPath: file))
        let broken = try schema("--import", file)
        #expect(broken.status != 0 && broken.complaint.contains("Line 2"))
        let strange = try workshop.run(["service", "users", "--data", data, "--deploy"])
        #expect(strange.status == 2)
    }

    @Test func aFieldIsRetiredAndTakenOut() throws {
        let library = try workshop.library()
        for name in ["a", "b"] { try workshop.edit(library, "insert Tag name=\(name)") }
        try workshop.done(["sync", library] + service.settings)
        func schema(_ words: String...) throws -> Run {
            try workshop.run(
                ["service", "schema", "--data", data, "--container", service.text("container")]
                    + words)
        }
        #expect(try schema("--retire", "CD_Tag.CD_name").status == 2)
        #expect(try schema("--retire", "CD_Tag.CD_name", "--from", "x").status == 2)
        #expect(try schema("--retire", "CD_Tag.CD_name,CD_x", "--from", "2").status == 2)
        #expect(try schema("--remove", "CD_Tag.CD_name", "--yes").complaint.contains("not retired"))
        let retired = try schema("--retire", "CD_Tag.CD_name", "--from", "2.10")
        #expect(retired.status == 0)
        #expect(try schema().output.contains("// diptych: RETIRED (CD_name) FROM 2.10"))
        #expect(try schema("--keep", "CD_Tag.CD_name").status == 0)
        #expect(try !schema().output.contains("RETIRED"))
        _ = try schema("--retire", "CD_Tag.CD_name", "--from", "2.10")
        let asked = try schema("--remove", "CD_Tag.CD_name")
        #expect(asked.output.contains("2 records of 1 user have CD_Tag.CD_name"))
        #expect(try schema().output.contains("CD_name"))
        let removed = try schema("--remove", "CD_Tag.CD_name", "--yes")
        #expect(removed.output == "CD_Tag.CD_name is taken out of 2 records.\n")
        #expect(try !schema().output.contains("CD_name"))
    }

    @Test func aFieldIsDeclaredUniqueUnlessRecordsHaveItInCommon() throws {
        let library = try workshop.library()
        for title in ["a", "b", "a"] { try workshop.edit(library, "insert Book title=\(title)") }
        try workshop.edit(library, "insert Tag name=a")
        try workshop.done(["sync", library] + service.settings)
        func schema(_ words: String...) throws -> Run {
            try workshop.run(
                ["service", "schema", "--data", data, "--container", service.text("container")]
                    + words)
        }
        let refused = try schema("--unique", "CD_Book.CD_title")
        #expect(refused.status == 1)
        #expect(refused.complaint.contains("have one CD_Book(CD_title) in the zone"))
        #expect(try schema("--unique", "CD_Book").status == 2)
        #expect(try schema("--unique", "CD_None.x").complaint.contains("CD_None"))
        let two = try schema("--unique", "CD_Book.CD_title,CD_entityName")
        #expect(two.status == 1)
        #expect(try schema().output.contains("UNIQUE") == false)
        #expect(try schema("--unique", "CD_Tag.CD_name").status == 0)
        #expect(try schema().output.contains("UNIQUE"))
    }
}
