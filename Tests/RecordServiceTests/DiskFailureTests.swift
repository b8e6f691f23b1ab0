import Foundation
import Platform
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// Over SQLite alone: The disk under PostgreSQL is its own.
@Suite struct DiskFailureTests {
    private static let writing: Int32 = 10 | 3 << 8
    private static let full: Int32 = 13

    @Test func aWriterWhoseDiskFailedIsClosedAndOpenedAnew() throws {
        try withDatabasePath { path in
            let notices = Lock<[ServiceNotice]>([])
            let fixture = try ServiceFixture(path: path) { notice in
                notices.withLock { $0.append(notice) }
            }
            try fixture.save(.note("a"))
            fixture.faults.arm(
                "service.write.beforeCommit",
                SQLiteFault(code: Self.writing, message: "disk I/O error"))
            let error = #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
            #expect(error?.code == .tryAgainLater && (error?.retryAfterSeconds ?? 0) > 0)
            #expect(error?.reason.contains("I/O") == false)
            let file = try ContainerFile.path(path)
            #expect(notices.withLock { $0.first?.fields["file"] } == file)
            #expect(fixture.faults.count("service.openWriter") == 0)
            let tag = try fixture.save(.note("b")).recordChangeTag
            #expect(tag.flatMap(ChangeTag.init)?.change == 2)
            #expect(fixture.faults.count("service.openWriter") == 1)
            #expect(try fixture.changes(since: nil).records.count == 2)
        }
    }

    @Test func aWriterIsNotOpenedOnAnotherFile() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            fixture.faults.arm(
                "service.write.beforeCommit",
                SQLiteFault(code: Self.writing, message: "disk I/O error"))
            #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
            let file = try ContainerFile.path(path)
            let other = path + ".other"
            _ = try ServiceFixture(path: other, seed: 9)
            for suffix in ["", "-wal", "-shm"] { unlink(file + suffix) }
            try FileManager.default.copyItem(
                atPath: ContainerFile.path(other), toPath: file)
            let error = #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
            #expect(error?.reason.contains("exchanged") == true)
        }
    }

    /// The system says once that it could not keep what was written, and then takes its memory for
    /// the disk: what went well after that would prove nothing.
    @Test(arguments: [4, 5] as [Int32])
    func aWriterWhoseDiskDidNotKeepWhatWasWrittenStopsForGood(_ kind: Int32) throws {
        try withDatabasePath { path in
            let notices = Lock<[ServiceNotice]>([])
            let fixture = try ServiceFixture(path: path) { notice in
                notices.withLock { $0.append(notice) }
            }
            try fixture.save(.note("a"))
            fixture.faults.arm(
                "service.write.beforeCommit",
                SQLiteFault(code: 10 | kind << 8, message: "disk I/O error"))
            for _ in 0..<3 {
                let error = #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
                #expect(error?.code == .tryAgainLater && (error?.retryAfterSeconds ?? 0) > 0)
                #expect(error?.reason.contains("takes no writes") == true)
                #expect(fixture.service.unreadiness()?.contains("no more writes") == true)
            }
            #expect(fixture.faults.count("service.openWriter") == 0)
            #expect(try fixture.lookup(["a"])[0].record != nil, "reading goes on")
            #expect(try fixture.changes(since: nil).records.map(\.recordName) == ["a"])
            #expect(notices.withLock { $0.count } == 1, "it is said once")
            let again = try ServiceFixture(path: path, seed: 2, makesZone: false)
            try again.save(.note("b"))
            #expect(try again.changes(since: nil).records.count == 2)
        }
    }

    @Test func aFullDiskIsToldToWaitAndReadsGoOn() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            try fixture.save(.note("a"))
            fixture.faults.arm(
                "service.write.beforeCommit", SQLiteFault(code: Self.full, message: "full"))
            let error = #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
            #expect(error?.code == .tryAgainLater && (error?.retryAfterSeconds ?? 0) > 0)
            #expect(try fixture.lookup(["a"])[0].record != nil)
            let tag = try fixture.save(.note("b")).recordChangeTag
            #expect(tag.flatMap(ChangeTag.init)?.change == 2)
        }
    }

    @Test func clientsHearNoWordsOfTheDatabase() throws {
        try withDatabasePath { path in
            let notices = Lock<[ServiceNotice]>([])
            let fixture = try ServiceFixture(path: path) { notice in
                notices.withLock { $0.append(notice) }
            }
            for code: Int32 in [11, 1, 26] {
                fixture.faults.arm(
                    "service.write.beforeCommit",
                    SQLiteFault(code: code, message: "malformed secret", sql: "SELECT secret"))
                let error = #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
                #expect(error?.reason.contains("secret") == false)
                #expect(error?.reason.contains("SQLite") == false)
                #expect(error?.code == .internalError)
            }
            #expect(notices.withLock { $0.count } == 3)
            #expect(
                notices.withLock { $0.allSatisfy { $0.description.contains("malformed secret") } })
        }
    }

    // MARK: Deleted zones

    @Test func aDeletedZoneIsRemovedASliceAtATime() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            for start in stride(from: 0, to: 1_200, by: 400) {
                _ = try fixture.modify(
                    (start..<start + 400).map { RecordOperation(.create, .note("r\($0)")) },
                    desiredKeys: [])
            }
            let token = try fixture.changes(since: nil).syncToken
            _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
            try fixture.createZone(ServiceFixture.zone)
            // A zone made again at once shows nothing of what waits to be removed.
            #expect(try fixture.changes(since: nil).records.isEmpty)
            #expect(try fixture.lookup(["r0"])[0].error?.code == .notFound)
            #expect(try fixture.changes(since: token).failure?.code == .changeTokenExpired)
            try fixture.save(.note("r0", "new"))
            try fixture.service.removeDeletedRecords()
            #expect(fixture.faults.count("service.removeSlice") >= 3)
            #expect(try fixture.changes(since: nil).records.map(\.recordName) == ["r0"])
            let file = try Connection(path: ContainerFile.path(path), access: .readOnly)
            #expect(try file.value("SELECT count(*) FROM records")?.int64 == 1)
            #expect(try file.value("SELECT count(*) FROM doomed_zones")?.int64 == 0)
        }
    }

    @Test func aRemovalThatWasInterruptedGoesOnAtTheNextStart() throws {
        try withDatabasePath { path in
            let faults = OneFault()
            do {
                let fixture = try ServiceFixture(path: path, faults: faults)
                try fixture.save(.note("a"))
                faults.arm(
                    "service.removeSlice", SQLiteFault(code: Self.full, message: "full"))
                _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ServiceFixture.zone)]))
                _ = try fixture.lookup([], zone: nil)
            }
            let again = try ServiceFixture(path: path, seed: 2, makesZone: false)
            try again.service.removeDeletedRecords()
            let file = try Connection(path: ContainerFile.path(path), access: .readOnly)
            #expect(try file.value("SELECT count(*) FROM records")?.int64 == 0)
        }
    }
}
