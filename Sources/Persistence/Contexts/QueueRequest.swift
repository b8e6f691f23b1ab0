internal import Foundation

/// The wait of a thread that runs on one context's queue for the queue of another.
///
///     main thread (main queue)                child's queue
///     child.performAndWait: waits             merges: reads its parent on the main queue: waits
///     finds the child's request, does it      goes on, ends
///     has the child's queue, runs its block
///
/// Whoever waits looks at the requests for queues it runs on, and lends its queue where its own
/// request cannot go on before that: where the one it waits for, or whom that one waits for, is who
/// asks. A block runs on the thread that gave it; what is for the main queue runs on the main
/// thread.
final class QueueRequest: @unchecked Sendable {
    // @unchecked: all is used under the board's lock; the work by the one thread that began it.
    private let queue: ContextQueue
    private let thread = UInt(pthread_self())
    private let isOnMain = ContextQueue.isOnMain
    private let isReading: Bool
    /// For the main queue only: what its thread is to do.
    private var work: (() -> Void)?
    /// Whether the queue is this request's, or its work was begun.
    private var isGranted = false
    private var isDone = false
    /// To whom the waiting thread lent its queues.
    private var lent: [QueueRequest] = []

    /// All requests that are not done, in the order in which they came.
    private final class Board: @unchecked Sendable {
        // @unchecked: `requests` is used under the condition's lock.
        let condition = NSCondition()
        var requests: [QueueRequest] = []
    }

    private static let board = Board()

    private init(queue: ContextQueue, isReading: Bool, work: (() -> Void)? = nil) {
        self.queue = queue
        self.isReading = isReading
        self.work = work
    }

    /// Has `work` done on `queue`, and waits.
    static func run<Value>(
        on queue: ContextQueue, isReading: Bool, _ work: () -> Value
    ) -> Value {
        guard queue.isMain else {
            let request = QueueRequest(queue: queue, isReading: isReading)
            request.wait()
            defer { request.end() }
            return queue.hold(work)
        }
        // The closure ends before this returns: who runs it lets go of it before it says so.
        return withoutActuallyEscaping(work) { work in
            var result: Value?
            QueueRequest(queue: queue, isReading: isReading) { result = work() }.wait()
            guard let result else { ProgrammingMistake.unansweredRequest() }
            return result
        }
    }

    // MARK: Whose turn it is

    /// Called when the queue comes to the request.
    private func takeTurn() {
        let condition = Self.board.condition
        condition.lock()
        defer { condition.unlock() }
        guard !isGranted else { return }
        grant()
        while !isDone { condition.wait() }
    }

    /// Lets the request have its queue, or does its work. The board is locked.
    private func grant() {
        isGranted = true
        if queue.isMain {
            Self.board.condition.unlock()
            runWork()
            Self.board.condition.lock()
            finish()
        }
        Self.board.condition.broadcast()
    }

    @inline(never)
    private func runWork() {
        work?()
        work = nil
    }

    private func end() {
        let condition = Self.board.condition
        condition.lock()
        finish()
        condition.broadcast()
        condition.unlock()
    }

    /// The board is locked.
    private func finish() {
        isDone = true
        Self.board.requests.removeAll { $0 === self }
    }

    /// Waits until the queue is this request's, or the work is done; lends its thread's own queues
    /// to those who must go on before that.
    private func wait() {
        let board = Self.board
        board.condition.lock()
        defer { board.condition.unlock() }
        board.requests.append(self)
        queue.enqueue { self.takeTurn() }
        board.condition.broadcast()
        while true {
            lent.removeAll { $0.isDone }
            if lent.isEmpty && (queue.isMain ? isDone : isGranted) { return }
            if let other = board.requests.first(where: needs) {
                if !other.queue.isMain { lent.append(other) }
                other.grant()
            } else {
                board.condition.wait()
            }
        }
    }

    /// Whether this request, of the present thread, waits for `other`, whose queue the thread has.
    private func needs(_ other: QueueRequest) -> Bool {
        guard !other.isGranted, other.thread != thread, isHeld(other.queue, by: self),
            other.isReading || !isReading
        else { return false }
        var queue = queue
        for _ in Self.board.requests {
            let next = Self.board.requests.last { !$0.isGranted && isHeld(queue, by: $0) }
            guard let next, next !== self else { return false }
            if next.thread == other.thread { return true }
            queue = next.queue
        }
        return false
    }

    /// Whether who asked for an request runs on a queue that it did not lend.
    private func isHeld(_ queue: ContextQueue, by request: QueueRequest) -> Bool {
        queue.isOwned(by: request.thread) || queue.isMain && request.isOnMain
    }
}
