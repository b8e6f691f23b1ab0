public import Foundation

/// One object of an atomic store, with its values and links by property name. Source: Apple,
/// NSAtomicStoreCacheNode.
///
/// Attributes are as in managed objects; a to-one is a node, a to-many a set of nodes, an ordered
/// one an array or an ordered set of nodes. Queue: its store's, within whose functions it is used.
open class NSAtomicStoreCacheNode: NSObject {
    /// The object's ID, made by the store's `objectID(for:withReferenceObject:)`.
    public final let objectID: NSManagedObjectID
    /// The values; nil until one is set.
    open var propertyCache: NSMutableDictionary?

    /// A node without values; `addCacheNodes(_:)` puts it into the store.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// The value of a property; nil where it has none.
    open func value(forKey key: String) -> Any? {
        let value = propertyCache?[key]
        return value is NSNull ? nil : value
    }

    /// Sets a property; nil empties it.
    open func setValue(_ value: Any?, forKey key: String) {
        let cache = propertyCache ?? NSMutableDictionary()
        propertyCache = cache
        if let value {
            cache[key] = value
        } else {
            cache.removeObject(forKey: key)
        }
    }
}
