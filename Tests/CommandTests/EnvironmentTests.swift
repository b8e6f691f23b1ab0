import ChildProcesses
import Foundation
import Testing

/// Stores of a container's two environments, which have no record in common.
@Suite struct EnvironmentTests {
    @Test func productionHasRecordsOfItsOwn() throws {
        let bench = try Bench()
        try bench.workshop.edit(bench.first, "insert Book title=Dune pages=604")
        try bench.sync(bench.first)
        try bench.deploy()
        // Nothing of what development has is there.
        let desk = try bench.workshop.library("Desk.sqlite")
        try bench.sync(desk, "--environment", "production")
        #expect(try bench.titles(desk).isEmpty)
        #expect(try bench.environment(desk) == "production")
        #expect(try bench.environment(bench.first) == "development")
        // Devices of production share what they have; later rounds go by the store alone.
        try bench.workshop.edit(desk, "insert Book title=Emma pages=512")
        try bench.sync(desk)
        let laptop = try bench.workshop.library("Laptop.sqlite")
        try bench.sync(laptop, "--environment", "production")
        #expect(try bench.titles(laptop) == ["Emma"])
        try bench.workshop.expectEqual(desk, laptop)
        try bench.sync(bench.first)
        #expect(try bench.titles(bench.first) == ["Dune"])
        // So do the verbs that ask the service without a round.
        try bench.workshop.done(["verify", laptop] + bench.settings)
        try bench.workshop.done(["sync", laptop, "--dry-run"] + bench.settings)
    }

    @Test func aStoreOfOneIsNotSentToTheOther() throws {
        let bench = try Bench()
        try bench.workshop.edit(bench.first, "insert Book title=Dune pages=604")
        try bench.sync(bench.first)
        try bench.deploy()
        for verb in [["sync"], ["sync", "--dry-run"], ["verify"]] {
            let refused = try bench.workshop.run(
                verb + [bench.first, "--json", "--environment", "production"] + bench.settings)
            #expect(refused.status == 2 && refused.errorCode == "otherEnvironment", "\(verb)")
            #expect(refused.complaint.contains("--environment development"))
        }
        // After a reset it may begin with the other, and loses nothing on the way.
        try bench.workshop.done(["reset", bench.first])
        try bench.sync(bench.first, "--environment", "production")
        let laptop = try bench.workshop.library("Laptop.sqlite")
        try bench.sync(laptop, "--environment", "production")
        #expect(try bench.titles(laptop) == ["Dune"])
    }

    /// Stores that earlier versions mirrored say nothing of it; by hand there was one alone.
    @Test func aStoreOfAnEarlierVersionIsOfDevelopment() throws {
        let bench = try Bench()
        try bench.workshop.edit(bench.first, "insert Book title=Dune pages=604")
        try bench.sync(bench.first)
        try bench.deploy()
        let forgetting = "delete from ANSCKMETADATAENTRY where ZKEY = 'DiptychEnvironment'"
        _ = try bench.workshop.sql(bench.first, forgetting)
        let refused = try bench.workshop.run(
            ["sync", bench.first, "--json", "--environment", "production"] + bench.settings)
        #expect(refused.errorCode == "otherEnvironment")
        try bench.sync(bench.first)
        #expect(try bench.environment(bench.first) == "development")
    }

    @Test func theSchemaOfAModelLetsObjectsBeSharedInProduction() throws {
        let bench = try Bench()
        try bench.deploy(bench.workshop.done(["model", "schema", Workshop.model]).output)
        try bench.workshop.edit(bench.first, "insert Book title=Dune")
        try bench.sync(bench.first, "--environment", "production")
        try bench.share(bench.first)
    }

    /// Objects and links that the schema lacks wait for it, and go with the next round.
    @Test func whatProductionLackedIsSentAfterTheDeployment() throws {
        let bench = try Bench()
        try bench.deploy("DEFINE SCHEMA RECORD TYPE CD_Book ( CD_entityName STRING );")
        try bench.workshop.edit(
            bench.first,
            "insert Book title=Dune\ninsert Tag name=novel\n"
                + "link Book[title == 'Dune'].tags Tag[name == 'novel']")
        let refused = try bench.workshop.run(
            ["sync", bench.first, "--environment", "production"] + bench.settings)
        #expect(refused.status != 0)
        let status = try bench.workshop.run("status", bench.first)
        #expect(status.status == 1)
        #expect(status.output.contains("Nothing is lost"))
        #expect(status.output.contains("diptych service schema --deploy"))
        try bench.deploy(bench.workshop.done(["model", "schema", Workshop.model]).output)
        try bench.sync(bench.first)
        #expect(try bench.workshop.run("status", bench.first).status == 0)
        let laptop = try bench.workshop.library("Laptop.sqlite")
        try bench.sync(laptop, "--environment", "production")
        #expect(try bench.titles(laptop) == ["Dune"])
        try bench.workshop.expectEqual(bench.first, laptop)
    }

    @Test func whatWasSharedInDevelopmentMayBeSharedInProduction() throws {
        let bench = try Bench()
        try bench.workshop.edit(bench.first, "insert Book title=Dune")
        try bench.sync(bench.first)
        try bench.share(bench.first)
        try bench.deploy()
        let desk = try bench.workshop.library("Desk.sqlite")
        try bench.workshop.edit(desk, "insert Book title=Emma")
        try bench.sync(desk, "--environment", "production")
        try bench.share(desk)
    }

    @Test func aSettingSaysItForStoresThatHaveNoneYet() throws {
        let bench = try Bench()
        try bench.sync(bench.first)
        try bench.deploy()
        bench.workshop.environment["DIPTYCH_ENVIRONMENT"] = "production"
        let desk = try bench.workshop.library("Desk.sqlite")
        try bench.sync(desk)
        #expect(try bench.environment(desk) == "production")
        bench.workshop.environment["DIPTYCH_ENVIRONMENT"] = "testing"
        let refused = try bench.workshop.run(["sync", desk, "--json"] + bench.settings)
        #expect(refused.status == 2 && refused.errorCode == "usage")
    }
}

/// A service, and a library that nobody mirrored yet.
private struct Bench {
    let workshop: Workshop
    let service: TestService
    let first: String

    init() throws {
        workshop = try Workshop()
        service = try workshop.service()
        first = try workshop.library("First.sqlite")
    }

    var settings: [String] { service.settings }

    func sync(_ store: String, _ words: String...) throws {
        try workshop.done(["sync", store] + words + settings)
    }

    func deploy() throws { try administer("schema", "--deploy") }

    func deploy(_ schema: String) throws {
        let file = workshop.path("Library.ckdb")
        try schema.write(toFile: file, atomically: true, encoding: .utf8)
        try administer("schema", "--import", file)
        try deploy()
    }

    func administer(_ words: String...) throws {
        try workshop.done(
            ["service"] + words + [
                "--container", service.text("container"), "--data", workshop.path("service"),
            ])
    }

    /// Shares its books; all that goes with it is taken.
    func share(_ store: String) throws {
        try workshop.done(["share", store, "make", "--objects", "Book"] + service.settings)
        try sync(store)
    }

    func titles(_ store: String) throws -> [String] {
        try workshop.sql(store, "select ZTITLE from ZBOOK order by ZTITLE")
            .split(separator: "\n").map(String.init)
    }

    /// The environment that `status` tells.
    func environment(_ store: String) throws -> String? {
        let zones = try workshop.run("status", store, "--json").json["zones"] as? [[String: Any]]
        return zones?.first?["environment"] as? String
    }
}
