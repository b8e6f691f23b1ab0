public import Foundation
public import ObjectModel
internal import Platform

/// One object's values as an incremental store knows them. Source: Apple, NSIncrementalStoreNode.
/// Queue: its store's; not touched any more once it was handed over.
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {
    // @unchecked: `state` has a lock.
    private struct State {
        var values: [String: Any]
        var version: UInt64
    }

    /// The object whose values these are.
    public final let objectID: NSManagedObjectID
    private let state: Lock<State>

    /// Values by property name: attributes as in managed objects, to-ones as IDs or `NSNull`.
    /// To-manys, and to-ones that are left out, are asked for by
    /// `newValue(forRelationship:forObjectWith:with:)`.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        state = Lock(State(values: values, version: version))
        super.init()
    }

    /// Replaces values and version.
    open func update(withValues values: [String: Any], version: UInt64) {
        state.withLock { $0 = State(values: values, version: version) }
    }

    /// The value of a property: `NSNull` for an empty one, nil for one that was left out.
    open func value(for prop: NSPropertyDescription) -> Any? { value(named: prop.name) }

    /// Grows with each change of the object.
    public final var version: UInt64 { state.withLock { $0.version } }

    final func value(named name: String) -> Any? { state.withLock { $0.values[name] } }
}
