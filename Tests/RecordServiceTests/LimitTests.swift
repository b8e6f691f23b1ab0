import Foundation
import RecordService
import RecordWire
import Testing

@Suite(.everyBackend) struct LimitTests {
    private let fixture: ServiceFixture

    init() throws {
        var limits = ServiceLimits()
        limits.operationsPerRequestMax = 10
        limits.recordBytesMax = 1000
        limits.requestBytesMax = 2500
        limits.fieldsPerRecordMax = 5
        limits.nameBytesMax = 20
        fixture = try ServiceFixture(limits: limits)
    }

    private func expectRefusal(
        _ number: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        let error = #expect(throws: RecordError.self, sourceLocation: sourceLocation) {
            try body()
        }
        #expect(error?.code == .limitExceeded, sourceLocation: sourceLocation)
        #expect(error?.reason.contains(number) == true, sourceLocation: sourceLocation)
    }

    @Test func requestsTakeSoManyThings() throws {
        let names = (0...10).map { "r\($0)" }
        expectRefusal("at most 10") {
            _ = try fixture.modify(names.map { RecordOperation(.create, .note($0)) })
        }
        expectRefusal("at most 10") { _ = try fixture.lookup(names) }
        let zones = names.map { ZoneID(zoneName: $0) }
        expectRefusal("at most 10") { _ = try fixture.zones(.lookupZones(zones)) }
        expectRefusal("at most 10") {
            _ = try fixture.zones(.modifyZones(zones.map { ZoneOperation(.create, $0) }))
        }
        expectRefusal("at most 10") {
            _ = try fixture.send(
                .zoneChanges(
                    ZoneChanges(zones: zones.map { .init(zoneID: $0, syncToken: nil) })))
        }
        expectRefusal("at most 10") {
            var zone = ZoneChanges.Zone(zoneID: ServiceFixture.zone, syncToken: nil)
            zone.desiredRecordTypes = names
            _ = try fixture.changes(zone)
        }
        #expect(try fixture.changes(since: nil).records.isEmpty)
    }

    @Test func recordsTakeSoManyBytesFieldsAndLetters() throws {
        let many = Dictionary(
            uniqueKeysWithValues: (0..<6).map { ("f\($0)", FieldValue?.some(.int64(1))) })
        let long = String(repeating: "n", count: 21)
        let cases: [(Record, String)] = [
            (.note("r", String(repeating: "x", count: 1001)), "at most 1000"),
            (Record(recordName: "r", recordType: "T", fields: RecordFields(many)), "at most 5"),
            (.note(long), "at most 20"), (Record(recordName: "r", recordType: long), "at most 20"),
            (Record(recordName: "r", recordType: "T", fields: [long: .int64(1)]), "at most 20"),
        ]
        for (record, words) in cases {
            let error = try fixture.modify([RecordOperation(.create, record)])[0].error
            #expect(error?.code == .limitExceeded)
            #expect(error?.reason.contains(words) == true)
            #expect(error?.recordName == record.recordName)
        }
        let untyped = Record(recordName: "r", recordType: "")
        #expect(
            try fixture.modify([RecordOperation(.create, untyped)])[0].error?.code == .badRequest)
        #expect(try fixture.changes(since: nil).records.isEmpty)
    }

    @Test func fieldsAddUpOverUpdates() throws {
        for index in 0..<5 {
            try fixture.save(
                Record(recordName: "r", recordType: "T", fields: ["f\(index)": .int64(1)]))
        }
        let sixth = Record(recordName: "r", recordType: "T", fields: ["f5": .int64(1)])
        #expect(
            try fixture.modify([RecordOperation(.forceUpdate, sixth)])[0].error?.code
                == .limitExceeded)
    }

    @Test func aRequestTakesSoManyBytes() throws {
        let body = String(repeating: "x", count: 900)
        expectRefusal("at most 2500") {
            _ = try fixture.modify(
                (0..<3).map { RecordOperation(.create, .note("r\($0)", body)) })
        }
        #expect(try fixture.changes(since: nil).records.isEmpty)
    }

    @Test func aLookupAnswersOnlySoManyBytes() throws {
        var limits = ServiceLimits()
        limits.pages.bytesMax = 2400
        let fixture = try ServiceFixture(limits: limits)
        for index in 0..<4 {
            try fixture.save(.note("r\(index)", String(repeating: "x", count: 900)))
        }
        let results = try fixture.lookup((0..<4).map { "r\($0)" })
        #expect(results.map { $0.error?.code } == [nil, nil, nil, .tryAgainLater])
    }
}
