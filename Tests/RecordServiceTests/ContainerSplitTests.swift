import Foundation
import Platform
import RecordWire
import SQLiteDriver
import Testing

@testable import RecordService

/// A file of the time when it held all containers goes on as files of their own: what is killed on
/// the way is done again, and no device sees a difference.
@Suite struct ContainerSplitTests {
    private static let other = "iCloud.org.example.other"

    private struct Killed: Error {}

    /// What a device of each container knows.
    private struct Known {
        var tokens: [String: String] = [:]
        var pages: [String: ZoneChangesReply] = [:]
        var databases: [String: String] = [:]
    }

    /// Two containers with all that a container may hold, in one file.
    private func makeFormer(_ path: String) throws -> Known {
        var known = Known()
        do {
            let fixture = try ServiceFixture(path: path)
            try fixture.service.accounts.createContainer("empty")
            try fixture.service.accounts.createContainer(Self.other)
            for container in [ServiceFixture.container, Self.other] {
                try fill(at(container, fixture), container)
            }
            for container in [ServiceFixture.container, Self.other] {
                let one = at(container, fixture)
                known.tokens[container] = try one.changes(since: nil, limit: 2).syncToken
                known.pages[container] = try one.changes(since: nil)
                known.databases[container] = try one.databaseChanges(since: nil).syncToken
            }
        }
        try FormerFile.make(of: path)
        return known
    }

    private func fill(_ fixture: ServiceFixture, _ container: String) throws {
        try fixture.createZone(ServiceFixture.zone)
        for name in ["a", "b", "c", "d"] { try fixture.save(.note(name, container)) }
        _ = try fixture.modify([RecordOperation(.forceDelete, .note("d"))])
        try fixture.save(fixture.note("picture", fixture.upload(Data(container.utf8))))
        try fixture.createZone(ZoneID(zoneName: "gone"))
        fixture.faults.arm("service.removeSlice", SQLiteFault(code: 13, message: "full"))
        _ = try fixture.modify(
            [RecordOperation(.create, .note("x"))], zone: ZoneID(zoneName: "gone"))
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ZoneID(zoneName: "gone"))]))
        _ = try fixture.send(.queryRecords(Self.query))
        try fixture.service.accounts.setGrant(
            RoleGrant(recordType: container, role: "_icloud", reads: true), container: container)
    }

    private static var query: QueryRecords {
        QueryRecords(
            RecordQuery(recordType: "Note", filters: [], sorts: []), zoneID: ServiceFixture.zone)
    }

    private func at(_ container: String, _ fixture: ServiceFixture) -> ServiceFixture {
        var fixture = fixture
        fixture.target.container = container
        return fixture
    }

    private func expect(_ known: Known, at path: String, seed: UInt64 = 7) throws {
        let fixture = try ServiceFixture(path: path, seed: seed, makesZone: false)
        #expect(try Connection(path: path).pragma("user_version")?.int64 == 5)
        #expect(try fixture.service.damageInFile().isEmpty)
        for (container, page) in known.pages {
            let one = at(container, fixture)
            #expect(try one.changes(since: page.syncToken).records.isEmpty)
            #expect(try one.changes(since: page.syncToken).failure == nil)
            let rest = try one.changes(since: known.tokens[container])
            #expect(rest.failure == nil)
            let rows = page.records.dropFirst(2)
            #expect(rest.records.map(\.recordName) == rows.map(\.recordName))
            #expect(rest.records.map(\.recordChangeTag) == rows.map(\.recordChangeTag))
            #expect(rest.records.map { $0.fields["title"] } == rows.map { $0.fields["title"] })
            #expect(
                try one.changes(since: nil).records.map(\.recordChangeTag)
                    == page.records.map(\.recordChangeTag))
            #expect(
                try one.databaseChanges(since: known.databases[container]).zones.isEmpty)
            let grants = try fixture.service.accounts.grants(container: container)
            #expect(grants.map(\.recordType) == [container])
            let tag = page.records.first { $0.recordName == "a" }?.recordChangeTag
            let edit = try one.modify([RecordOperation(.update, .note("a", "new", tag: tag))])
            #expect(edit[0].error == nil)
            #expect(try one.content(of: one.asset(of: "picture")) == Data(container.utf8))
        }
        fixture.clock.advance(seconds: 30 * 86_400)
        try fixture.service.collectAssets()
        fixture.clock.advance(seconds: 30 * 86_400)
        #expect(try fixture.service.collectAssets() == 0)
        try fixture.service.removeDeletedRecords()
        for container in known.pages.keys {
            let file = try Connection(path: ContainerFile.path(path, of: container))
            #expect(try file.value("SELECT count(*) FROM doomed_zones")?.int64 == 0)
            #expect(try file.value("SELECT count(*) FROM records")?.int64 == 5)
        }
    }

    @Test func devicesSeeNoDifference() throws {
        try withDatabasePath { path in
            let known = try makeFormer(path)
            try expect(known, at: path)
            let names = try Connection(path: path).rows(
                "SELECT name FROM sqlite_schema WHERE name IN ('records', 'zones', 'shares')")
            #expect(names.isEmpty)
            #expect(
                try at("empty", ServiceFixture(path: path)).databaseChanges(since: nil)
                    .zones.isEmpty)
        }
    }

    private static let points = ["copied", "named", "beforeCommit", "afterCommit"]

    @Test(arguments: points) func aSplitThatFailsIsDoneAgain(_ point: String) throws {
        try withDatabasePath { path in
            let known = try makeFormer(path)
            let faults = OneFault()
            faults.arm("service.split." + point, Killed())
            #expect(throws: RecordError.self) {
                try ServiceFixture(path: path, makesZone: false, faults: faults)
            }
            #expect(faults.count("service.split." + point) > 0)
            let version = try Connection(path: path).pragma("user_version")?.int64
            #expect(version == (point == "afterCommit" ? 5 : 4))
            try expect(known, at: path)
        }
    }

    /// What lies on the disk at that moment is started over in another place.
    @Test(arguments: points) func aSplitThatIsKilledIsDoneAgain(_ point: String) throws {
        try withDatabasePath { path in
            let known = try makeFormer(path)
            let copy = path + ".killed"
            let faults = OneFault()
            faults.atNext("service.split." + point) {
                for suffix in ["", "-wal", ".containers", "-assets"]
                where FileManager.default.fileExists(atPath: path + suffix) {
                    try FileManager.default.copyItem(
                        atPath: path + suffix, toPath: copy + suffix)
                }
            }
            _ = try ServiceFixture(path: path, makesZone: false, faults: faults)
            try expect(known, at: copy)
        }
    }

    @Test func whatStrangersLeftInTheFolderStays() throws {
        try withDatabasePath { path in
            let known = try makeFormer(path)
            let folder = ContainerFile.folder(path)
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/other.sqlite"))
            try expect(known, at: path)
            #expect(FileManager.default.fileExists(atPath: folder + "/other.sqlite"))
        }
    }

    @Test func aDamagedFormerFileIsRefusedAndStaysAsItIs() throws {
        try withDatabasePath { path in
            _ = try makeFormer(path)
            _ = try Connection(path: path).rows("PRAGMA wal_checkpoint(TRUNCATE)")
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let place = try #require(bytes.range(of: Data("aNote".utf8))?.lowerBound)
            let page = place / 4_096 * 4_096
            bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0xEE, count: 4_096))
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(throws: RecordError.self) {
                try ServiceFixture(path: path, makesZone: false)
            }
            #expect(try Connection(path: path).pragma("user_version")?.int64 == 4)
            #expect(try Connection(path: path).value("SELECT count(*) FROM zones") != nil)
        }
    }
}
