internal import Foundation

/// Work that a thread which runs on one lane wants done on another, and waits for.
///
///     main thread (main lane)                 child's queue (child's lane)
///     child.performAndWait: waits             merges: reads its parent on the main lane: waits
///     finds the child's errand, does it       goes on, ends
///     does its own block on the child's lane
///
/// Whoever waits looks at the errands for lanes it runs on. It does one where its own errand cannot
/// go on before that: where the one it waits for, or whom that one waits for, is who asks.
final class LaneErrand: @unchecked Sendable {
    // @unchecked: all is used under the board's lock; the work by the one thread that began it.
    private let lane: ContextQueue
    private let thread = UInt(pthread_self())
    private let isOnMain = ContextQueue.isOnMain
    private let isReading: Bool
    private var work: (() -> Void)?
    private var isBegun = false
    private var isDone = false

    /// All errands that somebody waits for, in the order in which they came.
    private final class Board: @unchecked Sendable {
        // @unchecked: `errands` is used under the condition's lock.
        let condition = NSCondition()
        var errands: [LaneErrand] = []
    }

    private static let board = Board()

    private init(lane: ContextQueue, isReading: Bool, work: @escaping () -> Void) {
        self.lane = lane
        self.isReading = isReading
        self.work = work
    }

    /// Has `work` done on `lane`, and waits.
    static func run<Value>(
        on lane: ContextQueue, isReading: Bool, _ work: () -> Value
    ) -> Value {
        // The closure ends before this returns: who runs it lets go of it before it says so.
        withoutActuallyEscaping(work) { work in
            var result: Value?
            let errand = LaneErrand(lane: lane, isReading: isReading) { result = work() }
            errand.post()
            lane.enqueue { errand.perform() }
            errand.wait()
            guard let result else { ProgrammingMistake.unansweredErrand() }
            return result
        }
    }

    private func post() {
        let board = Self.board
        board.condition.lock()
        board.errands.append(self)
        board.condition.broadcast()
        board.condition.unlock()
    }

    /// Does the work, unless somebody began it already.
    private func perform() {
        let board = Self.board
        board.condition.lock()
        let isMine = !isBegun
        isBegun = true
        board.condition.unlock()
        guard isMine else { return }
        finish()
    }

    /// The work must have been begun by this thread.
    private func finish() {
        runWork()
        let board = Self.board
        board.condition.lock()
        isDone = true
        board.condition.broadcast()
        board.condition.unlock()
    }

    @inline(never)
    private func runWork() {
        work?()
        work = nil
    }

    /// Waits until the work is done, and does what others need to get there.
    private func wait() {
        let board = Self.board
        board.condition.lock()
        while !isDone {
            if let other = board.errands.first(where: needs) {
                other.isBegun = true
                board.condition.unlock()
                other.finish()
                board.condition.lock()
            } else {
                board.condition.wait()
            }
        }
        board.errands.removeAll { $0 === self }
        board.condition.unlock()
    }

    /// Whether this errand, of the present thread, waits for `other`, which the thread can do.
    private func needs(_ other: LaneErrand) -> Bool {
        guard !other.isBegun, other.thread != thread, isHeld(other.lane, by: self),
            other.isReading || !isReading
        else { return false }
        var lane = lane
        for _ in Self.board.errands {
            let next = Self.board.errands.last { !$0.isDone && isHeld(lane, by: $0) }
            guard let next, next !== self else { return false }
            if next.thread == other.thread { return true }
            lane = next.lane
        }
        return false
    }

    /// Whether who asked for an errand runs on a lane.
    private func isHeld(_ lane: ContextQueue, by errand: LaneErrand) -> Bool {
        lane.isOwned(by: errand.thread) || lane.isMain && errand.isOnMain
    }
}
