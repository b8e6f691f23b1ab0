public import Foundation

/// How far a round is, in records, for whoever shows it or wants to cancel it.
///
/// `whole` counts both ways. What comes is known page by page, and what goes once the history was
/// read, so totals grow; they are what was moved when the round has ended. Any thread.
/// `whole.cancel()` ends the round after the step that it is at, with `CancellationError`, and a
/// request that waits for its answer at once; nothing is lost by it. No text is set: what is shown
/// is the app's to say. A round that moves nothing counts as one unit of `whole`, so that it ends
/// finished.
public struct RoundProgress: Sendable {
    public let whole = Progress(totalUnitCount: 1)
    public let importing = Progress(totalUnitCount: 0)
    public let exporting = Progress(totalUnitCount: 0)
    /// Ends a wait of the round early.
    let wake = WakeSignal()
    /// Ends a request early.
    private let end = WakeSignal()

    public init() {
        whole.cancellationHandler = { [wake, end] in
            wake.send()
            end.send()
        }
    }

    /// Does what is cancelled with the progress, as with the task.
    func heeded<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                await end.wait()
                return nil
            }
            defer { group.cancelAll() }
            while let done = try await group.next() {
                if let done { return done }
                if whole.isCancelled { group.cancelAll() }
            }
            throw CancellationError()
        }
    }

    func checkCancellation() throws {
        if whole.isCancelled { throw CancellationError() }
    }

    /// So many records are here and there; `coming` are on their way in, `waiting` in all out.
    func show(_ result: RoundResult, coming: Int, waiting: Int) {
        let (here, there) = (result.imported.received, result.exported + result.refused)
        let total = here + coming + max(waiting, there)
        set(importing, here, of: here + coming)
        set(exporting, there, of: max(waiting, there))
        // Not finished before the end, though nothing more be known to come.
        set(whole, min(here + there, max(0, total - 1)), of: max(1, total))
    }

    /// What was moved is all there was.
    func end(_ result: RoundResult) {
        let (here, there) = (result.imported.received, result.exported + result.refused)
        set(importing, here, of: here)
        set(exporting, there, of: there)
        set(whole, max(1, here + there), of: max(1, here + there))
    }

    /// Foundation's fractions bear no total that goes back to nothing.
    private func set(_ progress: Progress, _ completed: Int, of total: Int) {
        let (completed, total) = (Int64(completed), Int64(total))
        if total > 0, progress.totalUnitCount != total { progress.totalUnitCount = total }
        if progress.completedUnitCount != completed { progress.completedUnitCount = completed }
    }
}
