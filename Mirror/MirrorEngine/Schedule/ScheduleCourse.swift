internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteStore

/// The course of a scheduler: what it does next, and what it waits for.
final class ScheduleCourse: Sendable {
    let session: MirrorSession
    /// Runs a round that may move so many bytes.
    let round: @Sendable (Int64?) async throws -> SyncSummary
    let observe: @Sendable (ScheduleEvent) -> Void
    let plan: SchedulePlan
    let sleeper: any Sleeper
    let name: String
    let isPaused = Lock(false)
    /// Whether the network is one on which each byte is paid for.
    let isMetered: @Sendable () -> Bool
    /// Ends the wait between rounds.
    let signal = WakeSignal()
    /// The store before the last round, whole or not: what was saved later wakes. What a failed
    /// round could not send waits for the next; it must not take what that round wrote, its own
    /// failure, for news.
    private let seen = Lock(StoreMark())
    /// Tells the service's watch that a round has ended.
    private let settled = WakeSignal()
    private let serviceWatch: ServiceWatch?

    init(
        _ session: MirrorSession, watching channel: (any RecordChannel)?, plan: SchedulePlan,
        sleeper: any Sleeper, name: String, isMetered: @escaping @Sendable () -> Bool,
        round: @escaping @Sendable (Int64?) async throws -> SyncSummary,
        observe: @escaping @Sendable (ScheduleEvent) -> Void
    ) {
        self.session = session
        self.plan = plan
        self.sleeper = sleeper
        self.name = name
        self.isMetered = isMetered
        self.round = round
        self.observe = observe
        serviceWatch = channel.map { [signal, settled] channel in
            let store = session.store
            return ServiceWatch(
                store: store, channel: channel, sleeper: sleeper, news: signal, settled: settled,
                isHeld: {
                    let now = store.settings.platform.clock.now()
                    let hold = plan.network.hold(
                        at: now, isMetered: isMetered(), waiting: 0, bytesToday: 0)
                    return hold != nil || (try? store.hold())?.reason == .bytesOfDay
                        || (try? store.patienceSeconds(at: now)) ?? 0 > 0
                })
        }
    }

    /// Runs until the task is cancelled, or the store is not this process's to sync any more.
    func run() async {
        let fileWatch = watchFile()
        await withTaskGroup(of: Void.self) { group in
            if let serviceWatch { group.addTask { await serviceWatch.run() } }
            await runRounds()
            group.cancelAll()
        }
        fileWatch.end()
        // Where this fails, the process's own end says the same.
        try? session.store.endTurn(of: .current)
    }

    private enum Step: Equatable {
        case rounds, paused
        case held(MirrorHold)
        case standingBy(ProcessIdentity)
    }

    private func runRounds() async {
        var failures = 0
        var last = Step.rounds
        var stall = StallWatch(session.store)
        let holding = StoreHolding(session.store)
        while !Task.isCancelled {
            guard let seconds = await step(&failures, &last, holding) else { return }
            // Who was stopped meanwhile leaves the telling to who began anew.
            guard !Task.isCancelled else { return }
            // What is held back by choice is told as that.
            if last == .rounds, let since = stall.look(at: now) { observe(.stalled(since: since)) }
            await signal.wait(atMostSeconds: seconds, sleeper)
        }
    }

    /// Does what is to be done now, and returns for how long nothing is, unless something changes;
    /// nil where nothing ever is.
    private func step(
        _ failures: inout Int, _ last: inout Step, _ holding: StoreHolding
    ) async -> Double? {
        do {
            try holding.expectPlace()
            let isPaused = isPaused.withLock { $0 }
            if let other = try session.store.takeTurn(
                as: .current, named: name, isPaused: isPaused)
            {
                enter(.standingBy(other.process), &last) { .standingBy(other) }
                return plan.standBySeconds
            }
            guard !isPaused else {
                enter(.paused, &last) { .paused }
                return plan.intervalSeconds
            }
            if let hold = try hold() {
                enter(.held(hold), &last) { .held(hold) }
                return seconds(of: hold)
            }
            last = .rounds
            let patience = try session.store.patienceSeconds(at: now)
            guard patience <= 0 else { return min(patience, Self.holdSecondsMax) }
            let before = try session.store.mark()
            seen.withLock { $0 = before }
            let summary = try await countedRound()
            failures = 0
            settled.send()
            observe(.round(summary))
            if let hold = try session.store.hold() {
                observe(.held(hold))
                return plan.intervalSeconds
            }
            return try session.store.hasNews(since: before) ? 0 : plan.intervalSeconds
        } catch {
            guard !Task.isCancelled else { return 0 }
            if let end = holding.end() {
                observe(.failed(end, nextSeconds: .infinity))
                return nil
            }
            failures += 1
            // A store that cannot be read is looked at again as soon as after any failure.
            let patience = (try? session.store.patienceSeconds(at: now)) ?? 0
            let wait = plan.seconds(afterFailures: failures)
            settled.send()
            observe(.failed(error, nextSeconds: max(wait, patience)))
            return max(wait, min(patience, Self.holdSecondsMax))
        }
    }

    // MARK: The network

    /// Why no round may begin now; kept in the store, where it is told by the status.
    private func hold() throws -> MirrorHold? {
        let store = session.store
        let isMetered = self.isMetered()
        var hold = plan.network.hold(
            at: now, isMetered: isMetered, waiting: isMetered ? try store.waitingTotal() : 0,
            bytesToday: try bytesToday())
        // That a round was cut is told until one is whole.
        let isCut = try store.hold()?.cutsRound ?? false
        if isCut { hold?.cutsRound = true }
        try store.note(hold ?? (isCut ? MirrorHold.cut : nil))
        return hold
    }

    /// A machine that slept finds the time is another: it looks at the clock again and again.
    private func seconds(of hold: MirrorHold) -> Double {
        guard let until = hold.until else { return plan.intervalSeconds }
        return min(max(1, until.timeIntervalSince(now)), Self.holdSecondsMax)
    }

    private static let holdSecondsMax = 900.0

    private func countedRound() async throws -> SyncSummary {
        let network = plan.network
        let bytesMax = network.bytesLeft(bytesToday: try bytesToday())
        let before = session.bytesMoved
        defer {
            // What is not counted for want of a disk is counted by no one.
            if network.bytesPerDayMax != nil {
                try? session.store.noteBytes(
                    session.bytesMoved - before, on: network.day(of: now))
            }
        }
        return try await round(bytesMax)
    }

    private func bytesToday() throws -> Int64 {
        guard plan.network.bytesPerDayMax != nil else { return 0 }
        return try session.store.bytesMoved(on: plan.network.day(of: now))
    }

    private var now: Date { session.store.settings.platform.clock.now() }

    /// Tells of a state once, however often it is found.
    private func enter(_ step: Step, _ last: inout Step, _ event: () -> ScheduleEvent) {
        if last != step { observe(event()) }
        last = step
    }

    /// A save of whatever process wakes the scheduler.
    private func watchFile() -> any FileWatch {
        let store = session.store
        let path = store.store.url?.resolvingSymlinksInPath().path
        let paths = path.map { [$0, $0 + "-wal"] } ?? []
        return store.settings.platform.watcher.watch(paths) { [signal, seen] in
            // A store that is busy is looked at again.
            guard let isNew = try? store.hasNews(since: seen.withLock { $0 }) else {
                return false
            }
            if isNew { signal.send() }
            return isNew
        }
    }
}
