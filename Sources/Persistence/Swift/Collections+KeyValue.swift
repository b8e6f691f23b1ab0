public import Foundation

// Key-value coding of Foundation's collections, which has none of it off Apple's platforms. Paths
// are walked as those of objects are.

extension NSArray {
    /// The members' values of a key; those that have none are left out.
    public func value(forKey key: String) -> Any? { KeyPathWalk.value(of: self, at: key) }

    /// What a path leads to from the members; `@avg.age` and its like are computed.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyPathWalk.value(of: self, at: keyPath)
    }
}

extension NSSet {
    /// The members' values of a key.
    public func value(forKey key: String) -> Any? { KeyPathWalk.value(of: self, at: key) }

    /// What a path leads to from the members; `@avg.age` and its like are computed.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyPathWalk.value(of: self, at: keyPath)
    }
}

extension NSOrderedSet {
    /// The members' values of a key.
    public func value(forKey key: String) -> Any? { KeyPathWalk.value(of: self, at: key) }

    /// What a path leads to from the members; `@avg.age` and its like are computed.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyPathWalk.value(of: self, at: keyPath)
    }
}

extension NSMutableDictionary {
    /// Sets the value of a key; nil removes it. What handlers of batch insertions write.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let value else { return removeObject(forKey: key as NSString) }
        setObject(value, forKey: key as NSString)
    }
}
