import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import Stores
import Testing

/// A round tells how far it is, ends when it is cancelled, and has a name in all logs.
@Suite struct RoundProgressTests {
    let service: SimulatedService
    let device: Device
    let other: Device
    let channel: MeteredChannel

    init() throws {
        service = try Device.service()
        device = try Device(1, service)
        other = try Device(2, service)
        channel = MeteredChannel(service: service)
    }

    private func session(_ channel: (any RecordChannel)? = nil) -> MirrorSession {
        MirrorSession(
            mirrored: device.mirrored, container: "test", channel: channel ?? self.channel)
    }

    // MARK: Progress

    @Test func aRoundCountsWhatCameAndWhatWent() async throws {
        for _ in 0..<3 { try other.insert("Note") }
        try other.sync()
        for _ in 0..<5 { try device.insert("Note") }
        let progress = RoundProgress()
        let session = session()
        #expect(session.roundProgress == nil)
        #expect(try await session.sync(reporting: progress).isInSync)
        #expect(progress.importing.totalUnitCount == progress.importing.completedUnitCount)
        #expect(progress.importing.completedUnitCount >= 3)
        #expect(progress.exporting.completedUnitCount == 5)
        #expect(progress.exporting.totalUnitCount == 5)
        #expect(
            progress.whole.completedUnitCount
                == progress.importing.completedUnitCount + progress.exporting.completedUnitCount)
        #expect(progress.whole.isFinished)
        #expect(session.roundProgress == nil)
    }

    @Test func theRoundThatRunsTellsItsProgressAndWhatWaits() async throws {
        for _ in 0..<5 { try device.insert("Note") }
        let asking = AskingChannel(service: service)
        let session = session(asking)
        let seen = Lock<[Int64]>([])
        asking.atModify = { [weak session] in
            guard let total = session?.roundProgress?.exporting.totalUnitCount else { return }
            seen.withLock { $0.append(total) }
        }
        #expect(try await session.sync().isInSync)
        #expect(seen.withLock { $0 }.first == 5)
    }

    @Test func cancellingTheProgressEndsTheRoundAndLosesNothing() async throws {
        for _ in 0..<3 { try device.insert("Note") }
        let asking = AskingChannel(service: service)
        let session = session(asking)
        let progress = RoundProgress()
        asking.atModify = { progress.whole.cancel() }
        await #expect(throws: CancellationError.self) {
            try await session.sync(reporting: progress)
        }
        asking.atModify = {}
        #expect(try await session.sync().isInSync)
        #expect(try service.records(inZone: device.mirrored.settings.zoneName).count == 3)
    }

    /// Its sleeper never wakes by itself.
    @Test func cancellingTheProgressEndsAWaitToo() async throws {
        let asking = AskingChannel(service: service)
        asking.isBusy = true
        let waits = Lock(0)
        let session = MirrorSession(
            mirrored: device.mirrored, container: "test", channel: asking, sleeper: Sleepless(),
            observe: { event in
                if case .waiting = event { waits.withLock { $0 += 1 } }
            })
        let progress = RoundProgress()
        let round = Task { try await session.sync(reporting: progress) }
        while waits.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(5)) }
        progress.whole.cancel()
        await #expect(throws: CancellationError.self) { try await round.value }
    }

    @Test func cancellingTheProgressEndsARequestThatHangs() async throws {
        let hanging = HangingChannel()
        let session = session(hanging)
        let progress = RoundProgress()
        let round = Task { try await session.sync(reporting: progress) }
        while !hanging.isAsked { try await Task.sleep(for: .milliseconds(5)) }
        progress.whole.cancel()
        await #expect(throws: CancellationError.self) { try await round.value }
        #expect(!hanging.hasAnswered)
    }

    // MARK: Names

    @Test func aRoundHasOneNameInAllItsRequestsAndEvents() async throws {
        try device.insert("Note")
        let session = session()
        #expect(session.roundIdentifier == nil)
        _ = try await session.sync()
        let first = try #require(session.roundIdentifier)
        #expect(RoundIdentifier.taken(from: first) == first)
        #expect(Set(channel.rounds.withLock { $0 }) == [first])
        try device.insert("Note")
        _ = try await session.sync()
        let second = try #require(session.roundIdentifier)
        #expect(second != first)
        #expect(Set(channel.rounds.withLock { $0 }) == [first, second])
        let events = try device.mirrored.events()
        #expect(Set(events.compactMap(\.round)) == [first, second])
        #expect(events.last?.round == second)
        #expect(RoundIdentifier.current == nil)
    }

    @Test(arguments: ["", "a b", "a\nb", "ä", String(repeating: "x", count: 65)])
    func aLogTakesNoNameThatIsNone(text: String) {
        #expect(RoundIdentifier.taken(from: text) == nil)
    }

    @Test func theLogTellsAsMuchAsItsLevelSays() async throws {
        try device.insert("Note")
        for level in 0...3 {
            let lines = Lock<[String]>([])
            let session = MirrorSession(
                mirrored: device.mirrored, container: "test", channel: channel,
                log: RoundLog(level: level) { line in lines.withLock { $0.append(line) } })
            _ = try await session.sync()
            let told = lines.withLock { $0 }
            #expect(level == 0 ? told.isEmpty : told.count >= 2)
            #expect((level == 3) == told.contains { $0.contains("instruction=prepare") })
            let name = try #require(session.roundIdentifier)
            #expect(told.allSatisfy { $0.contains("round=\(name)") })
            #expect(level < 2 || told.contains { $0.contains("operation=changes/zone") })
            #expect(level < 1 || told.last?.hasPrefix("CloudKit: round ends") == true)
        }
    }

    @Test func aValueInALogCannotBeTakenForAnother() {
        let lines = Lock<[String]>([])
        let log = RoundLog(level: 1) { line in lines.withLock { $0.append(line) } }
        log.tell(.rounds, "round fails", [("reason", "it said \"no\" a=b"), ("empty", "")])
        #expect(
            lines.withLock { $0 } == [
                "CloudKit: round fails round=- reason=\"it said 'no' a=b\" empty=\"\""
            ])
    }
}

/// Never wakes.
private struct Sleepless: Sleeper {
    func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }
}

/// A channel that calls the test at each batch.
private final class AskingChannel: RecordChannel {
    private struct State {
        var atModify: @Sendable () -> Void = {}
        var isBusy = false
    }

    private let service: SimulatedService
    private let state = Lock(State())

    init(service: SimulatedService) { self.service = service }

    var atModify: @Sendable () -> Void {
        get { state.withLock { $0.atModify } }
        set { state.withLock { $0.atModify = newValue } }
    }
    var isBusy: Bool {
        get { state.withLock { $0.isBusy } }
        set { state.withLock { $0.isBusy = newValue } }
    }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        if isBusy {
            var busy = RecordError(.throttled, "Busy.")
            busy.retryAfterSeconds = 30
            throw busy
        }
        if case .modifyRecords = request { atModify() }
        return try service.handle(request, from: "device")
    }
}

/// A service that says nothing for a long time.
private final class HangingChannel: RecordChannel {
    private let asked = Lock((isAsked: false, hasAnswered: false))

    var isAsked: Bool { asked.withLock { $0.isAsked } }
    var hasAnswered: Bool { asked.withLock { $0.hasAnswered } }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        asked.withLock { $0.isAsked = true }
        try await Task.sleep(for: .seconds(86_400))
        asked.withLock { $0.hasAnswered = true }
        throw RecordError(.internalError, "Late.")
    }
}
