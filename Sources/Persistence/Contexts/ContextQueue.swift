internal import Dispatch
internal import Foundation
internal import Synchronization

/// The one lane on which a context's work runs: a serial queue, or the main one.
///
/// A call from a block that already runs here goes straight on, also when other lanes lie between.
final class ContextQueue: Sendable {
    let isMain: Bool
    private let queue: DispatchQueue
    /// The thread that runs a block here now; 0 for none.
    private let owner = Atomic<UInt>(0)

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
        return owner.load(ordering: .acquiring) == UInt(pthread_self())
    }

    /// Runs `work` here and waits for it.
    func run<Value>(_ work: () -> Value) -> Value {
        if isCurrent { return work() }
        return queue.sync { own(work) }
    }

    /// Runs `work` here after what is queued already.
    func enqueue(_ work: @escaping @Sendable () -> Void) {
        queue.async { self.own(work) }
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

    private func own<Value>(_ work: () -> Value) -> Value {
        let former = owner.exchange(UInt(pthread_self()), ordering: .acquiringAndReleasing)
        defer { owner.store(former, ordering: .releasing) }
        return work()
    }
}

/// Carries a closure or value to the lane that alone will use it.
struct UncheckedTransfer<Value>: @unchecked Sendable {
    // @unchecked: made on one lane, used once on another, never on both at a time.
    let value: Value

    init(_ value: Value) { self.value = value }
}
