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

    private static let points = ["copied", "cleared", "named", "beforeCommit", "afterCommit"]

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

    private func filesInUse(_ path: String) throws -> [String] {
        try Connection(path: path).rows("SELECT file FROM container_files ORDER BY file")
            .compactMap { $0.first?.string }
    }

    private func files(_ path: String) -> [String] {
        let folder = ContainerFile.folder(path)
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
    }

    /// Starts at `path` and leaves what lies on the disk at `point` at `copy`.
    private func strike(_ path: String, _ point: String, to copy: String, seed: UInt64) throws {
        let faults = OneFault()
        faults.atNext("service.split." + point) {
            for suffix in ["", "-wal", ".containers", "-assets"]
            where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
        }
        _ = try ServiceFixture(path: path, seed: seed, makesZone: false, faults: faults)
    }

    /// Also where the one that clears away what the first left is killed.
    @Test(arguments: points, points) func killedSplitsLeaveNothing(
        _ first: String, _ second: String
    ) throws {
        try withDatabasePath { path in
            let known = try makeFormer(path)
            let (once, twice) = (path + ".once", path + ".twice")
            try strike(path, first, to: once, seed: 1)
            try strike(once, second, to: twice, seed: 3)
            // Where the first was whole, the second has nothing to do.
            let last = FileManager.default.fileExists(atPath: twice) ? twice : once
            let notices = Lock<[ServiceNotice]>([])
            _ = try ServiceFixture(path: last, seed: 5, makesZone: false) { notice in
                notices.withLock { $0.append(notice) }
            }
            #expect(notices.withLock { $0 }.isEmpty)
            #expect(try files(last) == filesInUse(last))
            try expect(known, at: last)
        }
    }

    /// Somebody wrote to it, so that it has what nothing else has.
    @Test(arguments: [true, false]) func aCopyThatHoldsMoreStays(_ isInWAL: Bool) throws {
        try withDatabasePath { path in
            let known = try makeFormer(path)
            let copy = path + ".killed"
            try strike(path, "named", to: copy, seed: 1)
            let left = files(copy)
            let changed = try #require(left.first { $0.hasPrefix("icloud_org_example_other") })
            do {
                let file = try Connection(path: ContainerFile.folder(copy) + "/" + changed)
                if isInWAL { _ = try file.pragma("journal_mode = WAL") }
                try file.run("UPDATE records SET name = 'z' WHERE name = 'a'")
            }
            try expect(known, at: copy)
            #expect(try files(copy) == (filesInUse(copy) + [changed]).sorted())
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

    // MARK: Damage

    /// Breaks the page that holds `text`; returns the file as it is then.
    private func breakPage(of text: String, _ path: String) throws -> Data {
        _ = try Connection(path: path).rows("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(bytes.range(of: Data(text.utf8))?.lowerBound)
        let page = place / 4_096 * 4_096
        bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0xEE, count: 4_096))
        try bytes.write(to: URL(fileURLWithPath: path))
        return bytes
    }

    private func kept(_ path: String) -> [String] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.contains(".damaged") || $0.contains(".mending") }.sorted()
    }

    private func makeLargeFormer(_ path: String) throws {
        do {
            let fixture = try ServiceFixture(path: path)
            try fixture.service.accounts.createContainer(Self.other)
            try fill(at(Self.other, fixture), Self.other)
            let body = String(repeating: "x", count: 3_000)
            for index in 0..<40 { try fixture.save(.note("record-\(index)", body)) }
            for index in 36..<40 {
                _ = try fixture.modify([RecordOperation(.forceDelete, .note("record-\(index)"))])
            }
        }
        try FormerFile.make(of: path)
    }

    @Test(arguments: [nil, "kept"]) func aDamagedFormerFileGoesOnWithAllThatCanBeRead(
        _ point: String?
    ) throws {
        try withDatabasePath { path in
            try makeLargeFormer(path)
            let damaged = try breakPage(of: "record-20Note", path)
            if let point {
                let faults = OneFault()
                faults.arm("service.mend." + point, Killed())
                #expect(throws: RecordError.self) {
                    try ServiceFixture(path: path, makesZone: false, faults: faults)
                }
                #expect(kept(path).isEmpty)
                #expect(try Connection(path: path).pragma("user_version")?.int64 == 4)
            }
            let notices = Lock<[ServiceNotice]>([])
            let fixture = try ServiceFixture(path: path, seed: 9, makesZone: false) { notice in
                notices.withLock { $0.append(notice) }
            }
            let said = notices.withLock { $0 }
            #expect(said.count == 1)
            #expect(said.first?.fields["recordNames"]?.contains("record-20") == true)
            #expect(try fixture.service.damageInFile().isEmpty)
            let page = try fixture.changes(since: nil)
            #expect(page.failure == nil && page.damagedRecords.contains("record-20"))
            #expect(page.damagedRecords.count < 5)
            #expect(Set(page.records.map(\.recordName) + page.damagedRecords).count == 40)
            #expect(said.first?.fields["records"] == "\(page.damagedRecords.count)")
            let found = try fixture.lookup(["record-20", "record-1"])
            #expect(found.map { $0.error?.code } == [.recordDamaged, nil])
            try fixture.save(.note("record-20", "mended"), .forceReplace)
            #expect(try !fixture.changes(since: nil).damagedRecords.contains("record-20"))
            #expect(try at(Self.other, fixture).changes(since: nil).damagedRecords.isEmpty)
            // The file of before is there, page by page.
            #expect(kept(path) == [URL(fileURLWithPath: path).lastPathComponent + ".damaged-1"])
            let copy = try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1"))
            #expect(copy.count == damaged.count)
            let broken = Data(repeating: 0xEE, count: 4_096)
            #expect(copy.range(of: broken) == damaged.range(of: broken))
            let zones = "SELECT count(*) FROM zones"
            #expect(try Connection(path: path + ".damaged-1").value(zones)?.int64 ?? 0 > 2)
        }
    }

    /// The page may hold a deletion, or all there are.
    @Test(arguments: ["record-38", "aNote"]) func otherPagesOfRecordsAreMendedToo(
        _ text: String
    ) throws {
        try withDatabasePath { path in
            if text == "aNote" { _ = try makeFormer(path) } else { try makeLargeFormer(path) }
            _ = try breakPage(of: text, path)
            let fixture = try ServiceFixture(path: path, seed: 9, makesZone: false)
            #expect(try fixture.service.damageInFile().isEmpty)
            let names = try fixture.changes(since: nil)
            let all = Set(names.records.map(\.recordName) + names.damagedRecords)
            #expect(text == "aNote" ? all.isSuperset(of: ["a", "b", "c"]) : all.count == 40)
            #expect(
                try fixture.lookup(["record-38", "d"]).allSatisfy { $0.error?.code == .notFound })
            #expect(
                try fixture.save(.note("new")).recordChangeTag != nil)
        }
    }

    /// Nobody knows any more whose it was, and of which type.
    @Test func aLostPublicRecordIsNobodysToChange() throws {
        try withDatabasePath { path in
            do {
                var fixture = try ServiceFixture(path: path)
                try fixture.service.accounts.setGrant(
                    RoleGrant(recordType: "Note", role: "_creator", reads: true, writes: true),
                    container: ServiceFixture.container)
                try fixture.service.accounts.setGrant(
                    RoleGrant(recordType: "Note", role: "_icloud", creates: true),
                    container: ServiceFixture.container)
                fixture.target.database = "public"
                let saved = try fixture.modify([RecordOperation(.create, .note("own"))], zone: nil)
                #expect(saved[0].error == nil)
            }
            try FormerFile.make(of: path)
            _ = try breakPage(of: "ownNote", path)
            var fixture = try ServiceFixture(path: path, seed: 9, makesZone: false)
            fixture.target.database = "public"
            for caller in ["_anna", "_eve"] {
                fixture.caller = Caller(userRecordName: caller)
                for kind in [RecordOperation.Kind.forceReplace, .forceDelete] {
                    let result = try fixture.modify(
                        [RecordOperation(kind, .note("own"))], zone: nil)
                    #expect(result[0].error?.code == .accessDenied)
                }
                #expect(try fixture.lookup(["own"], zone: nil)[0].record == nil)
            }
        }
    }

    /// What a role may do is not to be guessed.
    @Test func aFormerFileThatIsDamagedBeyondRecordsIsRefusedAndStaysAsItIs() throws {
        try withDatabasePath { path in
            _ = try makeFormer(path)
            let damaged = try breakPage(of: Self.other + Self.other + "_icloud", path)
            let error = #expect(throws: RecordError.self) {
                try ServiceFixture(path: path, makesZone: false)
            }
            #expect(error?.reason.contains("role_grants") == true)
            #expect(error?.reason.contains(".recover") == true)
            #expect(kept(path).isEmpty)
            #expect(ContainerFile.all(of: path).count == 1)
            #expect(try Connection(path: path).pragma("user_version")?.int64 == 4)
            let broken = Data(repeating: 0xEE, count: 4_096)
            #expect(damaged.range(of: broken) != nil)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).range(of: broken) != nil)
        }
    }
}
