internal import Synchronization

/// A number that many threads raise at once without a lock.
public final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    /// Begins at 0.
    public init() {}

    /// Raises the number; a negative amount lowers it.
    public func add(_ amount: Int = 1) { count.wrappingAdd(amount, ordering: .relaxed) }

    /// The number now, which others may raise meanwhile.
    public var value: Int { count.load(ordering: .relaxed) }
}
