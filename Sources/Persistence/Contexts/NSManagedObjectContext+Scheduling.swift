internal import Foundation

// Work on the context's queue.
extension NSManagedObjectContext {
    /// When an asynchronous `perform` may begin.
    public enum ScheduledTaskType: Sendable {
        /// At once where the caller already runs on the queue.
        case immediate
        /// After what is queued.
        case enqueued
    }

    /// Runs `block` on the context's queue and returns what it returns. Throws what `block` throws.
    /// Cost: a turn on the queue, and the end of the event (see `processPendingChanges()`).
    public final func perform<T, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        if schedule == .immediate && queue.isCurrent { return try block() }
        return try await queue.perform { self.runEvent { Self.outcome(of: block) } }.get()
    }

    /// Runs `block` on the context's queue and waits. May be called from any queue, also from this
    /// one. Throws what `block` throws. Cost: as `perform`, and the caller's thread waits.
    public final func performAndWait<T, Failure: Error>(
        _ block: () throws(Failure) -> T
    ) throws(Failure) -> T {
        let result = queue.run { runEvent { Self.outcome(of: block) } }
        return try result.get()
    }

    /// The context whose queue runs the present code.
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

    final func runEvent<T>(_ block: () -> T) -> T {
        defer {
            processPendingChanges()
            if !queue.isMain {
                settings.undo?.manager.endEvent()
                settings.justSaved = []
            }
        }
        return Self.$current.withValue(self) { block() }
    }

    /// On the main thread, the end of the present turn ends the event; elsewhere the end of
    /// `perform` does.
    final func scheduleProcessing() {
        guard queue.isMain, !settings.isProcessingScheduled, ContextQueue.isOnMain else { return }
        settings.isProcessingScheduled = true
        queue.enqueue {
            self.settings.isProcessingScheduled = false
            self.settings.justSaved = []
            self.processPendingChanges()
        }
    }

    /// Keeps what a save wrote alive until the event ends, as Apple's autorelease pools do: on the
    /// main queue until its next turn, or the next save, else until the block ends.
    final func keepUntilEventEnds(_ saved: SavedObjects) {
        guard queue.isMain ? ContextQueue.isOnMain : Self.current === self else { return }
        settings.justSaved = saved.inserted + saved.updated
        scheduleProcessing()
    }
}
