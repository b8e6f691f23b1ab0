import Foundation
import RecordService
import RecordWire
import Testing

/// Measures a release build; set DIPTYCH_SPEED=1. The floors are a fifth of what a small machine
/// does.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["DIPTYCH_SPEED"] != nil))
struct SpeedTests {
    private static let batch = 400
    private static let batches = 50

    private func record(_ index: Int, _ title: String) -> Record {
        Record(
            recordName: String(index &* 2_654_435_761, radix: 16) + "-\(index)",
            recordType: "CD_Note",
            fields: [
                "CD_entityName": .string("Note"), "CD_title": .string(title),
                "CD_count": .int64(Int64(index)), "CD_rating": .double(0.5),
                "CD_createdAt": .timestamp(1_700_000_000_000), "CD_isDone": .int64(1),
            ])
    }

    private func measure(_ what: String, floor: Double, _ body: () throws -> Int) rethrows {
        var count = 0
        let time = try ContinuousClock().measure { count = try body() }
        let seconds =
            Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rate = Double(count) / seconds
        print("\(what): \(Int(rate)) records/s")
        #expect(rate > floor)
    }

    private func writeAll(
        _ fixture: ServiceFixture, _ kind: RecordOperation.Kind, _ title: String
    ) throws -> Int {
        for batch in 0..<Self.batches {
            let operations = (0..<Self.batch).map {
                RecordOperation(kind, record(batch * Self.batch + $0, title))
            }
            let results = try fixture.modify(operations, desiredKeys: [])
            #expect(results.allSatisfy { $0.record != nil })
        }
        return Self.batch * Self.batches
    }

    private func readAll(_ fixture: ServiceFixture) throws -> Int {
        var token: String?
        var count = 0
        while true {
            let page = try fixture.changes(since: token, limit: Self.batch)
            count += page.records.count
            token = page.syncToken
            if !page.moreComing { return count }
        }
    }

    private func run(_ fixture: ServiceFixture, _ place: String) throws {
        try measure("create, \(place)", floor: 8_000) { try writeAll(fixture, .create, "a") }
        try measure("update, \(place)", floor: 8_000) { try writeAll(fixture, .forceUpdate, "b") }
        try measure("changes, \(place)", floor: 20_000) { try readAll(fixture) }
    }

    @Test func inMemory() throws { try run(try ServiceFixture(), "in memory") }

    @Test func inAFile() throws {
        try withDatabasePath { path in try run(try ServiceFixture(path: path), "in a file") }
    }

    @Test func overTheWire() throws {
        let records = (0..<Self.batch).map { record($0, "title \($0)") }
        let request = RecordRequest.modifyRecords(
            ModifyRecords(
                operations: records.map { RecordOperation(.update, $0) },
                zoneID: ServiceFixture.zone))
        let answer = RecordResponse.records(RecordsReply(results: records.map { .record($0) }))
        let rounds = 25
        try measure("encode request", floor: 20_000) {
            for _ in 0..<rounds { _ = try WireCodec.encode(request) }
            return rounds * Self.batch
        }
        let body = try WireCodec.encode(request).body
        print("request of \(Self.batch): \(body.count) bytes")
        try measure("decode request", floor: 5_000) {
            for _ in 0..<rounds {
                _ = try WireCodec.decodeRequest(path: "records/modify", method: "POST", body: body)
            }
            return rounds * Self.batch
        }
        let text = try WireCodec.encode(answer)
        try measure("decode answer", floor: 5_000) {
            for _ in 0..<rounds { _ = try WireCodec.decodeResponse(to: request, text) }
            return rounds * Self.batch
        }
        measure("archive", floor: 50_000) {
            for _ in 0..<rounds { for record in records { _ = RecordArchive.encode(record) } }
            return rounds * Self.batch
        }
        let archives = records.map(RecordArchive.encode)
        try measure("unarchive", floor: 50_000) {
            for _ in 0..<rounds { for data in archives { _ = try RecordArchive.decode(data) } }
            return rounds * Self.batch
        }
    }
}
