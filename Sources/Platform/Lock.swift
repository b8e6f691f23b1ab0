internal import Foundation

/// One small value behind a mutex, for a few instructions at a time.
///
/// A `pthread_mutex_t` rather than `Synchronization.Mutex`, whose futex the thread sanitizer cannot
/// see. Never call foreign code while holding it.
public final class Lock<Value>: @unchecked Sendable {
    // @unchecked: `value` is touched only between `acquire` and `release`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Apart from the object, so that no access needs the runtime's exclusivity check: the mutex is
    /// that check.
    @usableFromInline let value: UnsafeMutablePointer<Value>

    /// Keeps `value`, which nobody else may hold on to where it is a class. Cost: two allocations.
    public init(_ value: Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` with the value while holding the lock, and returns what it returns.
    @inlinable
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        acquire()
        defer { release() }
        return try body(&value.pointee)
    }

    @usableFromInline func acquire() { pthread_mutex_lock(mutex) }
    @usableFromInline func release() { pthread_mutex_unlock(mutex) }
}
