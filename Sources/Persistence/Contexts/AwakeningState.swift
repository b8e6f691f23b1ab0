internal import Synchronization

/// What an object must know of its context to fill itself in, at hand on its shelf: to ask the
/// context itself costs more than the rest.
final class AwakeningState: @unchecked Sendable {
    // @unchecked: used on the context's queue only, but for `over`, which is atomic.

    /// How many parts of the program change values without that counting as a change.
    var suppressions = 0
    /// Whether changes wait for objects to be read.
    var hasPostponed = false
    private let over = Atomic(false)

    /// Whether the context has ended.
    var isOver: Bool { over.load(ordering: .acquiring) }

    func end() { over.store(true, ordering: .releasing) }
}
