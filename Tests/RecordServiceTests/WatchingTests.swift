import Foundation
import Platform
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// What a service tells whoever runs it.
@Suite(.everyBackend) struct WatchingTests {
    private static let writing: Int32 = 10 | 3 << 8

    @Test func aServiceCountsWhatItDid() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        try fixture.save(.note("b"))
        let refused = try fixture.modify([
            RecordOperation(.create, .note("a")), RecordOperation(.update, .note("none", tag: "1")),
        ])
        #expect(refused.allSatisfy { $0.error != nil })
        _ = try fixture.lookup(["a", "none"])
        _ = try fixture.changes(since: nil)
        let statistics = fixture.service.statistics
        #expect(statistics.recordsWritten == 2 && statistics.recordsRead == 3)
        #expect(statistics.conflicts == 1 && statistics.recordsRefused == 1)
        let containers = try fixture.service.largestContainers(limit: 100)
        #expect(containers.map(\.name) == [ServiceFixture.container])
        #expect(containers[0].records == 2 && containers[0].bytes > 0)
        #expect(try fixture.service.largestContainers(limit: 0).isEmpty)
        // PostgreSQL groups commits itself.
        #expect((fixture.service.commitSizes?.count ?? 3) > 2)
        #expect((fixture.service.commitSizes == nil) == (StoragePlace.current == .postgres))
    }

    @Test func aDiskThatFailedIsToldUntilItTakesWhatIsWritten() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            #expect(fixture.service.unreadiness() == nil)
            fixture.faults.arm(
                "service.write.beforeCommit",
                SQLiteFault(code: Self.writing, message: "disk I/O error"))
            #expect(throws: RecordError.self) { try fixture.save(.note("b")) }
            // The first look finds the disk failing still.
            fixture.faults.arm(
                "service.openWriter",
                SQLiteFault(code: Self.writing, message: "disk I/O error"))
            let reason = fixture.service.unreadiness()
            #expect(reason?.contains("database does not answer") == true)
            #expect(reason?.contains(path) == false && reason?.contains("SQLite") == false)
            #expect(fixture.service.unreadiness() == nil)
            try fixture.save(.note("b"))
        }
    }

    @Test func aFullDiskIsTold() throws {
        try withDatabasePath { path in
            var limits = ServiceLimits()
            limits.retention.freeDiskBytesMin = .max
            let fixture = try ServiceFixture(path: path, limits: limits)
            #expect(fixture.service.unreadiness() == "The disk has no room.")
            try fixture.save(.note("a"))
            let storage = fixture.service.storage
            #expect((storage.usedBytes ?? 0) > 4_096 && (storage.freeBytes ?? 0) > 0)
        }
    }

    @Test func aServiceInMemoryHasNoFile() throws {
        let fixture = try ServiceFixture()
        #expect(fixture.service.storage.usedBytes == nil && fixture.service.unreadiness() == nil)
    }
}
