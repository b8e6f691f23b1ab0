import Foundation
import RecordService
import RecordWire
import Testing

@Suite(.everyBackend) struct ChangeFeedTests {
    /// A reader that pages while others write. It must end equal to the zone, and no change may
    /// come twice.
    private struct Follower {
        /// Takes the newest change first wherever it begins a way.
        var isBackwards = false
        var isUnderWay = false
        var token: String?
        var records: [String: Record] = [:]
        var tags: Set<String> = []
        var repeated = 0

        /// Reads one page; returns whether more was announced.
        mutating func read(_ fixture: ServiceFixture, limit: Int) throws -> Bool {
            var zone = ZoneChanges.Zone(
                zoneID: ServiceFixture.zone, syncToken: token, resultsLimit: limit)
            zone.isReversed = isBackwards ? true : nil
            let page = try fixture.changes(zone)
            if let failure = page.failure { throw failure }
            #expect(page.records.count <= limit)
            #expect(!page.moreComing || page.records.count == limit)
            for record in page.records {
                if !tags.insert(record.recordChangeTag ?? "").inserted { repeated += 1 }
                records[record.recordName] = record.deleted ? nil : record
            }
            token = page.syncToken
            isUnderWay = page.moreComing
            return page.moreComing
        }
    }

    @Test(arguments: 0..<25 as Range<UInt64>)
    func pagingNeverSkipsOrRepeatsUnderWrites(_ seed: UInt64) throws {
        let fixture = try ServiceFixture(seed: seed)
        let random = SeededRandomness(seed: seed)
        var followers = (0..<4).map { Follower(isBackwards: $0 > 1) }
        for step in 0..<120 {
            switch random.below(3) {
            case 0:
                let kinds: [RecordOperation.Kind] = [.forceUpdate, .forceReplace, .forceDelete]
                let first = random.below(20)
                _ = try fixture.modify(
                    (0...random.below(4)).map { offset in
                        RecordOperation(
                            kinds[random.below(3)], .note("r\(first + offset)", "\(step)"))
                    })
            default:
                let reader = random.below(4)
                if reader == 3, !followers[3].isUnderWay {
                    followers[3].isBackwards = random.below(2) == 0
                }
                _ = try followers[reader].read(fixture, limit: 1 + random.below(6))
            }
        }
        for index in followers.indices {
            // What changed on the way down comes on the way up.
            for _ in 0..<2 { while try followers[index].read(fixture, limit: 7) {} }
            #expect(followers[index].repeated == 0)
        }
        let names = (0..<24).map { "r\($0)" }
        let kept = try fixture.lookup(names).compactMap(\.record)
        let expected = Dictionary(uniqueKeysWithValues: kept.map { ($0.recordName, $0) })
        for follower in followers { #expect(follower.records == expected) }
        #expect(Set(followers.map(\.token)).count == 1)
    }

    @Test func changesComeOldestFirstAndDeletionsCarryNoFields() throws {
        let fixture = try ServiceFixture()
        for name in ["a", "b", "c"] { try fixture.save(.note(name)) }
        try fixture.save(.note("a", "new"))
        _ = try fixture.modify([RecordOperation(.forceDelete, .note("b"))])
        let page = try fixture.changes(since: nil)
        #expect(page.records.map(\.recordName) == ["c", "a", "b"])
        #expect(page.records.map(\.deleted) == [false, false, true])
        #expect(page.records[2].fields.isEmpty && page.records[2].recordType == "Note")
        #expect(!page.moreComing)
        let empty = try fixture.changes(since: page.syncToken)
        #expect(empty.records.isEmpty && empty.syncToken == page.syncToken)
    }

    /// Whoever reads backwards goes on forwards from where it began.
    @Test func theNewestChangeComesFirstForWhoAsksSo() throws {
        let fixture = try ServiceFixture()
        for name in ["a", "b", "c", "d"] { try fixture.save(.note(name)) }
        let known = try fixture.changes(since: nil, limit: 1).syncToken
        try fixture.save(.note("b", "new"))
        var zone = ZoneChanges.Zone(
            zoneID: ServiceFixture.zone, syncToken: known, resultsLimit: 1)
        zone.isReversed = true
        let first = try fixture.changes(zone)
        #expect(first.records.map(\.recordName) == ["b"] && first.moreComing)
        _ = try fixture.modify([RecordOperation(.forceDelete, .note("c"))])
        zone.syncToken = first.syncToken
        zone.resultsLimit = 2
        let last = try fixture.changes(zone)
        #expect(last.records.map(\.recordName) == ["d"] && !last.moreComing)
        let after = try fixture.changes(since: last.syncToken)
        #expect(after.records.map(\.recordName) == ["c"] && after.records[0].deleted)
        zone.syncToken = after.syncToken
        let nothing = try fixture.changes(zone)
        #expect(nothing.records.isEmpty && nothing.syncToken == after.syncToken)
    }

    @Test func aReadingBackwardsGoesOnBackwards() throws {
        let fixture = try ServiceFixture()
        for name in ["a", "b"] { try fixture.save(.note(name)) }
        var zone = ZoneChanges.Zone(
            zoneID: ServiceFixture.zone, syncToken: nil, resultsLimit: 1)
        zone.isReversed = true
        zone.syncToken = try fixture.changes(zone).syncToken
        zone.isReversed = false
        let refusal = try fixture.changes(zone).failure
        #expect(refusal?.code == .badRequest && refusal?.reason.contains("reverse") == true)
    }

    @Test func typesNarrowAReadingBackwards() throws {
        var limits = ServiceLimits()
        limits.work.rowsMax = 3
        let fixture = try ServiceFixture(limits: limits)
        for index in 0..<10 {
            try fixture.save(
                Record(recordName: "r\(index)", recordType: index % 5 == 0 ? "Rare" : "Odd"))
        }
        var zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
        zone.isReversed = true
        zone.desiredRecordTypes = ["Rare"]
        var names: [String] = []
        var pages = 0
        while true {
            let page = try fixture.changes(zone)
            if let failure = page.failure { throw failure }
            names += page.records.map(\.recordName)
            zone.syncToken = page.syncToken
            pages += 1
            guard page.moreComing else { break }
        }
        #expect(names == ["r5", "r0"] && pages > 2)
    }

    /// `records/changes` takes the key as `changes/zone` does.
    @Test func formerRequestsAskForTheNewestFirstToo() throws {
        let fixture = try ServiceFixture()
        for name in ["a", "b"] { try fixture.save(.note(name)) }
        let request = try WireCodec.decodeRequest(
            path: "records/changes", method: "POST",
            body: Data(#"{"zoneID":{"zoneName":"notes"},"reverse":true}"#.utf8))
        guard case .recordChanges(let page) = try fixture.send(request) else {
            throw WrongAnswer()
        }
        #expect(page.records.map(\.recordName) == ["b", "a"] && !page.moreComing)
    }

    @Test func keysAndTypesNarrowThePage() throws {
        let fixture = try ServiceFixture()
        for index in 0..<10 {
            let type = index % 2 == 0 ? "Even" : "Odd"
            try fixture.save(
                Record(
                    recordName: "r\(index)", recordType: type,
                    fields: ["a": .int64(1), "b": .int64(2)]))
        }
        var zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil, resultsLimit: 3)
        zone.desiredKeys = ["b", "none"]
        zone.desiredRecordTypes = ["Odd"]
        let first = try fixture.changes(zone)
        #expect(first.records.map(\.recordName) == ["r1", "r3", "r5"])
        #expect(first.records.allSatisfy { $0.fields == ["b": .int64(2)] })
        #expect(first.moreComing)
        zone.syncToken = first.syncToken
        zone.desiredKeys = []
        let rest = try fixture.changes(zone)
        #expect(rest.records.map(\.recordName) == ["r7", "r9"])
        #expect(rest.records.allSatisfy { $0.fields.isEmpty && $0.recordChangeTag != nil })
        #expect(!rest.moreComing)
        zone.desiredRecordTypes = []
        zone.syncToken = nil
        #expect(try fixture.changes(zone).records.isEmpty)
    }

    @Test func aPageEndsEarlyWhenItsBytesAreMany() throws {
        var limits = ServiceLimits()
        limits.pages.bytesMax = 10_000
        let fixture = try ServiceFixture(limits: limits)
        let body = String(repeating: "x", count: 4000)
        for index in 0..<10 { try fixture.save(.note("r\(index)", body)) }
        var names: [String] = []
        var token: String?
        var pages = 0
        repeat {
            let page = try fixture.changes(since: token)
            #expect((1...3).contains(page.records.count))
            names += page.records.map(\.recordName)
            token = page.syncToken
            pages += 1
            if !page.moreComing { break }
        } while pages < 20
        #expect(names == (0..<10).map { "r\($0)" })
        #expect(pages == 4)
    }

    @Test func severalZonesShareOnePage() throws {
        var limits = ServiceLimits()
        limits.pages.bytesMax = 5_000
        let fixture = try ServiceFixture(limits: limits)
        let other = ZoneID(zoneName: "other")
        try fixture.createZone(other)
        try fixture.save(.note("a", String(repeating: "x", count: 6000)))
        _ = try fixture.modify([RecordOperation(.create, .note("b"))], zone: other)
        let request = ZoneChanges(
            zones: [ServiceFixture.zone, other, ZoneID(zoneName: "none"), ZoneID()].map {
                ZoneChanges.Zone(zoneID: $0, syncToken: nil)
            })
        guard case .zoneChanges(let replies) = try fixture.send(.zoneChanges(request)) else {
            throw WrongAnswer()
        }
        #expect(replies.map { $0.records.count } == [1, 0, 0, 0])
        #expect(replies.map(\.moreComing) == [false, true, false, false])
        #expect(
            replies.map { $0.failure?.code } == [nil, nil, .zoneNotFound, .badRequest])
        let next = try fixture.changes(since: replies[1].syncToken, zone: other)
        #expect(next.records.map(\.recordName) == ["b"])
    }

    @Test func theLimitIsTheServicesUnlessTheRequestAsksForLess() throws {
        var limits = ServiceLimits()
        limits.pages.changesMax = 5
        let fixture = try ServiceFixture(limits: limits)
        for index in 0..<9 { try fixture.save(.note("r\(index)")) }
        #expect(try fixture.changes(since: nil).records.count == 5)
        #expect(try fixture.changes(since: nil, limit: 100).records.count == 5)
        #expect(try fixture.changes(since: nil, limit: 1).records.count == 1)
        #expect(try fixture.changes(since: nil, limit: -4).records.count == 1)
    }
}

@Suite(.everyBackend) struct DatabaseFeedTests {
    @Test func zonesComeInTheOrderOfTheirLastChange() throws {
        let fixture = try ServiceFixture(makesZone: false)
        let empty = try fixture.databaseChanges(since: nil)
        #expect(empty.zones.isEmpty && !empty.moreComing)
        for name in ["a", "b", "c"] { try fixture.createZone(ZoneID(zoneName: name)) }
        let start = try fixture.databaseChanges(since: empty.syncToken)
        #expect(start.zones.map(\.zoneID.zoneName) == ["a", "b", "c"])
        _ = try fixture.modify([RecordOperation(.create, .note("x"))], zone: ZoneID(zoneName: "a"))
        _ = try fixture.zones(.modifyZones([ZoneOperation(.delete, ZoneID(zoneName: "b"))]))
        let next = try fixture.databaseChanges(since: start.syncToken, limit: 1)
        #expect(next.zones == [.init(zoneID: ZoneID(zoneName: "a"), deleted: false)])
        #expect(next.moreComing)
        let last = try fixture.databaseChanges(since: next.syncToken, limit: 1)
        #expect(last.zones == [.init(zoneID: ZoneID(zoneName: "b"), deleted: true)])
        #expect(!last.moreComing)
        #expect(try fixture.databaseChanges(since: last.syncToken).zones.isEmpty)
    }

    @Test func refusedWritesChangeNoZone() throws {
        let fixture = try ServiceFixture()
        let token = try fixture.databaseChanges(since: nil).syncToken
        _ = try fixture.modify([RecordOperation(.update, .note("x", tag: "1"))])
        #expect(try fixture.databaseChanges(since: token).zones.isEmpty)
    }
}
