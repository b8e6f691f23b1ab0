import ChildProcesses
import Foundation
import SQLiteDriver
import Testing

/// The service as a process.
@Suite struct ServeTests {
    @Test func theFirstRunMakesWhatDevicesNeed() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let keys: Set = [
            "event", "url", "port", "container", "tokenFile", "caFile", "dataFolder", "firstRun",
            "processID",
        ]
        #expect(Set(service.ready.keys) == keys)
        #expect(service.ready["firstRun"] as? Bool == true)
        #expect(service.port > 0)
        #expect(service.text("url") == "https://127.0.0.1:\(service.port)")
        let tokens = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
        #expect(tokens.contains("\napi: dpt_"))
        #expect(tokens.contains("\nuser: dpt_"))
        let mode = try FileManager.default.attributesOfItem(atPath: service.text("tokenFile"))
        #expect((mode[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(!service.child.printed.contains("dpt_"))
        #expect(!service.child.complaint.contains("dpt_"))
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aSignalEndsItCleanly(signal: Int32) throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        service.child.send(signal)
        #expect(service.child.wait() == 0)
        let last = service.child.printed.split(separator: "\n").last ?? ""
        #expect(last.hasPrefix("{\"event\":\"stopped\""))
    }

    @Test func aSecondRunKeepsTheTokens() throws {
        let workshop = try Workshop()
        let service = try workshop.service("--show-tokens")
        #expect(service.ready["tokens"] is [String: Any])
        let tokens = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
        service.kill()
        try service.restart()
        #expect(service.ready["firstRun"] as? Bool == false)
        // They were shown when they were made; only hashes are kept.
        #expect(service.ready["tokens"] == nil)
        #expect(try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8) == tokens)
    }

    /// A container that was added meanwhile changes nothing of what is served to whom.
    @Test func theContainerOfTheTokensIsServedOn() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let container = service.text("container")
        let data = service.text("dataFolder")
        let added = try workshop.run([
            "service", "containers", "--add", "iCloud.a", "--data", data,
        ])
        #expect(added.status == 0)
        try service.restart()
        #expect(service.text("container") == container)
        #expect(service.ready["firstRun"] as? Bool == false)
        #expect(!FileManager.default.fileExists(atPath: data + "/iCloud.a.tokens"))
    }

    @Test func tokensAreTakenInAgainWhenTheDatabaseWasDeleted() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        service.kill()
        for suffix in ["", "-wal", "-shm"] {
            unlink(service.text("dataFolder") + "/records.sqlite" + suffix)
        }
        try service.restart()
        #expect(service.child.complaint.contains("records.sqlite knew nothing of the tokens"))
        service.kill()
        try service.restart()
        #expect(!service.child.complaint.contains("knew nothing"))
    }

    @Test func aDamagedDatabaseIsNamedAtTheStart() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        // Its file is made when it is asked for.
        try workshop.done(["sync", workshop.library()] + service.settings)
        service.child.send(SIGTERM)
        #expect(service.child.wait() == 0)
        let path = service.text("dataFolder") + "/records.sqlite"
        let folder = path + ".containers"
        let file = try #require(
            FileManager.default.contentsOfDirectory(atPath: folder)
                .first { $0.hasSuffix(".sqlite") })
        let container = URL(fileURLWithPath: folder + "/" + file)
        _ = try Connection(path: container.path).rows("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try Data(contentsOf: container)
        #expect(bytes.count > 5 * 4_096)
        bytes.replaceSubrange(
            bytes.count - 4_096..<bytes.count, with: Data(repeating: 0xEE, count: 4_096))
        try bytes.write(to: container)
        try? service.restart()
        #expect(service.child.complaint.contains(path + " is damaged (container "))
    }

    @Test func aPortInUseIsSaidClearly() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let run = try workshop.run(
            "serve", "--data", workshop.path("other"), "--listen", "127.0.0.1:\(service.port)")
        #expect(run.status == 1)
        #expect(
            run.complaint.hasPrefix("diptych: Port \(service.port) is in use by another process.\n")
        )
        #expect(run.complaint.contains("\nhint: "))
    }

    @Test func aDataFolderInUseIsSaidClearly() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let run = try workshop.run(
            "serve", "--data", service.text("dataFolder"), "--listen", "127.0.0.1:0", "--json")
        #expect(run.status == 1)
        #expect(run.errorCode == "dataFolderInUse")
        // The flags of this call are not those of the other one.
        #expect(!run.complaint.contains("127.0.0.1:0"))
        let message = run.error["message"] as? String ?? ""
        #expect(message.contains("process \(service.child.id)"))
    }

    @Test func peopleAreToldHowToConnect() throws {
        let workshop = try Workshop()
        let child = try workshop.start([
            "serve", "--data", workshop.path("here"), "--listen", "127.0.0.1:0", "--ready-file",
            workshop.path("ready.json"),
        ])
        for _ in 0..<12_000
        where !FileManager.default.fileExists(atPath: workshop.path("ready.json")) {
            usleep(50_000)
        }
        child.send(SIGTERM)
        #expect(child.wait() == 0)
        #expect(child.printed.contains("diptych sync STORE --model MODEL --service https://127."))
        #expect(child.printed.contains(workshop.path("here") + "/tls/authority.pem"))
        #expect(!child.printed.contains("dpt_"))
        #expect(!child.printed.contains("\u{1B}"))
    }

    @Test func aFolderThatCannotBeMadeIsSaidClearly() throws {
        let workshop = try Workshop()
        let file = try workshop.write("x", to: "file")
        let run = try workshop.run("serve", "--data", file + "/below", "--json")
        #expect(run.status == 1)
        #expect(run.errorCode == "cannotWrite")
    }
}
