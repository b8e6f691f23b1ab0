public import Foundation
public import Platform
public import RecordWire

/// Keeps one store in sync by itself: a round after each save, of whatever process, after each
/// change at the service, and at intervals.
///
/// Of several processes that keep one store in sync, one runs the rounds and the others stand by.
/// Thread-safe. It ends with its last reference.
public final class MirrorScheduler: Sendable {
    private let course: ScheduleCourse
    private let task = Lock<(any RunningTask)?>(nil)

    /// A scheduler for the rounds of a session. `watching` is a second way to the same service, on
    /// which requests wait for changes; nil: it is asked at intervals only. `name` is what the
    /// process calls itself to the others. `isMetered` says whether the plan's rule for metered
    /// networks counts now; call `wake()` when that changes. `round` runs a round that may move so
    /// many bytes and tells of it, where more is to be told than the session does. `observe` is
    /// called on the scheduler's own tasks.
    public init(
        _ session: MirrorSession, watching channel: (any RecordChannel)? = nil,
        plan: SchedulePlan = SchedulePlan(), sleeper: any Sleeper = SystemSleeper(),
        name: String = ProcessInfo.processInfo.processName,
        isMetered: @escaping @Sendable () -> Bool = { false },
        round: (@Sendable (Int64?) async throws -> SyncSummary)? = nil,
        observe: @escaping @Sendable (ScheduleEvent) -> Void = { _ in }
    ) {
        course = ScheduleCourse(
            session, watching: channel, plan: plan, sleeper: sleeper, name: name,
            isMetered: isMetered,
            round: round ?? { try await session.sync(bytesMax: $0, isAskedFor: false) },
            observe: observe)
    }

    deinit { stop() }

    /// Begins to run, with a round at once. A second call begins anew.
    public func start(by runner: any TaskRunner = SystemTaskRunner()) {
        task.withLock { task in
            task?.cancel()
            task = runner.run { [course] in await course.run() }
        }
    }

    /// Runs until the task is cancelled, instead of `start`, or the store is not the one any more
    /// that was opened.
    public func run() async { await course.run() }

    /// Ends what `start` began, soon; a round under way ends between two of its steps.
    public func stop() { task.withLock { $0.take() }?.cancel() }

    /// Something may have changed: a round is to run soon, or when the time has come before which
    /// the service asked not to be asked.
    public func wake() { course.signal.send() }

    /// No more rounds begin until `resume`; saves go on and wait. The pause is told by the store's
    /// status, and ends with the process.
    public func pause() {
        course.isPaused.withLock { $0 = true }
        wake()
    }

    /// Ends a pause, with a round at once.
    public func resume() {
        course.isPaused.withLock { $0 = false }
        wake()
    }

    public var isPaused: Bool { course.isPaused.withLock { $0 } }
}

extension MirrorSession {
    /// Runs rounds until nothing waits on either side, or the same things wait after a round as
    /// before it: refused records, conflicts that wait for a decision. Returns what the last round
    /// came to. Throws as `sync` does.
    public func syncUntilQuiescent() async throws -> SyncSummary {
        var waited: MirrorStatus.Pending?
        while true {
            let summary = try await sync()
            let pending = try store.status()?.pending
            guard !summary.isInSync, pending != waited else { return summary }
            waited = pending
        }
    }
}
