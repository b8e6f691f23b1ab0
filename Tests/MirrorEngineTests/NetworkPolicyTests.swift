import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import Stores
import Testing

/// When rounds that run by themselves may use the network, and how much of it.
@Suite struct NetworkPolicyTests {
    let service: SimulatedService
    let device: Device
    let channel: MeteredChannel
    private let events = Lock<[ScheduleEvent]>([])
    private let isMetered = Lock(false)
    /// 6:13 in the morning of UTC.
    private var policy: NetworkPolicy

    init() throws {
        service = try Device.service()
        device = try Device(1, service)
        channel = MeteredChannel(service: service)
        policy = NetworkPolicy(timeZone: try #require(TimeZone(identifier: "UTC")))
    }

    private func scheduler(_ policy: NetworkPolicy) -> MirrorScheduler {
        var plan = SchedulePlan()
        plan.network = policy
        return MirrorScheduler(
            MirrorSession(mirrored: device.mirrored, container: "test", channel: channel),
            plan: plan, sleeper: Endless(), name: "test",
            isMetered: { [isMetered] in isMetered.withLock { $0 } },
            observe: { [events] event in events.withLock { $0.append(event) } })
    }

    private func until(_ condition: () throws -> Bool) async throws {
        for _ in 0..<120_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try condition())
    }

    private var holds: [MirrorHold] {
        events.withLock { $0 }.compactMap { if case .held(let hold) = $0 { hold } else { nil } }
    }

    private var rounds: Int {
        events.withLock { $0.count { if case .round = $0 { true } else { false } } }
    }

    // MARK: Hours

    @Test func outsideTheHoursNoRoundBeginsAndTheStatusSaysUntilWhen() async throws {
        var policy = policy
        policy.hours = [try #require(DailyHours("02:00-06:00"))]
        let scheduler = scheduler(policy)
        scheduler.start()
        try await until { !holds.isEmpty }
        #expect(rounds == 0 && channel.requests == 0)
        let hold = try #require(try device.mirrored.status()?.hold)
        #expect(hold.reason == .outsideHours)
        #expect(hold.message == "It waits for 02:00, outside the hours.")
        let wait = try #require(hold.until).timeIntervalSince(device.clock.now())
        #expect(wait > 19 * 3_600 && wait < 20 * 3_600)
        device.clock.advance(seconds: wait + 1)
        scheduler.wake()
        try await until { rounds == 1 }
        #expect(try device.mirrored.status()?.hold == nil)
        #expect(try device.mirrored.status()?.isInSync == true)
        scheduler.stop()
    }

    @Test func aRoundByHandRunsAtAnyTime() async throws {
        try device.mirrored.note(MirrorHold(.outsideHours, "It waits."))
        #expect(try device.mirrored.status()?.hold?.reason == .outsideHours)
        let session = MirrorSession(
            mirrored: device.mirrored, container: "test", channel: channel)
        #expect(try await session.sync().isInSync)
        #expect(try device.mirrored.status()?.hold == nil)
    }

    @Test func hoursMayGoOverMidnightAndAClockThatIsPutForward() throws {
        var policy = policy
        policy.hours = [DailyHours(fromMinute: 22 * 60, toMinute: 6 * 60 + 30)]
        let now = device.clock.now()
        func hold(_ moment: Date) -> MirrorHold? {
            policy.hold(at: moment, isMetered: false, waiting: 0, bytesToday: 0)
        }
        #expect(hold(now) == nil)
        #expect(hold(now + 1_800)?.message == "It waits for 22:00, outside the hours.")
        #expect(hold(now + 16 * 3_600) == nil)
        // At 2:00 it is 3:00 in Berlin on the last Sunday of March.
        policy.timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
        policy.hours = [DailyHours(fromMinute: 150, toMinute: 160)]
        let spring = try #require(
            ISO8601DateFormatter().date(from: "2026-03-29T00:30:00Z"))
        let opening = try #require(hold(spring)?.until)
        #expect(opening > spring && opening.timeIntervalSince(spring) <= 86_400)
    }

    @Test(arguments: [
        "", "02:00", "2-3", "25:00-01:00", "02:60-03:00", "24:01-02:00", "02:00-03:00-04:00",
        "-1:00-02:00", "aa:bb-cc:dd", "999999999999999999999:00-01:00",
    ])
    func whatIsNoStretchOfADayIsRefused(text: String) {
        #expect(DailyHours(text) == nil)
    }

    @Test func aStretchOfADayReadsAsItIsWritten() {
        #expect(DailyHours("2:05-06:30")?.description == "02:05-06:30")
        #expect(DailyHours("22:00-24:00")?.description == "22:00-00:00")
        #expect(DailyHours(fromMinute: -60, toMinute: 1_500).description == "23:00-01:00")
    }

    // MARK: Metered networks

    @Test func aMeteredNetworkIsNotUsedUntilItIsNoneAnyMore() async throws {
        var policy = policy
        policy.metered = .nothing
        isMetered.withLock { $0 = true }
        let scheduler = scheduler(policy)
        scheduler.start()
        try await until { !holds.isEmpty }
        #expect(rounds == 0)
        #expect(try device.mirrored.status()?.hold?.reason == .metered)
        isMetered.withLock { $0 = false }
        scheduler.wake()
        try await until { rounds == 1 }
        scheduler.stop()
    }

    @Test func smallRoundsGoOverAMeteredNetworkAndLargeOnesWait() async throws {
        var policy = policy
        policy.metered = .smallRounds(recordsMax: 2)
        isMetered.withLock { $0 = true }
        try device.insert("Note")
        try device.sync()
        for _ in 0..<3 { try device.insert("Note") }
        let scheduler = scheduler(policy)
        scheduler.start()
        try await until { !holds.isEmpty }
        #expect(rounds == 0)
        #expect(holds[0].message.contains("3 records wait, and 2"))
        try device.sync()
        try device.insert("Note")
        scheduler.wake()
        try await until { try device.mirrored.status()?.isInSync == true && rounds >= 1 }
        scheduler.stop()
    }

    // MARK: Bytes

    @Test func aRoundEndsOnceItHasMovedAllItMayAndALaterOneGoesOn() async throws {
        var policy = policy
        policy.bytesPerRoundMax = 3 * MeteredChannel.bytesPerRequest
        for _ in 0..<5 { try device.insert("Note") }
        let scheduler = scheduler(policy)
        // Each request of a record goes alone, so that there are many.
        channel.recordsMax = 1
        scheduler.start()
        try await until { !holds.isEmpty }
        #expect(holds[0].reason == .bytesOfRound)
        let status = try #require(try device.mirrored.status())
        #expect(status.hold?.reason == .bytesOfRound && !status.isInSync)
        // What holds it up besides does not make it equal.
        try device.mirrored.note(.init(.metered, "It waits.", cutsRound: true))
        #expect(try device.mirrored.status()?.isInSync == false)
        channel.recordsMax = nil
        for _ in 0..<6 where try device.mirrored.status()?.isInSync != true {
            let before = rounds
            scheduler.wake()
            try await until { rounds > before }
        }
        #expect(try device.mirrored.status()?.isInSync == true)
        #expect(try device.mirrored.status()?.hold == nil)
        scheduler.stop()
    }

    /// Each would begin with the same questions, which alone are more than it may move.
    @Test func aRoundOfFewerBytesThanItsFirstQuestionsGetsForward() async throws {
        var policy = policy
        policy.bytesPerRoundMax = 1
        for _ in 0..<3 { try device.insert("Note") }
        let scheduler = scheduler(policy)
        scheduler.start()
        try await until { !holds.isEmpty }
        for _ in 0..<6 where try device.mirrored.status()?.isInSync != true {
            let before = rounds
            scheduler.wake()
            try await until { rounds > before }
        }
        #expect(try device.mirrored.status()?.pending.total == 0)
        #expect(try device.mirrored.status()?.isInSync == true)
        scheduler.stop()
    }

    @Test func aDayHasSoManyBytesAndTheNextHasThemAgain() async throws {
        var policy = policy
        policy.bytesPerDayMax = 2 * MeteredChannel.bytesPerRequest
        let scheduler = scheduler(policy)
        scheduler.start()
        try await until { rounds == 1 }
        try device.insert("Note")
        scheduler.wake()
        try await until { holds.contains { $0.reason == .bytesOfDay } }
        let hold = try #require(try device.mirrored.status()?.hold)
        let wait = try #require(hold.until).timeIntervalSince(device.clock.now())
        #expect(wait > 17 * 3_600 && wait < 18 * 3_600)
        let before = rounds
        device.clock.advance(seconds: wait + 1)
        scheduler.wake()
        try await until { rounds > before }
        scheduler.stop()
    }
}

/// Waits until it is cancelled.
private struct Endless: Sleeper {
    func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }
}

/// A channel that counts a thousand bytes a request, and can refuse large batches.
final class MeteredChannel: RecordChannel {
    static let bytesPerRequest: Int64 = 1_000

    private let service: SimulatedService
    private let count = Lock<Int64>(0)
    private let most = Lock<Int?>(nil)
    let rounds = Lock<[String?]>([])

    init(service: SimulatedService) { self.service = service }

    var requests: Int64 { count.withLock { $0 } }
    var bytesMoved: Int64 { requests * Self.bytesPerRequest }
    var recordsMax: Int? {
        get { most.withLock { $0 } }
        set { most.withLock { $0 = newValue } }
    }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        count.withLock { $0 += 1 }
        rounds.withLock { $0.append(RoundIdentifier.current) }
        if case .modifyRecords(let modify) = request, let recordsMax,
            modify.operations.count > recordsMax
        {
            throw RecordError(.limitExceeded, "Too many.")
        }
        return try service.handle(request, from: "device")
    }
}
