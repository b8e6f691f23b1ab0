internal import Foundation

/// The wait of a thread that runs on one lane for another lane.
///
///     main thread (main lane)                 child's queue (child's lane)
///     child.performAndWait: waits             merges: reads its parent on the main lane: waits
///     finds the child's errand, does it       goes on, ends
///     has the child's lane, runs its block
///
/// Whoever waits looks at the errands for lanes it runs on, and lends its lane where its own errand
/// cannot go on before that: where the one it waits for, or whom that one waits for, is who asks.
/// A block runs on the thread that gave it; what is for the main lane runs on the main thread.
final class LaneErrand: @unchecked Sendable {
    // @unchecked: all is used under the board's lock; the work by the one thread that began it.
    private let lane: ContextQueue
    private let thread = UInt(pthread_self())
    private let isOnMain = ContextQueue.isOnMain
    private let isReading: Bool
    /// For the main lane only: what its thread is to do.
    private var work: (() -> Void)?
    /// Whether the lane is this errand's, or its work was begun.
    private var isGranted = false
    private var isDone = false
    /// To whom the waiting thread lent its lanes.
    private var lent: [LaneErrand] = []

    /// All errands that are not done, in the order in which they came.
    private final class Board: @unchecked Sendable {
        // @unchecked: `errands` is used under the condition's lock.
        let condition = NSCondition()
        var errands: [LaneErrand] = []
    }

    private static let board = Board()

    private init(lane: ContextQueue, isReading: Bool, work: (() -> Void)? = nil) {
        self.lane = lane
        self.isReading = isReading
        self.work = work
    }

    /// Has `work` done on `lane`, and waits.
    static func run<Value>(
        on lane: ContextQueue, isReading: Bool, _ work: () -> Value
    ) -> Value {
        guard lane.isMain else {
            let errand = LaneErrand(lane: lane, isReading: isReading)
            errand.wait()
            defer { errand.end() }
            return lane.hold(work)
        }
        // The closure ends before this returns: who runs it lets go of it before it says so.
        return withoutActuallyEscaping(work) { work in
            var result: Value?
            LaneErrand(lane: lane, isReading: isReading) { result = work() }.wait()
            guard let result else { ProgrammingMistake.unansweredErrand() }
            return result
        }
    }

    // MARK: Whose turn it is

    /// Called when the lane's queue comes to the errand.
    private func takeTurn() {
        let condition = Self.board.condition
        condition.lock()
        defer { condition.unlock() }
        guard !isGranted else { return }
        grant()
        while !isDone { condition.wait() }
    }

    /// Lets the errand have its lane, or does its work. The board is locked.
    private func grant() {
        isGranted = true
        if lane.isMain {
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
        Self.board.errands.removeAll { $0 === self }
    }

    /// Waits until the lane is this errand's, or the work is done; lends its thread's own lanes to
    /// those who must go on before that.
    private func wait() {
        let board = Self.board
        board.condition.lock()
        defer { board.condition.unlock() }
        board.errands.append(self)
        lane.enqueue { self.takeTurn() }
        board.condition.broadcast()
        while true {
            lent.removeAll { $0.isDone }
            if lent.isEmpty && (lane.isMain ? isDone : isGranted) { return }
            if let other = board.errands.first(where: needs) {
                if !other.lane.isMain { lent.append(other) }
                other.grant()
            } else {
                board.condition.wait()
            }
        }
    }

    /// Whether this errand, of the present thread, waits for `other`, whose lane the thread has.
    private func needs(_ other: LaneErrand) -> Bool {
        guard !other.isGranted, other.thread != thread, isHeld(other.lane, by: self),
            other.isReading || !isReading
        else { return false }
        var lane = lane
        for _ in Self.board.errands {
            let next = Self.board.errands.last { !$0.isGranted && isHeld(lane, by: $0) }
            guard let next, next !== self else { return false }
            if next.thread == other.thread { return true }
            lane = next.lane
        }
        return false
    }

    /// Whether who asked for an errand runs on a lane that it did not lend.
    private func isHeld(_ lane: ContextQueue, by errand: LaneErrand) -> Bool {
        lane.isOwned(by: errand.thread) || lane.isMain && errand.isOnMain
    }
}
