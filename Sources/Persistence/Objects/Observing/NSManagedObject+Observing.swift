internal import Foundation
internal import ObjectModel

// Following values: key-value observing in the shape Swift sources use, since Foundation has none
// off Apple's platforms.

/// What `observe` returns: the observation lasts until it is invalidated or this ends.
///
/// Unlike Apple's, it keeps the object alive. Queue: that of the object's context.
public final class NSKeyValueObservation {
    private var observed: NSManagedObject?
    private let observer: ValueObserver

    init(of object: NSManagedObject, by observer: ValueObserver) {
        observed = object
        self.observer = observer
        object.add(observer)
    }

    deinit { invalidate() }

    /// Ends the observation.
    public func invalidate() {
        observed?.remove(observer)
        observed = nil
    }
}

/// Lets `observe` know the class of the object it is called on. Queue: that of the object's
/// context.
public protocol KeyPathObserving: AnyObject {}

extension NSManagedObject: KeyPathObserving {}

extension KeyPathObserving where Self: NSManagedObject {
    /// Calls `changeHandler` after each change of the property at `keyPath`; of any property that
    /// a computed one reads, when none of its values is missing.
    ///
    /// Changes by accessors, key-value coding, inverse relationships, undo, refresh, merge and
    /// rollback are told; values set by `setPrimitiveValue` alone are not. Runs on the queue of the
    /// object's context. Cost: an object of the entity is made once, to see what the property
    /// reads; each change costs a call.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let reads = AccessRecord()
        let probe = ProbeObject.make(Self.self, entity)
        _ = reads.recording { (probe as? Self)?[keyPath: keyPath] }
        let observer = ValueObserver(
            keys: Set(reads.names(of: probe)), options: options,
            read: { ($0 as? Self)?[keyPath: keyPath] },
            report: { object, values in
                guard let object = object as? Self else { return }
                changeHandler(object, values.change(of: Value.self))
            })
        return NSKeyValueObservation(of: self, by: observer)
    }
}

extension NSManagedObject {
    /// Calls `changeHandler` after each change of the property named `key`, as `observe(_:)` with a
    /// key path does.
    public final func observe(
        key: String, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (NSManagedObject, NSKeyValueObservedChange<Any>) -> Void
    ) -> NSKeyValueObservation {
        let observer = ValueObserver(
            keys: [key], options: options, read: { $0.primitiveValue(forKey: key) },
            report: { changeHandler($0, $1.change(of: Any.self)) })
        return NSKeyValueObservation(of: self, by: observer)
    }

    /// Says that members of a to-many are about to change. Source: Apple.
    public final func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { willChangeValue(forKey: inKey) }

    /// Says that members of a to-many have changed. Source: Apple.
    public final func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) { didChangeValue(forKey: inKey) }
}
