import Foundation
import Platform
import RecordService
import RecordWire
import SQLiteDriver
import Testing

/// A damaged record blocks itself alone, and who runs the service is told which file it is.
/// Over SQLite alone: PostgreSQL looks after its own pages.
@Suite struct DamageTests {
    private func withDamage(
        _ sql: String, _ body: (ServiceFixture, Lock<[ServiceNotice]>, String) throws -> Void
    ) throws {
        try withDatabasePath { path in
            let notices = Lock<[ServiceNotice]>([])
            do {
                let fixture = try ServiceFixture(path: path)
                for name in ["a", "b", "c"] { try fixture.save(.note(name)) }
                try Connection(path: ContainerFile.path(path)).script(sql)
            }
            let fixture = try ServiceFixture(path: path, seed: 2, makesZone: false) { notice in
                notices.withLock { $0.append(notice) }
            }
            try body(fixture, notices, path)
        }
    }

    @Test func aFeedGoesOnBehindADamagedRecord() throws {
        try withDamage("UPDATE records SET fields = x'01FF00' WHERE name = 'b'") {
            fixture, notices, path in
            let page = try fixture.changes(since: nil)
            #expect(page.failure == nil && !page.moreComing)
            #expect(page.records.map(\.recordName) == ["a", "c"])
            #expect(page.damagedRecords == ["b"])
            _ = try fixture.changes(since: nil)
            let said = notices.withLock { $0 }
            #expect(said.map { $0.fields["recordName"] } == ["b"])
            #expect(try said.first?.fields["file"] == ContainerFile.path(path))
            let small = try fixture.changes(since: nil, limit: 2)
            #expect(small.records.count + small.damagedRecords.count == 2 && small.moreComing)
            #expect(try fixture.changes(since: small.syncToken).records.map(\.recordName) == ["c"])
        }
    }

    @Test func aDamagedRecordIsRefusedAloneAndCanBeReplaced() throws {
        try withDamage("UPDATE records SET fields = x'01FF00' WHERE name = 'b'") {
            fixture, _, _ in
            let found = try fixture.lookup(["a", "b", "c"])
            #expect(found.map { $0.error?.code } == [nil, .recordDamaged, nil])
            #expect(found[1].error?.recordName == "b")
            let tags = try fixture.changes(since: nil).records.first?.recordChangeTag
            let edits = try fixture.modify([
                RecordOperation(.update, .note("a", "x", tag: tags)),
                RecordOperation(.update, .note("b", "x", tag: "2")),
            ])
            #expect(edits.map { $0.error?.code } == [nil, .recordDamaged])
            let stale = try fixture.modify([
                RecordOperation(.update, .note("b", "x", tag: "0"))
            ])
            #expect(stale[0].error?.code == .recordDamaged)
            try fixture.save(.note("b", "mended"), .forceReplace)
            #expect(try fixture.changes(since: nil).damagedRecords.isEmpty)
        }
    }

    /// Overwrites the leaf page of the table that holds the record "b".
    @Test func aBrokenPageHidesNoOtherRecord() throws {
        try withDatabasePath { path in
            let notices = Lock<[ServiceNotice]>([])
            let body = String(repeating: "x", count: 3_000)
            do {
                let fixture = try ServiceFixture(path: path)
                for index in 0..<40 { try fixture.save(.note("record-\(index)", body)) }
                let file = try Connection(path: ContainerFile.path(path))
                _ = try file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            }
            let file = URL(fileURLWithPath: try ContainerFile.path(path))
            var bytes = try Data(contentsOf: file)
            let place = try #require(bytes.range(of: Data("record-20Note".utf8))?.lowerBound)
            let page = place / 4_096 * 4_096
            bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 0xEE, count: 4_096))
            try bytes.write(to: file)

            let fixture = try ServiceFixture(path: path, seed: 2, makesZone: false) { notice in
                notices.withLock { $0.append(notice) }
            }
            #expect(try !fixture.service.damageInFile().isEmpty)
            let page1 = try fixture.changes(since: nil)
            #expect(page1.failure == nil && !page1.moreComing)
            #expect(!page1.damagedRecords.isEmpty && page1.damagedRecords.count < 5)
            #expect(page1.records.count + page1.damagedRecords.count == 40)
            var backwards = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
            backwards.isReversed = true
            let page2 = try fixture.changes(backwards)
            #expect(page2.records.elementsEqual(page1.records.reversed()))
            #expect(page2.damagedRecords == page1.damagedRecords.reversed())
            let found = try fixture.lookup(["record-20", "record-1"])
            #expect(found.map { $0.error?.code } == [.recordDamaged, nil])
            let edits = try fixture.modify([
                RecordOperation(.forceUpdate, .note("record-20", "x")),
                RecordOperation(.forceUpdate, .note("record-1", "x")),
            ])
            #expect(edits.map { $0.error?.code } == [.recordDamaged, nil])
            #expect(
                try fixture.lookup(["record-1"])[0].record?.fields["title"] == .string("x"))
            #expect(
                notices.withLock {
                    $0.allSatisfy { $0.fields["file"] == file.path } && !$0.isEmpty
                })
        }
    }

    @Test func aSoundFileHasNothingToSay() throws {
        try withDatabasePath { path in
            let fixture = try ServiceFixture(path: path)
            try fixture.save(.note("a"))
            #expect(try fixture.service.damageInFile() == [])
        }
    }
}
