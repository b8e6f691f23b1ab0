internal import Foundation
internal import Synchronization

/// Lets one thread at a time work on a store.
///
/// A thread that holds the lock already may take it again: a function of the store called inside
/// `write` or `read` joins the transaction under way instead of waiting for itself.
final class StoreLock: @unchecked Sendable {
    // @unchecked: the lock has one of its own, and the owner is atomic.
    private let lock = NSRecursiveLock()
    /// The thread that holds the lock; 0 for none.
    private let owner = Atomic<UInt>(0)

    /// Whether the present thread holds the lock.
    var isHeldHere: Bool { owner.load(ordering: .acquiring) == StoreThread.present }

    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        return try holding(body)
    }

    /// Runs `body` where nobody else holds the lock; nil where somebody does.
    func runIfFree<Result>(_ body: () throws -> Result) rethrows -> Result? {
        guard lock.try() else { return nil }
        return try holding(body)
    }

    private func holding<Result>(_ body: () throws -> Result) rethrows -> Result {
        let former = owner.exchange(StoreThread.present, ordering: .acquiringAndReleasing)
        defer {
            owner.store(former, ordering: .releasing)
            lock.unlock()
        }
        return try body()
    }
}

/// The threads that work on stores, by numbers that are never 0.
enum StoreThread {
    static var present: UInt { UInt(pthread_self()) }
}
