import Foundation
import RecordService
import RecordWire
import Testing

/// Queries drawn from seeds against plain Swift over the same records, while records come, change
/// and go. `DIPTYCH_OPERATIONS` sets how many queries there are on each backend.
@Suite(.everyBackend) struct QueryModelTests {
    private static let queriesPerSeed = 250
    private static let seeds: ClosedRange<UInt64> = {
        let told = ProcessInfo.processInfo.environment["DIPTYCH_OPERATIONS"].flatMap { UInt64($0) }
        return 1...max(2, (told ?? 0) / UInt64(queriesPerSeed))
    }()

    private func edit(_ sample: inout QuerySample, _ fixture: ServiceFixture) throws {
        let zone = sample.below(3)
        let name = "n\(sample.below(60))"
        if sample.below(4) == 0 {
            guard sample.records[zone].removeValue(forKey: name) != nil else { return }
            _ = try fixture.modify(
                [RecordOperation(.forceDelete, Record(recordName: name, recordType: ""))],
                zone: QuerySample.zones[zone])
        } else {
            let record = sample.record(name)
            sample.records[zone][name] = record
            let results = try fixture.modify(
                [RecordOperation(.forceReplace, record)], zone: QuerySample.zones[zone])
            #expect(results[0].error == nil)
        }
    }

    private func pages(
        of request: QueryRecords, _ fixture: ServiceFixture
    ) throws -> [QuerySample.Place] {
        var request = request
        var found: [QuerySample.Place] = []
        repeat {
            guard case .records(let reply) = try fixture.send(.queryRecords(request)) else {
                throw WrongAnswer()
            }
            #expect(reply.results.count <= request.resultsLimit ?? 0)
            for record in reply.results.compactMap(\.record) {
                let zone = QuerySample.zones.firstIndex { $0 == record.zoneID }
                found.append(QuerySample.Place(zone: zone ?? -1, name: record.recordName))
            }
            request.continuationMarker = reply.continuationMarker
        } while request.continuationMarker != nil
        return found
    }

    /// Sends again while an index is made; nil for what looks at too many records at once.
    private func boundedPages(
        of request: QueryRecords, _ fixture: ServiceFixture
    ) throws -> [QuerySample.Place]? {
        while true {
            do {
                return try pages(of: request, fixture)
            } catch let error as RecordError where error.code == .tryAgainLater {
                continue
            } catch let error as RecordError where error.code == .limitExceeded {
                return nil
            }
        }
    }

    /// More records than one request looks at, in the order of several keys.
    @Test(arguments: 11...12 as ClosedRange<UInt64>)
    func severalKeysOrderMoreThanOneRequestLooksAt(seed: UInt64) throws {
        var limits = ServiceLimits()
        limits.work.rowsMax = 12
        let fixture = try ServiceFixture(limits: limits)
        try fixture.createZone(QuerySample.zones[1])
        var sample = QuerySample(seed: seed)
        for _ in 0..<220 { try edit(&sample, fixture) }
        var answered = 0
        for _ in 0..<400 {
            let request = sample.query()
            guard request.query.sorts.count > 1, !request.zoneWide else { continue }
            guard let found = try boundedPages(of: request, fixture) else { continue }
            #expect(found == sample.answer(to: request), "\(request)")
            if found.count > 12 { answered += 1 }
            try edit(&sample, fixture)
        }
        #expect(answered > 10)
    }

    @Test(arguments: Self.seeds)
    func queriesFindWhatPlainSwiftFinds(seed: UInt64) throws {
        let fixture = try ServiceFixture()
        try fixture.createZone(QuerySample.zones[1])
        var sample = QuerySample(seed: seed)
        for _ in 0..<150 { try edit(&sample, fixture) }
        for _ in 0..<Self.queriesPerSeed {
            for _ in 0..<sample.below(3) { try edit(&sample, fixture) }
            let request = sample.query()
            let expected = sample.answer(to: request)
            let found = try pages(of: request, fixture)
            if request.query.sorts.isEmpty {
                #expect(Set(found) == Set(expected), "\(request)")
                #expect(found.count == expected.count, "\(request)")
            } else {
                #expect(found == expected, "\(request)")
            }
        }
    }
}
