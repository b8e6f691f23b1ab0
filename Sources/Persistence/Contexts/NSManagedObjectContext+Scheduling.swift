internal import Foundation

// Work on the context's lane.
extension NSManagedObjectContext {
    /// When an asynchronous `perform` may begin.
    public enum ScheduledTaskType: Sendable {
        /// At once where the caller already runs on the lane.
        case immediate
        /// After what is queued.
        case enqueued
    }

    /// Runs `block` on the context's lane, later.
    public final func perform(_ block: @escaping () -> Void) {
        let passed = UncheckedTransfer(block)
        lane.enqueue { self.runEvent(passed.value) }
    }

    /// Runs `block` on the context's lane and returns what it returns.
    public final func perform<T, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        if schedule == .immediate && lane.isCurrent { return try block() }
        return try await lane.perform { self.runEvent { Self.outcome(of: block) } }.get()
    }

    /// Runs `block` on the context's lane and waits. May be called from any lane, also from this
    /// one.
    public final func performAndWait<T, Failure: Error>(
        _ block: () throws(Failure) -> T
    ) throws(Failure) -> T {
        let result = lane.run { runEvent { Self.outcome(of: block) } }
        return try result.get()
    }

    /// The context whose lane runs the present code.
    @TaskLocal static var current: NSManagedObjectContext?

    static func outcome<T, Failure: Error>(
        of block: () throws(Failure) -> T
    ) -> Result<T, Failure> {
        do {
            return .success(try block())
        } catch {
            return .failure(error)
        }
    }

    private func runEvent<T>(_ block: () -> T) -> T {
        defer { processPendingChanges() }
        return Self.$current.withValue(self) { block() }
    }

    /// On the main thread, the end of the present turn ends the event; elsewhere the end of
    /// `perform` does.
    final func scheduleProcessing() {
        guard lane.isMain, !settings.isProcessingScheduled, ContextQueue.isOnMain else { return }
        settings.isProcessingScheduled = true
        lane.enqueue {
            self.settings.isProcessingScheduled = false
            self.processPendingChanges()
        }
    }
}
