import ChildProcesses
import Foundation
import PostgresTesting
import Testing

/// The service over PostgreSQL, in several processes.
@Suite(
    .enabled(
        if: TestServer.isInstalled, "PostgreSQL is not installed; Tools/setup does that"))
struct PostgresServeTests {
    private let workshop: Workshop
    private let address: String

    init() throws {
        workshop = try Workshop()
        address = try TestServer.shared.get().makeDatabase()
    }

    private func titles(_ store: String) throws -> [String] {
        try workshop.sql(store, "select ZTITLE from ZBOOK order by 1")
            .split(separator: "\n").map(String.init)
    }

    @Test func aPushAtOneProcessWakesADeviceAtTheOther() throws {
        let one = try workshop.service("--data", workshop.path("one"), "--database", address)
        let other = try workshop.service("--data", workshop.path("other"), "--database", address)
        let desk = try workshop.library("desk.sqlite")
        let phone = try workshop.library("phone.sqlite")
        let watching = try workshop.start(
            ["sync", desk, "--watch", "--json"] + one.settings)
        try until { watching.printed.contains(#""event":"watching""#) }
        try workshop.edit(phone, "insert Book title=Two")
        try workshop.done(["sync", phone] + other.settings)
        try until { try titles(desk) == ["Two"] }
        try workshop.edit(desk, "insert Book title=One")
        try until {
            try workshop.done(["sync", phone] + other.settings)
            return try titles(phone) == ["One", "Two"]
        }
        // The records outlive the process that took them.
        one.kill()
        let third = try workshop.library("third.sqlite")
        try workshop.done(["sync", third] + other.settings)
        #expect(try titles(third) == ["One", "Two"])
    }

    @Test func theAdministratorsVerbsWorkOverIt() throws {
        let service = try workshop.service("--data", workshop.path("one"), "--database", address)
        let store = try workshop.library("desk.sqlite")
        try workshop.edit(store, "insert Book title=One")
        try workshop.done(["sync", store] + service.settings)
        func ask(_ words: String...) throws -> Run {
            try workshop.run(["service"] + words + ["--database", address])
        }
        #expect(try ask("status").output.contains(service.text("container")))
        #expect(try ask("users", "--add", "Ann").status == 0)
        #expect(try ask("users").output.contains("Ann"))
        #expect(try ask("containers").output.contains(service.text("container")))
        #expect(try ask("tokens").status == 0)
        for work in ["backup", "restore"] {
            let run = try ask(work, workshop.path("copy"))
            #expect(run.status == 1 && run.complaint.contains("pg_dump"))
        }
    }

    /// What is uploaded at one would be gone for all who ask the other.
    @Test func aServiceWithAnotherPlaceOfAssetsSaysSo() throws {
        let shared = ["--database", address, "--assets", workshop.path("shared")]
        func start(_ name: String, _ words: [String]) throws -> Child {
            let child = try workshop.start(
                ["serve", "--listen", "127.0.0.1:0", "--tls", "off", "--data", workshop.path(name)]
                    + words)
            try until { !child.printed.isEmpty }
            return child
        }
        let one = try start("one", shared)
        let marks = "SELECT count(*) FROM asset_home"
        try until { try TestServer.sql(marks, at: address) == "1\n" }
        let other = try start("other", ["--database", address])
        try until { other.complaint.contains("--assets") }
        let third = try start("third", shared)
        usleep(500_000)
        #expect(!one.complaint.contains("--assets") && !third.complaint.contains("--assets"))
        for child in [one, other, third] {
            child.send(SIGTERM)
            child.wait()
        }
    }

    @Test func noPasswordIsShown() throws {
        let secret = "pa55word"
        let away = "postgresql://ann:\(secret)@127.0.0.1:1/records?connect_timeout=2"
        for words in [["serve", "--data", workshop.path("x")], ["service", "status"]] {
            for address in [away, "postgresql://ann:\(secret)@[host/x"] {
                let run = try workshop.run(words + ["--database", address])
                #expect(run.status != 0)
                #expect(!run.complaint.contains(secret) && !run.output.contains(secret))
            }
        }
        let run = try workshop.run(["serve", "--data", workshop.path("x"), "--database", away])
        #expect(run.complaint.contains("PGPASSFILE"))
    }
}
