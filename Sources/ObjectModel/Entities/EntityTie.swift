internal import CRuntime
internal import Platform

/// A reference to an entity that does not hold it.
///
/// Swift's own `weak` moves its target's count of references into a table beside it, for good, so
/// that each later retain and release takes the long way round; and each object, each ID and each
/// row holds its entity for a while. Here the entity itself says when it ends, and its count stays
/// where it is. Any thread.
final class EntityTie: Sendable {
    private let address = Lock<UInt>(0)

    /// Called by the entity when it begins.
    func begin(_ entity: NSEntityDescription) {
        let place = UInt(bitPattern: Unmanaged.passUnretained(entity).toOpaque())
        address.withLock { $0 = place }
    }

    /// Called in the entity's `deinit`: its memory is there until this returns.
    func end() { address.withLock { $0 = 0 } }

    /// The entity; nil from the moment it ends.
    var entity: NSEntityDescription? {
        address.withLock { address in
            // Memory that is still there, since it is named under the lock; whether the entity
            // lives or is in its `deinit` already, the runtime says.
            guard let place = UnsafeMutableRawPointer(bitPattern: address),
                let live = diptych_try_retain(place)
            else { return nil }
            return Unmanaged<NSEntityDescription>.fromOpaque(live).takeRetainedValue()
        }
    }
}
