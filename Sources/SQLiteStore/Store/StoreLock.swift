internal import Foundation

/// Lets one thread at a time work on a store.
///
/// A thread that holds the lock already may take it again: a function of the store called inside
/// `write` or `read` joins the transaction under way instead of waiting for itself.
final class StoreLock: @unchecked Sendable {
    // @unchecked: the lock is the only thing in here.
    private let lock = NSRecursiveLock()

    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}
