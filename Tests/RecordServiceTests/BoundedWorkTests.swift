import Foundation
import RecordService
import RecordWire
import Testing

/// One request costs so much and no more, whatever it asks for.
@Suite(.everyBackend) struct BoundedWorkTests {
    private static func large(_ name: String, tag: String? = nil) -> Record {
        Record(
            recordName: name, recordType: "Note", recordChangeTag: tag,
            fields: [
                "body": .bytes(Data(repeating: 7, count: 22_000)), "count": .int64(1),
            ])
    }

    // MARK: Feeds

    @Test func aZoneNamedTwiceIsReadOnce() throws {
        let fixture = try ServiceFixture()
        try fixture.save(.note("a"))
        let zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
        var aliased = zone
        aliased.zoneID.ownerRecordName = "__defaultOwner__"
        guard
            case .zoneChanges(let replies) = try fixture.send(
                .zoneChanges(ZoneChanges(zones: [zone, aliased, zone])))
        else { throw WrongAnswer() }
        #expect(replies.map(\.records.count) == [1, 0, 0])
        #expect(replies.map { $0.failure?.code } == [nil, .badRequest, .badRequest])
    }

    @Test func aFilterThatFindsNothingLooksAtSoManyRowsAndGivesAToken() throws {
        var limits = ServiceLimits()
        limits.work.rowsMax = 10
        let fixture = try ServiceFixture(limits: limits)
        for index in 0..<25 { try fixture.save(.note("n\(index)")) }
        try fixture.save(Record(recordName: "last", recordType: "Rare"))
        var zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
        zone.desiredRecordTypes = ["Rare"]
        var pages: [ZoneChangesReply] = []
        repeat {
            pages.append(try fixture.changes(zone))
            zone.syncToken = pages.last?.syncToken
        } while pages.last?.moreComing == true && pages.count < 10
        #expect(pages.map(\.records.count) == [0, 0, 1])
        #expect(pages.map(\.moreComing) == [true, true, false])
        #expect(try fixture.changes(since: zone.syncToken).records.isEmpty)
    }

    @Test func rowsAreCountedOverAllZonesOfARequest() throws {
        var limits = ServiceLimits()
        limits.work.rowsMax = 3
        let fixture = try ServiceFixture(limits: limits)
        let zones = ["notes", "b", "c"].map { ZoneID(zoneName: $0) }
        for zone in zones {
            try fixture.createZone(zone)
            _ = try fixture.modify(
                (0..<2).map { RecordOperation(.create, .note("r\($0)")) }, zone: zone)
        }
        var asked = zones.map { ZoneChanges.Zone(zoneID: $0, syncToken: nil) }
        var seen: [Int] = []
        for _ in 0..<4 where !asked.isEmpty {
            guard
                case .zoneChanges(let replies) = try fixture.send(
                    .zoneChanges(ZoneChanges(zones: asked)))
            else { throw WrongAnswer() }
            seen.append(replies.map(\.records.count).reduce(0, +))
            asked = zip(asked, replies).compactMap { zone, reply in
                var zone = zone
                zone.syncToken = reply.syncToken
                return reply.moreComing ? zone : nil
            }
        }
        #expect(seen == [3, 3])
        #expect(asked.isEmpty)
    }

    // MARK: Answers

    @Test func refusalsShowTheServicesRecordWhileTheAnswerHasRoom() throws {
        var limits = ServiceLimits()
        limits.pages.bytesMax = 100_000
        let fixture = try ServiceFixture(limits: limits)
        let names = (0..<20).map { "r\($0)" }
        for name in names { try fixture.save(Self.large(name)) }
        for kind in [RecordOperation.Kind.update, .create] {
            let results = try fixture.modify(
                names.map { RecordOperation(kind, Self.large($0, tag: "stale")) })
            #expect(
                results.allSatisfy {
                    $0.error?.code == (kind == .update ? .conflict : .exists)
                })
            let shown = results.count { $0.error?.serverRecord != nil }
            #expect(shown == 5, "\(kind)")
            #expect(results.last?.error?.reason.contains("look the record up") == true)
        }
    }

    @Test func aWriteWhoseAnswerHasNoRoomIsLeftForAnotherRequest() throws {
        var limits = ServiceLimits()
        limits.pages.bytesMax = 100_000
        let fixture = try ServiceFixture(limits: limits)
        let operations = (0..<10).map { RecordOperation(.create, Self.large("r\($0)")) }
        let results = try fixture.modify(operations)
        #expect(results.count { $0.record != nil } == 5)
        #expect(results.last?.error?.code == .tryAgainLater)
        #expect(try fixture.modify(operations, desiredKeys: []).count { $0.record != nil } == 5)
        let error = #expect(throws: RecordError.self) {
            try fixture.modify(
                (20..<30).map { RecordOperation(.create, Self.large("r\($0)")) }, atomic: true)
        }
        #expect(error?.code == .limitExceeded)
        #expect(try fixture.changes(since: nil).records.count == 5)
    }

    // MARK: Writes

    @Test func smallEditsOfManyLargeRecordsGoThrough() throws {
        let fixture = try ServiceFixture()
        let names = (0..<400).map { "r\($0)" }
        for start in stride(from: 0, to: 400, by: 100) {
            _ = try fixture.modify(
                names[start..<start + 100].map { RecordOperation(.create, Self.large($0)) },
                desiredKeys: [])
        }
        let results = try fixture.modify(
            names.map {
                RecordOperation(
                    .forceUpdate,
                    Record(recordName: $0, recordType: "Note", fields: ["count": .int64(2)]))
            }, desiredKeys: [])
        #expect(results.allSatisfy { $0.error == nil })
        #expect(try fixture.lookup(["r399"])[0].record?.fields["count"] == .int64(2))
    }

    @Test func whatIsWrittenPastTheBoundIsLeftForAnotherRequest() throws {
        var limits = ServiceLimits()
        limits.work.writtenBytesMax = 100_000
        let fixture = try ServiceFixture(limits: limits)
        for index in 0..<10 { try fixture.save(Self.large("r\(index)")) }
        let edits = (0..<10).map {
            RecordOperation(
                .forceUpdate,
                Record(recordName: "r\($0)", recordType: "Note", fields: ["count": .int64(2)]))
        }
        let results = try fixture.modify(edits, desiredKeys: [])
        #expect(results.prefix(4).allSatisfy { $0.record != nil })
        #expect(results.dropFirst(4).allSatisfy { $0.error?.code == .tryAgainLater })
        #expect(results.last?.error?.retryAfterSeconds == 0)
    }

    // MARK: Indexes

    private static func tagged(_ name: String, from start: Int64 = 0) -> Record {
        Record(
            recordName: name, recordType: "Note",
            fields: ["tags": .list(type: .int64, (start..<start + 256).map { .int64($0) })])
    }

    /// The names of the records that have the tag; sent again while the service makes an index.
    private func names(tagged tag: Int64, _ fixture: ServiceFixture) throws -> [String] {
        let filter = RecordFilter(.field("tags"), .listContains, .int64(tag))
        let query = RecordRequest.queryRecords(
            QueryRecords(
                RecordQuery(recordType: "Note", filters: [filter]), zoneID: ServiceFixture.zone))
        for _ in 0..<10 {
            do {
                guard case .records(let reply) = try fixture.send(query) else {
                    throw WrongAnswer()
                }
                return reply.results.compactMap(\.record?.recordName)
            } catch let error as RecordError where error.code == .tryAgainLater { continue }
        }
        throw WrongAnswer()
    }

    @Test func soManyEntriesOfIndexesAreWrittenAtOnce() throws {
        var limits = ServiceLimits()
        limits.indexing.newEntriesMax = 1_000
        let fixture = try ServiceFixture(limits: limits)
        let all = (10..<30).map { "r\($0)" }
        // An index is made over several requests, too.
        for name in all.prefix(8) { try fixture.save(Self.tagged(name)) }
        #expect(try names(tagged: 255, fixture).count == 8)
        var left = all.dropFirst(8).map { RecordOperation(.create, Self.tagged($0)) }
        while !left.isEmpty {
            let results = try fixture.modify(left)
            #expect(results.prefix(3).allSatisfy { $0.error == nil })
            #expect(results.dropFirst(3).allSatisfy { $0.error?.code == .tryAgainLater })
            left = Array(left.dropFirst(3))
        }
        #expect(try names(tagged: 255, fixture) == all)
        let atomic = #expect(throws: RecordError.self) {
            try fixture.modify(
                all.map { RecordOperation(.forceUpdate, Self.tagged($0, from: 999)) },
                atomic: true)
        }
        #expect(atomic?.code == .limitExceeded)
        // What stays as it is costs nothing.
        let edits = try fixture.modify(
            all.map { RecordOperation(.forceUpdate, .note($0, "new")) })
        #expect(edits.allSatisfy { $0.error == nil })
        #expect(try names(tagged: 255, fixture) == all)
    }

    @Test func indexesFollowEveryKindOfWrite() throws {
        let fixture = try ServiceFixture()
        #expect(try names(tagged: 5, fixture) == [])
        for name in ["a", "b", "c"] { try fixture.save(Self.tagged(name)) }
        #expect(try names(tagged: 5, fixture) == ["a", "b", "c"])
        // Part of the values stay.
        try fixture.save(Self.tagged("a", from: 6))
        #expect(try names(tagged: 5, fixture) == ["b", "c"])
        #expect(try names(tagged: 6, fixture) == ["a", "b", "c"])
        #expect(try names(tagged: 261, fixture) == ["a"])
        let gone = try fixture.save(.note("b"), .forceDelete)
        try fixture.save(.note("c"), .forceReplace)
        #expect(try names(tagged: 6, fixture) == ["a"])
        var again = Self.tagged("b")
        again.recordChangeTag = gone.recordChangeTag
        try fixture.save(again, .create)
        #expect(try names(tagged: 6, fixture) == ["a", "b"])
        var other = Self.tagged("c")
        other.fields["leads"] = .reference(RecordReference(recordName: "a", action: .deleteSelf))
        _ = try fixture.modify([
            RecordOperation(.forceUpdate, other), RecordOperation(.forceDelete, .note("a")),
        ])
        #expect(try names(tagged: 6, fixture) == ["b"])
    }

    @Test func aRecordThatIsTooLargeIsRefusedAlone() throws {
        let fixture = try ServiceFixture()
        let huge = Record(
            recordName: "huge", recordType: "Note",
            fields: ["body": .bytes(Data(count: 1_100_000))])
        let results = try fixture.modify([
            RecordOperation(.create, .note("a")), RecordOperation(.create, huge),
            RecordOperation(.create, .note("b")),
        ])
        #expect(results.map { $0.error?.code } == [nil, .limitExceeded, nil])
    }

    // MARK: What one record is told

    /// A read fills no quota, and what is left is asked for again.
    @Test(arguments: [ServiceDialect.extended, .plain])
    func namesBehindAFullAnswerAreAskedForAgain(dialect: ServiceDialect) throws {
        var limits = ServiceLimits()
        limits.pages.bytesMax = 100
        let fixture = try ServiceFixture(limits: limits, dialect: dialect)
        try fixture.save(.note("a", String(repeating: "x", count: 200)))
        try fixture.save(.note("b"))
        let error = try fixture.lookup(["a", "b"])[1].error
        #expect(error?.code == .tryAgainLater && error?.retryAfterSeconds == 0)
    }

    @Test func thePlainDialectSpeaksOfQuotasForSizesAlone() throws {
        let fixture = try ServiceFixture(dialect: .plain)
        let huge = Record(
            recordName: "huge", recordType: "Note",
            fields: ["body": .bytes(Data(count: 1_100_000))])
        let long = Record.note(String(repeating: "n", count: 256))
        var wide = Record.note("wide")
        for number in 0..<257 { wide.fields["f\(number)"] = .int64(1) }
        let codes: [RecordError.Code?] = try [huge, long, wide].map {
            try fixture.modify([RecordOperation(.create, $0)])[0].error?.code
        }
        #expect(codes == [.quotaExceeded, .badRequest, .badRequest])
    }
}
