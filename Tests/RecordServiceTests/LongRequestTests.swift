import RecordService
import RecordWire
import Testing

/// Requests of more records than a backend waits for: it begins with some while the others are
/// decided, and what becomes of those counts all the same.
@Suite(.everyBackend) struct LongRequestTests {
    private static let count = 150

    private func child(_ index: Int, of target: String) -> RecordOperation {
        var record = Record.note("child-\(index)")
        record.fields["parent"] = .reference(
            RecordReference(recordName: target, action: .deleteSelf))
        return RecordOperation(.forceUpdate, record)
    }

    private func delete(_ name: String) -> RecordOperation {
        RecordOperation(.forceDelete, Record(recordName: name, recordType: ""))
    }

    @Test func allIsWritten() throws {
        let fixture = try ServiceFixture()
        let results = try fixture.modify(
            (0..<Self.count).map { RecordOperation(.create, .note("note-\($0)")) })
        #expect(results.allSatisfy { $0.error == nil })
        let feed = try fixture.changes(since: nil).records
        #expect(feed.map(\.recordName) == (0..<Self.count).map { "note-\($0)" })
        #expect(feed.map(\.recordChangeTag) == results.map { $0.record?.recordChangeTag })
    }

    /// Those that were begun with are written over by their deletions.
    @Test func whatGoesWithALaterDeletionGoes() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("target"))
        let results = try fixture.modify(
            (0..<Self.count).map { child($0, of: "target") } + [delete("target")])
        #expect(results.allSatisfy { $0.error == nil })
        let feed = try fixture.changes(since: nil).records
        #expect(feed.count == Self.count + 1 && feed.allSatisfy(\.deleted))
        #expect(try fixture.lookup(["child-0"])[0].record == nil)
    }

    /// Rows of records that are there come between those that are new.
    @Test func newRecordsAndOldOnesMix() throws {
        let fixture = try ServiceFixture()
        for index in stride(from: 0, to: Self.count, by: 3) {
            try fixture.save(.note("note-\(index)"))
        }
        let results = try fixture.modify(
            (0..<Self.count).map { RecordOperation(.forceUpdate, .note("note-\($0)")) })
        #expect(results.allSatisfy { $0.error == nil })
        let feed = try fixture.changes(since: nil).records
        #expect(feed.map(\.recordName) == (0..<Self.count).map { "note-\($0)" })
        #expect(feed.map(\.recordChangeTag) == results.map { $0.record?.recordChangeTag })
    }

    @Test func oneThatIsRefusedHindersNoOther() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("note-100"))
        let results = try fixture.modify(
            (0..<Self.count).map { RecordOperation(.create, .note("note-\($0)")) })
        #expect(results.indices.filter { results[$0].error != nil } == [100])
        #expect(try fixture.changes(since: nil).records.count == Self.count)
    }

    @Test func aRefusalOfAnAtomicRequestLeavesNothing() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("last"))
        let before = try #require(try fixture.changes(since: nil).syncToken)
        let creations = (0..<Self.count).map { RecordOperation(.create, .note("note-\($0)")) }
        let modify = ModifyRecords(
            operations: creations + [RecordOperation(.create, .note("last"))],
            zoneID: ServiceFixture.zone, atomic: true)
        guard case .records(let reply) = try fixture.send(.modifyRecords(modify)) else {
            throw WrongAnswer()
        }
        #expect(reply.results.allSatisfy { $0.error != nil })
        #expect(try fixture.changes(since: before).records.isEmpty)
    }

    /// More would go with the deletion than may go in one request.
    @Test func aRefusalAtTheEndLeavesNothing() throws {
        var limits = ServiceLimits()
        limits.work.cascadeMax = Self.count - 1
        let fixture = try ServiceFixture(limits: limits)
        try fixture.save(.note("target"))
        let before = try #require(try fixture.changes(since: nil).syncToken)
        let modify = ModifyRecords(
            operations: (0..<Self.count).map { child($0, of: "target") } + [delete("target")],
            zoneID: ServiceFixture.zone)
        #expect(throws: RecordError.self) { try fixture.send(.modifyRecords(modify)) }
        #expect(try fixture.changes(since: before).records.isEmpty)
    }
}
