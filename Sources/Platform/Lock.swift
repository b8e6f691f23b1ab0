internal import Foundation

/// One small value behind a mutex, for a few instructions at a time.
///
/// A `pthread_mutex_t` rather than `Synchronization.Mutex`, whose futex the thread sanitizer cannot
/// see. Never call foreign code while holding it.
public final class Lock<Value>: @unchecked Sendable {
    // @unchecked: `value` is touched only between lock and unlock of `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    public init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the value while holding the lock, and returns what it returns.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
