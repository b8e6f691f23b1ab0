internal import Dispatch
internal import Foundation
internal import Persistence
internal import Platform

/// What Ctrl-C and SIGTERM do to a verb: it is told to stop, and the exit status says why it did.
///
/// A round stops between two of its steps, a copy between two batches, which it takes back. What
/// does not stop within a moment is ended; a store is whole then too, since each of its saves is a
/// transaction, and of one that was being made nothing stays. A second signal ends it at once, but
/// not one that came with the first.
enum SignalWatch {
    /// How long work that can stop by itself has for it.
    private static let graceSeconds = 5.0

    /// Runs `work` until it ends or a signal comes. Where it `stops` by itself, it has a moment
    /// for that.
    static func run(
        _ console: Console, _ invocation: Invocation, stops: Bool,
        _ work: @escaping @Sendable () async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let stopped = Lock<Stop?>(nil)
        let begun = Lock<Task<ExitStatus, any Error>?>(nil)
        @Sendable func end(_ status: ExitStatus) -> Never {
            console.report(invocation.completing(failure(status)))
            DraftRegister.removeAll()
            ProcessEnd.now(status)
        }
        let sources = SignalSources.watch { signal in
            let status: ExitStatus = signal == SIGINT ? .interrupted : .terminated
            let first = stopped.withLock { first in
                defer { first = first ?? Stop(status: status, moment: .now) }
                return first
            }
            if let first {
                let pause = first.moment.duration(to: .now) / .seconds(1)
                if pause > SignalSources.pauseSeconds { end(status) }
                return
            }
            guard stops else { end(status) }
            begun.withLock { $0 }?.cancel()
            DispatchQueue.global().asyncAfter(deadline: .now() + graceSeconds) { end(status) }
        }
        defer { for source in sources { source.cancel() } }
        // Not before it is watched: what it makes would stay behind, or the signal be lost.
        let task = Task { try await work() }
        begun.withLock { $0 = task }
        if stopped.withLock({ $0 != nil }) { task.cancel() }
        do {
            let status = try await task.value
            // What came to its end before it heard of the signal is done.
            let isDone = status == .done || status == .incomplete
            guard !isDone, let stop = stopped.withLock({ $0 }) else { return status }
            throw failure(stop.status)
        } catch {
            guard let stop = stopped.withLock({ $0 }) else { throw error }
            throw failure(stop.status)
        }
    }

    /// The first signal.
    private struct Stop {
        let status: ExitStatus
        let moment: ContinuousClock.Instant
    }

    private static func failure(_ status: ExitStatus) -> CommandError {
        CommandError(
            status == .interrupted ? "interrupted" : "terminated",
            status == .interrupted ? "Interrupted." : "Told to end.",
            hint: "What was saved before stays, what was not leaves no trace; run the command "
                + "again when it suits.", status: status)
    }
}
