internal import Dispatch
internal import Foundation
internal import Synchronization

/// The one queue on which a context's work runs: a serial queue, or the main one.
///
/// A call from a block that already runs here goes straight on, also when other queues lie between.
/// Two queues may wait for each other (the main thread for a child context that merges, the child
/// for its parent on the main queue): then one lends its queue to the other; see `QueueRequest`.
final class ContextQueue: Sendable {
    let isMain: Bool
    private let queue: DispatchQueue
    /// The thread that runs a block here now; 0 for none.
    private let owner = Atomic<UInt>(0)
    /// Blocks that wait for the queue or run on it.
    private let queued = Atomic<Int>(0)
    /// Held while a block runs: on the queue, or beside it while that is empty.
    private let turn = NSLock()

    init(isMain: Bool) {
        self.isMain = isMain
        queue = isMain ? .main : DispatchQueue(label: "org.diptych.context")
        if isMain { DispatchQueue.main.setSpecific(key: Self.mainMark, value: true) }
    }

    /// The main queue's mark: off Apple's platforms other threads than the main one may drain it.
    private static let mainMark = DispatchSpecificKey<Bool>()

    static var isOnMain: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: mainMark) == true
    }

    var isCurrent: Bool {
        if isMain && Self.isOnMain { return true }
        return isOwned(by: UInt(pthread_self()))
    }

    func isOwned(by thread: UInt) -> Bool { owner.load(ordering: .acquiring) == thread }

    /// Runs `work` here and waits for it. `isReading` says that the caller is in the middle of its
    /// own queue's work and only wants values, so that its queue must not be lent meanwhile.
    func run<Value>(isReading: Bool = false, _ work: () -> Value) -> Value {
        if isCurrent { return work() }
        guard OwnedQueues.areAny || Self.isOnMain else {
            // Nobody waits for a thread without a queue, so it may wait without looking up.
            queued.wrappingAdd(1, ordering: .acquiringAndReleasing)
            return queue.sync { finishing { own(work) } }
        }
        if let value = runBeside(work) { return value }
        return QueueRequest.run(on: self, isReading: isReading, work)
    }

    /// Runs `work` on this thread where nothing is queued here; nil where something is.
    private func runBeside<Value>(_ work: () -> Value) -> Value? {
        guard !isMain, queued.load(ordering: .acquiring) == 0, turn.try() else { return nil }
        defer { turn.unlock() }
        return hold(work)
    }

    /// Runs `work` here after what is queued already.
    func enqueue(_ work: @escaping @Sendable () -> Void) {
        queued.wrappingAdd(1, ordering: .acquiringAndReleasing)
        queue.async { self.finishing { self.own(work) } }
    }

    /// Runs `work` here after what is queued already, and returns what it returns.
    func perform<Value>(_ work: @escaping () -> Value) async -> Value {
        let passed = UncheckedTransfer(work)
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<UncheckedTransfer<Value>, Never>) in
            enqueue { continuation.resume(returning: UncheckedTransfer(passed.value())) }
        }
        return result.value
    }

    private func finishing<Value>(_ work: () -> Value) -> Value {
        defer { queued.wrappingSubtract(1, ordering: .acquiringAndReleasing) }
        return work()
    }

    private func own<Value>(_ work: () -> Value) -> Value {
        guard !isMain else { return hold(work) }
        turn.lock()
        defer { turn.unlock() }
        return hold(work)
    }

    /// Runs `work` on this thread, which has the queue.
    func hold<Value>(_ work: () -> Value) -> Value {
        let former = owner.exchange(UInt(pthread_self()), ordering: .acquiringAndReleasing)
        OwnedQueues.count += 1
        defer {
            OwnedQueues.count -= 1
            owner.store(former, ordering: .releasing)
        }
        return work()
    }
}

/// How many queues the present thread runs on.
private enum OwnedQueues {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var areAny: Bool { count > 0 }

    static var count: Int {
        get { Int(bitPattern: pthread_getspecific(key)) }
        set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
    }
}

/// Carries a closure or value to the queue that alone will use it.
struct UncheckedTransfer<Value>: @unchecked Sendable {
    // @unchecked: made on one queue, used once on another, never on both at a time.
    let value: Value

    init(_ value: Value) { self.value = value }
}
