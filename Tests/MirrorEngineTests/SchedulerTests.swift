import Foundation
import MirrorEngine
import MirrorTestKit
import Platform
import RecordWire
import SQLiteStore
import Stores
import Testing

/// A store that is kept in sync by itself: what wakes it, what holds it up, and who does it.
@Suite struct SchedulerTests {
    let service: SimulatedService
    let device: Device
    let other: Device
    let channel: HoldingChannel
    let events = Lock<[ScheduleEvent]>([])

    init() throws {
        service = try Device.service()
        device = try Device(1, service)
        other = try Device(2, service)
        channel = HoldingChannel(service: service)
    }

    private func session(_ mirrored: MirroredStore) -> MirrorSession {
        MirrorSession(mirrored: mirrored, container: "test", channel: channel)
    }

    /// A scheduler that only waits for signals: its sleeps end with it.
    private func scheduler(
        of mirrored: MirroredStore? = nil, watching: (any RecordChannel)? = nil,
        sleeper: any Sleeper = Endless()
    ) -> MirrorScheduler {
        MirrorScheduler(
            session(mirrored ?? device.mirrored), watching: watching, sleeper: sleeper,
            name: "test",
            observe: { [events] event in events.withLock { $0.append(event) } })
    }

    private var rounds: Int {
        events.withLock { $0.count { if case .round = $0 { true } else { false } } }
    }

    private func until(_ condition: () throws -> Bool) async throws {
        for _ in 0..<120_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try condition())
    }

    // MARK: What wakes it

    @Test func aRoundRunsAtOnceAndAfterAWake() async throws {
        let scheduler = scheduler()
        scheduler.start()
        try await until { rounds == 1 }
        try device.insert("Note")
        scheduler.wake()
        try await until { try device.mirrored.status()?.isInSync == true && rounds >= 2 }
        scheduler.stop()
    }

    @Test func aSaveOfAnotherProcessWakesIt() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("SchedulerTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Store.sqlite")
        let model = SampleModel.make()
        let store = try SQLiteRowStore(url: file, model: model, platform: .system)
        let mirrored = try MirroredStore(store: store, platform: .system)
        let scheduler = scheduler(of: mirrored)
        scheduler.start()
        try await until { rounds == 1 }
        let foreign = try Device(3, service, model: model, file: file)
        try foreign.insert("Note")
        try await until { try rounds >= 2 && mirrored.status()?.isInSync == true }
        scheduler.stop()
    }

    /// What is decided is written as what came is, and is to be sent all the same.
    @Test func aDecisionOfAnotherProcessWakesIt() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("SchedulerTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Store.sqlite")
        let here = try Device(3, service, file: file)
        let note = try here.insert("Note", ["title": .text("base")])
        try here.sync()
        try other.sync()
        try other.set(other.only("Note"), "title", .text("theirs"))
        try other.sync()
        try here.set(note, "title", .text("mine"))
        try here.sync()
        let line = try #require(here.mirrored.conflicts().last)
        let store = try SQLiteRowStore(url: file, model: SampleModel.make(), platform: .system)
        let mirrored = try MirroredStore(store: store, platform: .system)
        let scheduler = scheduler(of: mirrored)
        scheduler.start()
        try await until { rounds == 1 }
        try here.mirrored.resolve(conflict: line.id, taking: .remote)
        try await until { rounds > 1 }
        scheduler.stop()
        try other.sync()
        #expect(try other.value(other.only("Note"), "title") == .text("theirs"))
    }

    @Test func aChangeAtTheServiceWakesIt() async throws {
        let scheduler = scheduler(watching: channel)
        scheduler.start()
        try await until { channel.held == 1 }
        try other.insert("Note")
        try other.sync()
        channel.release()
        try await until { try device.rows("Note").count == 1 }
        // It waits again, from where the round has read to.
        try await until { channel.held == 1 }
        #expect(try channel.heldToken == device.mirrored.zoneToken())
        scheduler.stop()
    }

    @Test func aServiceThatHoldsNothingBackIsAskedLessAndLessOften() async throws {
        let sleeper = CountingSleeper()
        channel.holds = false
        let scheduler = scheduler(watching: channel, sleeper: sleeper)
        scheduler.start()
        // Where it begins before the first round has read the zone, it waits for that.
        func rests() -> ArraySlice<Double> { sleeper.short.drop { $0 == 60 } }
        try await until { rests().count >= 8 }
        scheduler.stop()
        #expect(Array(rests().prefix(8)) == [1, 2, 4, 8, 16, 32, 60, 60])
    }

    // MARK: What holds it up

    @Test func aFailureIsToldAndTriedAgainLater() async throws {
        channel.refuses = true
        let sleeper = CountingSleeper()
        let scheduler = scheduler(sleeper: sleeper)
        scheduler.start()
        func waits() -> [Double] {
            events.withLock { $0 }.compactMap {
                if case .failed(_, let seconds) = $0 { seconds } else { nil }
            }
        }
        try await until { waits().count >= 6 }
        #expect(waits().prefix(6) == [2, 4, 8, 16, 30, 30])
        channel.refuses = false
        try await until { rounds >= 1 }
        scheduler.stop()
    }

    /// Nobody is asked before the time that the service has named, and then it goes on.
    /// What a failed round writes, that it failed, is no news to it.
    @Test func aRoundThatFailsWithASaveUnsentIsNotTriedAgainAtOnce() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("SchedulerTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Store.sqlite")
        let store = try SQLiteRowStore(url: file, model: SampleModel.make(), platform: .system)
        let mirrored = try MirroredStore(store: store, platform: .system)
        let scheduler = scheduler(of: mirrored)
        var failures: Int {
            events.withLock { $0.count { if case .failed = $0 { true } else { false } } }
        }
        scheduler.start()
        try await until { rounds == 1 }
        channel.refuses = true
        let foreign = try Device(3, service, file: file)
        try foreign.insert("Note")
        try await until { failures > 0 }
        try await Task.sleep(for: .seconds(1))
        #expect(failures < 5)
        #expect(try mirrored.status()?.lastError != nil)
        // The next save is news.
        let known = failures
        try foreign.insert("Note")
        try await until { failures > known }
        scheduler.stop()
    }

    @Test func aServiceThatAsksForPatienceIsGivenIt() async throws {
        channel.refuses = true
        channel.patienceSeconds = 120
        let sleeper = CountingSleeper()
        let scheduler = scheduler(watching: channel, sleeper: sleeper)
        scheduler.start()
        func waits() -> [Double] {
            events.withLock { $0 }.compactMap {
                if case .failed(_, let seconds) = $0 { seconds } else { nil }
            }
        }
        try await until { waits().count >= 1 }
        #expect(waits().allSatisfy { (119...121).contains($0) })
        try device.insert("Note")
        scheduler.wake()
        let sleeps = sleeper.all.count
        try await until { sleeper.all.count >= sleeps + 20 }
        #expect(channel.asked == 1 && waits().count == 1)
        channel.refuses = false
        device.clock.advance(seconds: 121)
        try await until { try device.mirrored.status()?.isInSync == true }
        #expect(try device.mirrored.status()?.retryAt == nil)
        scheduler.stop()
    }

    @Test func aRoundByHandEndsThePatience() async throws {
        channel.refuses = true
        channel.patienceSeconds = 120
        let session = session(device.mirrored)
        await #expect(throws: MirrorError.self) { try await session.sync() }
        try #require(try device.mirrored.status()?.retryAt != nil)
        channel.refuses = false
        #expect(try await session.sync().isInSync)
        let scheduler = scheduler()
        scheduler.start()
        try await until { rounds == 1 }
        scheduler.stop()
    }

    @Test func aStallIsToldOnceAndAnewAfterNothingWaited() async throws {
        let scheduler = scheduler(sleeper: CountingSleeper())
        var stalls: Int {
            events.withLock { $0.count { if case .stalled = $0 { true } else { false } } }
        }
        for time in 1...2 {
            channel.refuses = true
            try device.insert("Note")
            scheduler.start()
            try await until { try device.mirrored.status()?.waitingSince != nil }
            #expect(stalls == time - 1)
            device.clock.advance(seconds: 901)
            let failures = events.withLock { $0.count }
            try await until { events.withLock { $0.count } > failures + 10 }
            #expect(stalls == time)
            channel.refuses = false
            try await until { try device.mirrored.status()?.waitingSince == nil }
            scheduler.stop()
        }
    }

    /// The next course may have begun: both would tell.
    @Test func aCourseThatWasStoppedTellsOfNoStall() async throws {
        channel.refuses = true
        try device.insert("Note")
        let session = session(device.mirrored)
        await #expect(throws: (any Error).self) { try await session.sync() }
        try #require(try device.mirrored.status()?.waitingSince != nil)
        device.clock.advance(seconds: 901)
        let waiting = Lock<CheckedContinuation<Void, Never>?>(nil)
        let scheduler = MirrorScheduler(
            session, sleeper: Endless(), name: "test",
            round: { bytesMax in
                await withCheckedContinuation { round in waiting.withLock { $0 = round } }
                return try await session.sync(bytesMax: bytesMax)
            },
            observe: { [events] event in events.withLock { $0.append(event) } })
        let course = Task { await scheduler.run() }
        try await until { waiting.withLock { $0 } != nil }
        course.cancel()
        waiting.withLock { $0 }?.resume()
        await course.value
        #expect(events.withLock { $0.count } == 0)
    }

    @Test func aPauseHoldsSavesBackAndIsToldByTheStatus() async throws {
        let scheduler = scheduler()
        scheduler.start()
        try await until { rounds == 1 }
        #expect(try device.mirrored.status()?.activity?.state == .running)
        scheduler.pause()
        try await until { try device.mirrored.status()?.activity?.state == .paused }
        try device.insert("Note")
        scheduler.wake()
        try await until {
            events.withLock { $0.contains { if case .paused = $0 { true } else { false } } }
        }
        #expect(rounds == 1 && scheduler.isPaused)
        #expect(try device.mirrored.status()?.pending.inserts == 1)
        scheduler.resume()
        try await until { try device.mirrored.status()?.isInSync == true }
        scheduler.stop()
        try await until { try device.mirrored.status()?.activity?.state == .stopped }
    }

    @Test func whatWaitsTooLongIsAStall() throws {
        try device.sync()
        try device.insert("Note")
        #expect(try device.mirrored.status()?.isStalled(at: device.clock.now()) == false)
        device.clock.advance(seconds: 901)
        let status = try #require(try device.mirrored.status())
        #expect(status.isStalled(at: device.clock.now()))
        try device.sync()
        #expect(try device.mirrored.status()?.waitingSince == nil)
    }

    // MARK: Who does it

    @Test func oneProcessSyncsAndTheOthersStandBy() async throws {
        let first = try #require(ProcessIdentity(of: 1))
        #expect(try device.mirrored.takeTurn(as: first, named: "another") == nil)
        let sleeper = CountingSleeper(isEndless: true)
        let scheduler = scheduler(sleeper: sleeper)
        scheduler.start()
        try await until { sleeper.all.contains(20) }
        #expect(rounds == 0)
        let holder = events.withLock { $0 }.compactMap {
            if case .standingBy(let activity) = $0 { activity.name } else { nil }
        }
        #expect(holder == ["another"])
        try device.mirrored.endTurn(of: first)
        scheduler.wake()
        try await until { rounds == 1 }
        scheduler.stop()
    }

    @Test func theTurnOfADeadProcessIsTaken() throws {
        let me = ProcessIdentity.current
        let text = String(decoding: try JSONEncoder().encode(me), as: UTF8.self)
        let dead = try JSONDecoder().decode(
            ProcessIdentity.self,
            from: Data(text.replacing("\"began\":\(me.began)", with: "\"began\":1").utf8))
        #expect(me.isAlive && !dead.isAlive)
        #expect(try device.mirrored.takeTurn(as: dead, named: "dead") == nil)
        #expect(try device.mirrored.status()?.activity?.isAlive == false)
        #expect(try device.mirrored.takeTurn(as: me, named: "test") == nil)
        #expect(try device.mirrored.status()?.activity?.name == "test")
        // What another has is not given up for it.
        try device.mirrored.endTurn(of: dead)
        #expect(try device.mirrored.status()?.activity?.state == .running)
    }

    // MARK: By hand

    @Test func roundsRunUntilNothingWaitsOrTheSameThingsDo() async throws {
        try device.insert("Note")
        #expect(try await session(device.mirrored).syncUntilQuiescent().isInSync)
        try device.insert("Cover", ["image": .data(Data(repeating: 1, count: 1_200_000))])
        #expect(try await session(device.mirrored).syncUntilQuiescent().isInSync == false)
    }

    @Test func ownImportsAreNoSaves() throws {
        try device.insert("Note")
        try device.sync()
        let number = try device.store.lastTransactionNumber()
        #expect(try device.mirrored.hasSaves(after: number - 1))
        try other.insert("Note")
        try other.sync()
        try device.sync()
        #expect(try device.store.lastTransactionNumber() > number)
        #expect(try !device.mirrored.hasSaves(after: number))
        try device.insert("Note")
        #expect(try device.mirrored.hasSaves(after: number))
    }
}

/// Waits until it is cancelled.
private struct Endless: Sleeper {
    func sleep(seconds: Double) async throws { try await Task.sleep(for: .seconds(86_400)) }
}

/// Notes what it is asked for, and waits a moment instead, or until it is cancelled.
private final class CountingSleeper: Sleeper {
    private let asked = Lock<[Double]>([])
    private let isEndless: Bool

    init(isEndless: Bool = false) { self.isEndless = isEndless }

    var all: [Double] { asked.withLock { $0 } }
    /// Without the waits of the rounds themselves.
    var short: [Double] { all.filter { $0 != 30 } }

    func sleep(seconds: Double) async throws {
        asked.withLock { $0.append(seconds) }
        try await Task.sleep(for: isEndless ? .seconds(86_400) : .milliseconds(1))
    }
}

/// A channel to a service in this process that holds back the answers of requests that wait.
final class HoldingChannel: RecordChannel {
    private struct State {
        var waiting: [(token: String?, continuation: CheckedContinuation<Void, Never>)] = []
        var holds = true
        var refuses = false
        var patienceSeconds: Double?
        var asked = 0
    }

    private let service: SimulatedService
    private let state = Lock(State())

    init(service: SimulatedService) { self.service = service }

    var held: Int { state.withLock { $0.waiting.count } }
    var heldToken: String? { state.withLock { $0.waiting.first?.token } }
    var holds: Bool {
        get { state.withLock { $0.holds } }
        set { state.withLock { $0.holds = newValue } }
    }
    var refuses: Bool {
        get { state.withLock { $0.refuses } }
        set { state.withLock { $0.refuses = newValue } }
    }

    /// What it asks for with a refusal; nil for one for good.
    var patienceSeconds: Double? {
        get { state.withLock { $0.patienceSeconds } }
        set { state.withLock { $0.patienceSeconds = newValue } }
    }
    var asked: Int { state.withLock { $0.asked } }

    /// Answers all that is held back.
    func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.continuation.resume() }
    }

    func send(_ request: RecordRequest) async throws -> RecordResponse {
        state.withLock { $0.asked += 1 }
        if refuses {
            var refusal = RecordError(.accessDenied, "Not now.")
            if let patienceSeconds {
                refusal = RecordError(.throttled, "Later.")
                refusal.retryAfterSeconds = patienceSeconds
            }
            throw refusal
        }
        if case .zoneChanges(let changes) = request, request.waitSeconds > 0, holds {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    state.withLock {
                        $0.waiting.append((changes.zones.first?.syncToken, continuation))
                    }
                    if Task.isCancelled { release() }
                }
            } onCancel: {
                release()
            }
            try Task.checkCancellation()
        }
        return try service.handle(request, from: "device")
    }
}
