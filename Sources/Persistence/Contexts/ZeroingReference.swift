internal import CRuntime
internal import Platform

/// A weak reference to an object that many others hold.
///
/// Swift's own `weak` moves its target's count of references into a table beside it, for good: each
/// later retain and release takes the long way round. Here the target itself says when it ends, so
/// its count stays where it is. The target makes the tie, and calls `end()` in its `deinit`.
final class ZeroingReference<Target: AnyObject>: Sendable {
    private let address = Lock<UInt>(0)

    /// Begins to lead to `target`. May be called again, for the same one or for a successor.
    func begin(_ target: Target) {
        address.withLock { $0 = LiveReference.address(of: target) }
    }

    /// Leads nowhere from now on.
    func end() { address.withLock { $0 = 0 } }

    /// The same, unless it leads to another target by now.
    func end(of target: Target) {
        let own = LiveReference.address(of: target)
        address.withLock { if $0 == own { $0 = 0 } }
    }

    /// The target; nil before it began and from the moment it ends.
    var target: Target? { address.withLock { LiveReference.object(at: $0) } }

    /// Whether the target has ended.
    var isOver: Bool { address.withLock { $0 == 0 } }
}

/// Turns addresses of objects into references, for tables that do not keep their objects alive.
///
/// The one rule: an object takes its address out of the table in its `deinit`, under the lock under
/// which the table is read. So an address found under that lock is one of memory that is still
/// there; whether the object lives or is in its `deinit` already, the runtime says.
enum LiveReference {
    static func address(of object: AnyObject) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }

    /// The object of type `Target` at an address; nil for 0, and for one that is ending.
    static func object<Target: AnyObject>(at address: UInt) -> Target? {
        guard let place = UnsafeMutableRawPointer(bitPattern: address),
            let live = diptych_try_retain(place)
        else { return nil }
        return Unmanaged<Target>.fromOpaque(live).takeRetainedValue()
    }
}
