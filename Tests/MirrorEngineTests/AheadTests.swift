import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import Stores
import Testing

/// The next page is fetched while one is applied, and the next batch is built while one is under
/// way; what came between counts.
@Suite struct AheadTests {
    let service: SimulatedService
    let a: Device
    let b: Device

    init() throws {
        service = try Device.service()
        a = try Device(1, service) { $0.batchRecordsMax = 2 }
        b = try Device(2, service)
    }

    private func performer(_ device: Device) -> InstructionPerformer {
        InstructionPerformer(mirrored: device.mirrored, container: "test")
    }

    /// Steps until a request of a batch is to be carried.
    private func nextBatch(_ round: inout MirrorRound, _ device: Device) throws -> ModifyRecords {
        while true {
            guard case .send(let request) = try round.step() else { continue }
            if case .modifyRecords(let modify) = request { return modify }
            round.answer(answer(request, device))
        }
    }

    private func answer(
        _ request: RecordRequest, _ device: Device
    ) -> Result<RecordResponse, any Error> {
        Result { try service.handle(request.inSmallPages, from: device.mirrored.deviceID()) }
    }

    private func names(_ modify: ModifyRecords) -> [String] {
        modify.operations.map(\.record.recordName)
    }

    @Test func aBatchBuiltAheadIsSentNext() throws {
        for index in 0..<5 { try a.insert("Tag", ["label": .text("\(index)")]) }
        var round = MirrorRound(performer(a))
        let first = try nextBatch(&round, a)
        #expect(try round.workAhead())
        // Once is enough.
        #expect(try !round.workAhead())
        round.answer(answer(.modifyRecords(first), a))
        let second = try nextBatch(&round, a)
        #expect(Set(names(first)).isDisjoint(with: names(second)))
        #expect(try round.workAhead())
        round.answer(answer(.modifyRecords(second), a))
        let third = try nextBatch(&round, a)
        #expect(names(third).count == 1)
        // Nothing is behind the last one.
        #expect(try !round.workAhead())
    }

    @Test func anEditAfterTheBatchWasBuiltIsSentAfterIt() throws {
        let rows = try (0..<4).map { try a.insert("Tag", ["label": .text("\($0)")]) }
        var round = MirrorRound(performer(a))
        let first = try nextBatch(&round, a)
        try round.workAhead()
        for row in rows { try a.set(row, "label", .text("edited")) }
        round.answer(answer(.modifyRecords(first), a))
        round.answer(answer(.modifyRecords(try nextBatch(&round, a)), a))
        while true {
            let step = try round.step()
            if case .finished(let result) = step {
                #expect(result.error == nil && result.isInSync)
                break
            }
            if case .send(let request) = step { round.answer(answer(request, a)) }
        }
        try b.sync()
        let labels = try b.rows("Tag").map { try b.value($0.id, "label") }
        #expect(labels == Array(repeating: .text("edited"), count: 4))
    }

    @Test func aBatchBuiltAheadIsDroppedWhenTheFirstOneFails() throws {
        for index in 0..<4 { try a.insert("Tag", ["label": .text("\(index)")]) }
        var round = MirrorRound(performer(a))
        let first = try nextBatch(&round, a)
        try round.workAhead()
        round.answer(.failure(RecordError(.tryAgainLater, "The disk is full.")))
        guard case .wait = try round.step() else {
            Issue.record("The round does not wait.")
            return
        }
        round.wake()
        #expect(names(try nextBatch(&round, a)) == names(first))
    }

    @Test func aBatchBuiltAheadIsDroppedAfterAConflict() throws {
        let row = try a.insert("Tag", ["label": .text("mine")])
        try a.sync()
        try b.sync()
        try b.set(b.only("Tag"), "label", .text("theirs"))
        try a.set(row, "label", .text("other"))
        for index in 0..<4 { try a.insert("Tag", ["label": .text("\(index)")]) }
        var round = MirrorRound(performer(a))
        let first = try nextBatch(&round, a)
        try b.sync()
        try round.workAhead()
        round.answer(answer(.modifyRecords(first), a))
        var sent = Set(names(first))
        let result = try finish(&round) { sent.formUnion(names($0)) }
        #expect(result.isInSync && sent.count == 5)
        try b.sync()
        #expect(try b.rows("Tag").count == 5)
    }

    @Test func aBatchBuiltAheadIsSentWhileTheReplyIsRecorded() throws {
        for index in 0..<7 { try a.insert("Tag", ["label": .text("\(index)")]) }
        var round = MirrorRound(performer(a))
        let first = try nextBatch(&round, a)
        #expect(try round.workAhead())
        #expect(round.requestAhead == nil)
        round.answer(answer(.modifyRecords(first), a))
        let ahead = try #require(round.requestAhead)
        let reply = answer(ahead, a)
        guard case .performed = try round.step(), case .send(let due) = try round.step() else {
            Issue.record("The batch is not due behind the reply.")
            return
        }
        #expect(due == ahead)
        // The third is built while the second is under way.
        #expect(try round.workAhead())
        round.answer(reply)
        #expect(round.requestAhead != nil)
        let result = try finish(&round)
        #expect(result.isInSync && result.exported == 7)
        try b.sync()
        #expect(try b.rows("Tag").count == 7)
    }

    @Test func nothingIsSentBeforeAReplyThatRefusesIsRecorded() throws {
        let row = try a.insert("Tag", ["label": .text("mine")])
        try a.sync()
        try b.sync()
        try b.set(b.only("Tag"), "label", .text("theirs"))
        try a.set(row, "label", .text("other"))
        for index in 0..<4 { try a.insert("Tag", ["label": .text("\(index)")]) }
        var round = MirrorRound(performer(a))
        let first = try nextBatch(&round, a)
        try b.sync()
        #expect(try round.workAhead())
        round.answer(answer(.modifyRecords(first), a))
        #expect(round.requestAhead == nil)
    }

    /// The process ends after the service took a batch, and before the answer to the one before was
    /// recorded.
    @Test func whatWasSentBeforeAReplyWasRecordedIsRecognisedAsOnesOwn() throws {
        let rows = try (0..<4).map { try a.insert("Tag", ["label": .text("\($0)")]) }
        var round = MirrorRound(performer(a))
        let first = try nextBatch(&round, a)
        try round.workAhead()
        round.answer(answer(.modifyRecords(first), a))
        _ = try answer(try #require(round.requestAhead), a).get()
        for row in rows { try a.set(row, "label", .text("edited")) }
        var again = MirrorRound(performer(a))
        let result = try finish(&again)
        #expect(result.isInSync && result.imported.conflicts == 0)
        try b.sync()
        let labels = try b.rows("Tag").map { try b.value($0.id, "label") }
        #expect(labels == Array(repeating: .text("edited"), count: 4))
    }

    /// Carries the round to its end, and shows what it sends.
    private func finish(
        _ round: inout MirrorRound, _ see: (ModifyRecords) -> Void = { _ in }
    ) throws -> RoundResult {
        while true {
            switch try round.step() {
            case .send(let request):
                if case .modifyRecords(let modify) = request { see(modify) }
                round.answer(answer(request, a))
            case .finished(let result): return result
            default: continue
            }
        }
    }

    @Test func theNextPageIsKnownWhileOneIsApplied() throws {
        for index in 0..<5 { try b.insert("Tag", ["label": .text("\(index)")]) }
        try b.sync()
        var round = MirrorRound(performer(a))
        var ahead: [RecordRequest] = []
        var sent: [RecordRequest] = []
        while true {
            if let request = round.requestAhead { ahead.append(request) }
            let step = try round.step()
            if case .finished = step { break }
            guard case .send(let request) = step else { continue }
            sent.append(request)
            round.answer(answer(request, a))
        }
        #expect(ahead.count == 2)
        #expect(sent.suffix(ahead.count) == ahead[...])
        #expect(try a.rows("Tag").count == 5)
    }

    @Test func aSessionFetchesAPageOnceAndImportsAll() async throws {
        for index in 0..<7 { try b.insert("Tag", ["label": .text("\(index)")]) }
        try b.sync()
        let channel = CountingChannel(service: service)
        let session = MirrorSession(mirrored: a.mirrored, container: "test", channel: channel)
        #expect(try await session.sync().imported == 7)
        #expect(channel.pages.withLock { $0 } == 4)
    }
}

private final class CountingChannel: RecordChannel, @unchecked Sendable {
    // @unchecked: requests come one after another; `service` is not used elsewhere meanwhile.
    private let service: SimulatedService
    let pages = Lock(0)

    init(service: SimulatedService) { self.service = service }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        if case .zoneChanges = request { pages.withLock { $0 += 1 } }
        return try service.handle(request.inSmallPages, from: "device")
    }
}

extension RecordRequest {
    /// The request for pages of two records.
    fileprivate var inSmallPages: RecordRequest {
        guard case .zoneChanges(var changes) = self else { return self }
        for index in changes.zones.indices { changes.zones[index].resultsLimit = 2 }
        return .zoneChanges(changes)
    }
}
