/// Anything that answers keys, so that predicates and sort descriptors can look into it.
///
/// Dictionaries, lists and plain values need no conformance.
public protocol KeyValueReading {
    /// Returns the value of the property `key`, nil when it has none. Throws when there is no such
    /// property, best an `EvaluationError` (`.unknownKey`); predicates then report the error.
    func value(forKey key: String) throws -> Any?

    /// The same for predicates: for types whose own `value(forKey:)` ends the program where there
    /// is no such property. Without it, `value(forKey:)` is asked. Throws as `value(forKey:)` does.
    func predicateValue(forKey key: String) throws -> Any?

    /// Whether the value of the key, where it is a list, has an order; without one no member has a
    /// place. True unless a type says otherwise; Foundation's and Swift's sets have none by
    /// themselves.
    func hasOrder(forKey key: String) -> Bool
}

extension KeyValueReading {
    /// Returns what `value(forKey:)` returns, and throws what it throws.
    public func predicateValue(forKey key: String) throws -> Any? { try value(forKey: key) }

    /// Returns true.
    public func hasOrder(forKey key: String) -> Bool { true }
}

/// Anything that is compared by an identity instead of by itself: an object and its id are equal in
/// predicates when both answer the same.
public protocol IdentityReading {
    /// What stands for the value when predicates compare it.
    var predicateIdentity: AnyHashable { get }
}
