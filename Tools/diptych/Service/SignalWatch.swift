internal import Dispatch
internal import Foundation
internal import Platform

/// What Ctrl-C and SIGTERM do to a verb: it is told to stop, and the exit status says why it did.
///
/// A round stops between two of its steps, a copy between two batches, which it takes back. What
/// does not stop within a moment is ended; a store is whole then too, since each of its saves is a
/// transaction.
enum SignalWatch {
    /// How long work that can stop by itself has for it.
    private static let graceSeconds = 5.0

    /// Runs `work` until it ends or a signal comes. Where it `stops` by itself, it has a moment
    /// for that.
    static func run(
        _ console: Console, _ invocation: Invocation, stops: Bool,
        _ work: @escaping @Sendable () async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let stopped = Lock<ExitStatus?>(nil)
        let task = Task { try await work() }
        let sources = SignalSources.watch { signal in
            let status: ExitStatus = signal == SIGINT ? .interrupted : .terminated
            let isFirst = stopped.withLock { former in
                defer { former = status }
                return former == nil
            }
            guard isFirst else { exit(status.rawValue) }
            console.report(invocation.completing(failure(status)))
            guard stops else { exit(status.rawValue) }
            task.cancel()
            DispatchQueue.global().asyncAfter(deadline: .now() + graceSeconds) {
                exit(status.rawValue)
            }
        }
        defer { for source in sources { source.cancel() } }
        do {
            let status = try await task.value
            return stopped.withLock { $0 } ?? status
        } catch {
            guard let status = stopped.withLock({ $0 }) else { throw error }
            return status
        }
    }

    private static func failure(_ status: ExitStatus) -> CommandError {
        CommandError(
            status == .interrupted ? "interrupted" : "terminated",
            status == .interrupted ? "Interrupted." : "Told to end.",
            hint: "What was saved before stays, what was not leaves no trace; run the command "
                + "again when it suits.", status: status)
    }
}
