import ChildProcesses
import Foundation
import Testing

/// Settings that lie beside a store may have come with it.
@Suite struct TrustTests {
    /// A store with a `diptych.conf` beside it that names the service, as a stranger may send it.
    private func parcel(
        _ workshop: Workshop, _ service: TestService, slash: String = ""
    ) throws -> String {
        let library = try workshop.library(slash.isEmpty ? "Library.sqlite" : "Further.sqlite")
        let names = ["service": "url", "container": "container", "ca-file": "caFile"]
        let lines = names.map {
            "\($0.key) = \(service.text($0.value))" + ($0.key == "service" ? slash : "")
        }
        try workshop.write(lines.joined(separator: "\n"), to: "diptych.conf")
        return library
    }

    /// Spaces around a value and quotes around all of it are the file's own.
    @Test func aValueIsReadBackAsItWasKept() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        let words = [
            "--service", service.text("url"), "--container", service.text("container"),
            "--ca-file", service.text("caFile"), "--remember",
        ]
        for name in ["my tokens ", "a = \"b\""] {
            let tokens = workshop.path(name)
            try FileManager.default.copyItem(atPath: service.text("tokenFile"), toPath: tokens)
            try workshop.done(["sync", library, "--token-file", tokens] + words)
            try workshop.done(["sync", library])
        }
        let tokens = workshop.path("two\nlines")
        try FileManager.default.copyItem(atPath: service.text("tokenFile"), toPath: tokens)
        let run = try workshop.run(["sync", library, "--token-file", tokens, "--json"] + words)
        #expect(run.status == 1 && run.errorCode == "cannotWrite")
        try workshop.done(["sync", library])
    }

    @Test func aStrangersFileGetsNoTokens() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try parcel(workshop, service)
        let tokens = try String(contentsOfFile: service.text("tokenFile"), encoding: .utf8)
        for line in tokens.split(separator: "\n") where line.contains(": dpt_") {
            let parts = line.split(separator: " ")
            let name = parts[0] == "api:" ? "DIPTYCH_API_TOKEN" : "DIPTYCH_USER_TOKEN"
            workshop.environment[name] = String(parts[1])
        }
        let refused = try workshop.run("sync", library, "--json")
        #expect(refused.status == 2)
        #expect(refused.errorCode == "unknownService")
        #expect((refused.error["message"] as? String)?.contains(service.text("url")) == true)
        #expect((refused.error["hint"] as? String)?.contains("sync \(library) --") == true)
        // Nothing went there.
        service.child.send(SIGTERM)
        service.child.wait()
        #expect(service.child.printed.contains("\"requests\":0"))
        try service.restart()
        try workshop.done(["sync", library, "--trust"])
        try workshop.done(["sync", library])
        // An address is known however it is spelled; earlier versions kept it as it was given.
        let spelled = try parcel(workshop, service, slash: "/")
        try workshop.done(["sync", spelled])
        let known = workshop.path("config/diptych/known-services")
        let former = try String(contentsOfFile: known, encoding: .utf8)
        try former.replacing("\t", with: "/\t", maxReplacements: 1)
            .write(toFile: known, atomically: true, encoding: .utf8)
        try workshop.done(["sync", library])
        // Another token file is another matter.
        let other = try workshop.write(tokens, to: "other.tokens")
        let conf = try String(contentsOfFile: workshop.path("diptych.conf"), encoding: .utf8)
        try workshop.write(conf + "\ntoken-file = \(other)\n", to: "diptych.conf")
        #expect(try workshop.run("sync", library, "--json").errorCode == "unknownService")
    }

    @Test func whatTheCallerSaidOrRememberedNeedsNoTrust() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try workshop.library()
        try workshop.done(["sync", library, "--remember"] + service.settings)
        try workshop.done(["sync", library])
        // Copied to another store, the settings are the same.
        let folder = workshop.path("phone")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: workshop.path("diptych.conf"), toPath: folder + "/diptych.conf")
        let copy = try workshop.library("phone/Copy.sqlite")
        try workshop.done(["sync", copy])
        // Flags are the caller's own words.
        let conf = try String(contentsOfFile: folder + "/diptych.conf", encoding: .utf8)
        try workshop.write(
            conf.replacing(service.text("url"), with: "https://192.0.2.1"), to: "phone/diptych.conf"
        )
        try workshop.done(["sync", copy] + service.settings)
        let home = workshop.path("config/diptych/diptych.conf")
        try FileManager.default.removeItem(atPath: folder + "/diptych.conf")
        try conf.write(toFile: home, atomically: true, encoding: .utf8)
        try workshop.done(["sync", copy])
    }

    @Test func settingsThatOthersMayWriteDoNotCount() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try parcel(workshop, service)
        let file = workshop.path("diptych.conf")
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        let run = try workshop.run("sync", library)
        #expect(run.status == 2)
        #expect(run.complaint.contains("warning: others may write \(file)"))
        #expect(run.complaint.contains("diptych: --container is missing."))
    }

    @Test(.enabled(if: geteuid() == 0, "only the superuser gives files away"))
    func settingsOfAnotherUserDoNotCount() throws {
        let workshop = try Workshop()
        let service = try workshop.service()
        let library = try parcel(workshop, service)
        let file = workshop.path("diptych.conf")
        #expect(chown(file, 12345, 12345) == 0)
        let run = try workshop.run("sync", library)
        #expect(run.complaint.contains("\(file) belongs to another user"))
        #expect(run.complaint.contains("diptych: --container is missing."))
        // Nor does a link of another's to a file of one's own.
        #expect(rename(file, workshop.path("real.conf")) == 0)
        #expect(chown(workshop.path("real.conf"), 0, 0) == 0)
        #expect(symlink(workshop.path("real.conf"), file) == 0)
        #expect(
            try workshop.run("sync", library, "--json").errorCode == "noTokens"
                || workshop.run("sync", library).complaint.contains("--token-file is missing"))
        #expect(lchown(file, 12345, 12345) == 0)
        #expect(try workshop.run("sync", library).complaint.contains("belongs to another user"))
    }

    @Test(arguments: ["http://192.0.2.1:8443", "http://example.org", "http://127.evil.example"])
    func plainHTTPToAnotherMachineIsRefused(service: String) throws {
        let workshop = try Workshop()
        let library = try workshop.library()
        workshop.environment["DIPTYCH_API_TOKEN"] = "dpt_secret"
        let words = ["sync", library, "--service", service, "--container", "c"]
        let run = try workshop.run(words + ["--json"])
        #expect(run.status == 2)
        #expect(run.errorCode == "insecureService")
        #expect((run.error["hint"] as? String)?.contains("--insecure-http`") == true)
    }

    @Test func plainHTTPToThisMachineIsNot() throws {
        let workshop = try Workshop()
        let service = try workshop.service("--tls", "off")
        let library = try workshop.library()
        let words = [
            "sync", library, "--service", service.text("url"), "--container",
            service.text("container"), "--token-file", service.text("tokenFile"),
        ]
        try workshop.done(words)
        // The switch lets the request go, to where nothing answers.
        let away = try workshop.run(
            "sync", library, "--service", "http://0.0.0.0:1", "--container", "c", "--token-file",
            service.text("tokenFile"), "--insecure-http", "--json")
        #expect(away.errorCode != "insecureService")
    }
}
