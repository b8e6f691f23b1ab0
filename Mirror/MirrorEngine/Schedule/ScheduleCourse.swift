internal import Foundation
internal import Platform
internal import RecordWire
internal import SQLiteStore

/// The course of a scheduler: what it does next, and what it waits for.
final class ScheduleCourse: Sendable {
    let session: MirrorSession
    let round: @Sendable () async throws -> SyncSummary
    let observe: @Sendable (ScheduleEvent) -> Void
    let plan: SchedulePlan
    let sleeper: any Sleeper
    let name: String
    let isPaused = Lock(false)
    /// Ends the wait between rounds.
    let signal = WakeSignal()
    /// The last transaction before the last round that was whole: what came later is to be looked
    /// at.
    private let seen = Lock<Int64>(0)
    /// Tells the service's watch that a round has ended.
    private let settled = WakeSignal()
    private let serviceWatch: ServiceWatch?

    init(
        _ session: MirrorSession, watching channel: (any RecordChannel)?, plan: SchedulePlan,
        sleeper: any Sleeper, name: String,
        round: @escaping @Sendable () async throws -> SyncSummary,
        observe: @escaping @Sendable (ScheduleEvent) -> Void
    ) {
        self.session = session
        self.plan = plan
        self.sleeper = sleeper
        self.name = name
        self.round = round
        self.observe = observe
        serviceWatch = channel.map { [signal, settled] channel in
            ServiceWatch(
                store: session.store, channel: channel, sleeper: sleeper, news: signal,
                settled: settled)
        }
    }

    /// Runs until the task is cancelled.
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
        case standingBy(ProcessIdentity)
    }

    private func runRounds() async {
        var failures = 0
        var last = Step.rounds
        while !Task.isCancelled {
            let seconds = await step(&failures, &last)
            await signal.wait(atMostSeconds: seconds, sleeper)
        }
    }

    /// Does what is to be done now, and returns for how long nothing is, unless something changes.
    private func step(_ failures: inout Int, _ last: inout Step) async -> Double {
        do {
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
            last = .rounds
            let before = try session.store.store.lastTransactionNumber()
            let summary = try await round()
            failures = 0
            seen.withLock { $0 = before }
            settled.send()
            observe(.round(summary))
            return try session.store.hasSaves(after: before) ? 0 : plan.intervalSeconds
        } catch {
            guard !Task.isCancelled else { return 0 }
            failures += 1
            let seconds = plan.seconds(afterFailures: failures)
            settled.send()
            observe(.failed(error, nextSeconds: seconds))
            return seconds
        }
    }

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
            guard let isNew = try? store.hasSaves(after: seen.withLock { $0 }) else {
                return false
            }
            if isNew { signal.send() }
            return isNew
        }
    }
}
