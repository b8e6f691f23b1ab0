import ChildProcesses
import Foundation
import Testing

@testable import diptych

/// `diptych sync --watch`: a store that is kept in sync all the time.
@Suite struct WatchTests {
    private let workshop: Workshop
    private let service: TestService
    private let desk: String
    private let phone: String

    init() throws {
        workshop = try Workshop()
        service = try workshop.service()
        desk = try workshop.library("desk.sqlite")
        phone = try workshop.library("phone.sqlite")
    }

    private func watch(_ store: String, _ words: String...) throws -> Child {
        let child = try workshop.start(
            ["sync", store, "--watch", "--json"] + words + service.settings)
        try until { child.printed.contains(#""event":"watching""#) }
        return child
    }

    private func titles(_ store: String) throws -> [String] {
        try workshop.sql(store, "select ZTITLE from ZBOOK order by 1")
            .split(separator: "\n").map(String.init)
    }

    private func state(_ store: String) throws -> String? {
        let run = try workshop.run("status", store, "--json")
        return (run.json["activity"] as? [String: Any])?["state"] as? String
    }

    @Test func savesAndNewsTravelByThemselves() throws {
        let watching = try watch(desk)
        try workshop.edit(desk, "insert Book title=One")
        try until {
            try workshop.done(["sync", phone] + service.settings)
            return try titles(phone) == ["One"]
        }
        try workshop.edit(phone, "insert Book title=Two")
        try workshop.done(["sync", phone] + service.settings)
        try until { try titles(desk) == ["One", "Two"] }
        #expect(try state(desk) == "running")
        watching.send(SIGTERM)
        #expect(watching.wait() == 0)
        #expect(watching.printed.contains(#""event":"stopped""#))
        #expect(try state(desk) == "stopped")
        #expect(try workshop.run("status", desk).status == 0)
    }

    @Test func theLogNamesRoundsAndSurvivesItsRotation() throws {
        let log = workshop.folder.appendingPathComponent("sync.log")
        func text(_ file: URL) -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }
        let watching = try watch(desk, "--log", log.path)
        try until { text(log).contains("round ends") }
        #expect(text(log).contains("CloudKit: round begins round="))
        let old = workshop.folder.appendingPathComponent("sync.log.old")
        try FileManager.default.moveItem(at: log, to: old)
        watching.send(SIGHUP)
        try workshop.edit(desk, "insert Book title=One")
        try until { text(log).contains("1 sent") }
        watching.send(SIGTERM)
        #expect(watching.wait() == 0)
        #expect(text(log).contains("ended") && !text(old).contains("1 sent"))
    }

    @Test func aPauseHoldsSavesBack() throws {
        let watching = try watch(desk)
        try until { watching.printed.contains(#""event":"round""#) }
        watching.send(SIGUSR1)
        try until { watching.printed.contains(#""event":"paused""#) }
        try workshop.edit(desk, "insert Book title=One")
        let status = try workshop.run("status", desk)
        #expect(status.status == 1 && status.output.contains("paused since"))
        watching.send(SIGUSR1)
        try until { try workshop.run("status", desk).status == 0 }
        watching.send(SIGINT)
        #expect(watching.wait() == 0)
    }

    @Test func aServiceThatGoesAndComesBackIsSurvived() throws {
        let watching = try watch(desk, "--interval", "1")
        try until { watching.printed.contains(#""event":"round""#) }
        service.kill()
        try workshop.edit(desk, "insert Book title=One")
        try until { watching.printed.contains(#""event":"failed""#) }
        #expect(try workshop.run("status", desk).output.contains("last error"))
        try service.restart()
        try until { try workshop.run("status", desk).status == 0 }
        watching.send(SIGTERM)
        #expect(watching.wait() == 0)
        try workshop.done(["sync", phone] + service.settings)
        #expect(try titles(phone) == ["One"])
    }

    /// The machine slept, as far as the process can tell.
    @Test func aWatchThatWasSuspendedCatchesUp() throws {
        let watching = try watch(desk, "--interval", "1")
        try until { watching.printed.contains(#""event":"round""#) }
        watching.send(SIGSTOP)
        try workshop.edit(desk, "insert Book title=One")
        try workshop.edit(phone, "insert Book title=Two")
        try workshop.done(["sync", phone] + service.settings)
        #expect(try titles(desk) == ["One"])
        watching.send(SIGCONT)
        try until { try titles(desk) == ["One", "Two"] }
        try until { try workshop.run("status", desk).status == 0 }
        watching.send(SIGTERM)
        #expect(watching.wait() == 0)
    }

    /// Of the same authority, as a renewal is.
    @Test func anotherCertificateOfTheServiceIsSurvived() throws {
        let watching = try watch(desk, "--interval", "1")
        try until { watching.printed.contains(#""event":"round""#) }
        service.kill()
        let folder = URL(fileURLWithPath: workshop.path("service/tls"))
        let leaves = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix("server") }
        #expect(!leaves.isEmpty)
        for leaf in leaves {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(leaf))
        }
        try workshop.edit(desk, "insert Book title=One")
        try service.restart()
        try until { try workshop.run("status", desk).status == 0 }
        watching.send(SIGTERM)
        #expect(watching.wait() == 0)
    }

    @Test func whatHoldsRoundsUpIsToldAndARoundByHandRuns() throws {
        let watching = try watch(desk, "--metered", "nothing")
        try until { watching.printed.contains(#""event":"held""#) }
        try workshop.edit(desk, "insert Book title=One")
        let status = try workshop.run("status", desk)
        #expect(status.status == 1)
        #expect(status.output.contains("It waits for a network that is not metered."))
        let hold = try workshop.run("status", desk, "--json").json["hold"] as? [String: Any]
        #expect(hold?["reason"] as? String == "metered")
        #expect(!watching.printed.contains(#""event":"round""#))
        try workshop.done(["sync", desk] + service.settings)
        try workshop.done(["sync", phone] + service.settings)
        #expect(try titles(phone) == ["One"])
        let events = try workshop.done(["events", desk, "--json"])
        #expect(events.output.contains(#""round":"#))
        watching.send(SIGTERM)
        #expect(watching.wait() == 0)
    }

    @Test func anotherProcessTakesTheTurnOfADeadOne() throws {
        let first = try watch(desk)
        try until { first.printed.contains(#""event":"round""#) }
        let second = try watch(desk)
        try until { second.printed.contains(#""event":"standingBy""#) }
        #expect(!second.printed.contains(#""event":"round""#))
        first.send(SIGKILL)
        first.wait()
        try workshop.edit(desk, "insert Book title=One")
        try until { second.printed.contains(#""event":"round""#) }
        try until { try workshop.run("status", desk).status == 0 }
        second.send(SIGTERM)
        #expect(second.wait() == 0)
    }

    @Test func aUnitIsWrittenThatRunsIt() throws {
        let run = try workshop.done(
            ["sync", desk, "--watch", "--install", "--json"] + service.settings)
        let unit = try #require(run.json["unit"] as? String)
        let text = try String(contentsOfFile: unit, encoding: .utf8)
        #expect(
            text.contains("\nExecStart=\"\(Workshop.command)\" \"sync\" \"\(desk)\" \"--watch\"\n"))
        #expect((run.json["start"] as? String)?.contains("systemctl --user enable --now") == true)
        // What the unit runs needs no flags.
        try workshop.done(["sync", desk])
        try workshop.done(["sync", desk, "--watch", "--install"])
        try Data("mine".utf8).write(to: URL(fileURLWithPath: unit))
        let refused = try workshop.run("sync", desk, "--watch", "--install")
        #expect(refused.status == 1 && refused.complaint.contains("not this command's"))
        #expect(try String(contentsOfFile: unit, encoding: .utf8) == "mine")
    }

    @Test func aUnitRunsWithTheKeysAndTheLogThatWereAskedFor() throws {
        let pass = try workshop.write("horse\n", to: "pass")
        let (keys, log) = (workshop.path("my keys"), workshop.path("sync.log"))
        try workshop.done(["key", "create", keys, "--passphrase-file", pass])
        let asked = ["sync", desk, "--watch", "--install", "--json"] + service.settings
        let words = [
            "--log", log, "--log-bytes", "4096", "--log-files", "2", "--key-file", keys,
            "--passphrase-file", pass,
        ]
        let run = try workshop.done(asked + words + ["--insecure-http"])
        let unit = try #require(run.json["unit"] as? String)
        let text = try String(contentsOfFile: unit, encoding: .utf8)
        let command = ([Workshop.command, "sync", desk, "--watch"] + words + ["--insecure-http"])
            .map { "\"\($0)\"" }.joined(separator: " ")
        #expect(text.contains("\nExecStart=\(command)\n"))
        #expect(!text.contains("horse"))
        let typed = try workshop.run(asked + ["--key-file", keys])
        #expect(typed.status == 2 && typed.complaint.contains("passphrase-file"))
    }

    /// As systemd reads it: with its own escapes, variables and specifiers.
    @Test func aUnitNamesTheStoreWhateverItIsCalled() {
        let odd = "/a b\tc\u{200F}é/$x%y\"\\.sqlite"
        #expect(
            UnitFile.quoted(odd) == #""/a b\x09c\xe2\x80\x8fé/$$x%%y\"\\.sqlite""#)
    }

    @Test func optionsThatMeanNothingAreRefused() throws {
        for words in [["--log", "a.log"], ["--log-bytes", "2048"], ["--log-files", "2"]] {
            let run = try workshop.run(["sync", desk, "--json"] + words + service.settings)
            #expect(run.status == 2 && run.errorCode == "usage")
        }
        #expect(try workshop.run(["sync", desk, "--install"] + service.settings).status == 2)
        for words in [
            ["--interval", "0"], ["--interval", "soon"], ["--max-rate", "0"],
            ["--hours", "2-3"], ["--hours", "02:00-03:00,"], ["--metered", "some"],
            ["--metered", "0"], ["--max-round", "-1"], ["--max-day", "99999999999999999999"],
        ] {
            #expect(
                try workshop.run(["sync", desk, "--watch"] + words + service.settings).status == 2)
        }
    }
}
