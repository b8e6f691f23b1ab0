/// What the build plugin `CoreDataModels` writes for classes with properties of their own, so that
/// `value(forKey:)`, predicates on objects, sort descriptors and sections find them by their names,
/// as the Objective-C runtime does for `@objc` properties on Apple's platforms. A class may conform
/// by hand where no plugin runs.
///
/// Stored properties of the model are never asked of it; transient attributes are. Apple has no
/// such protocol. Queue: the object's context's.
public protocol ComputedKeys {
    /// The value of the property `key`; nil where the class has none of that name.
    func _computedValue(forKey key: String) -> ComputedValue?
}

/// A value that a class computes, which may be nil.
public struct ComputedValue {
    let value: Any?

    /// Holds `value`.
    public init(_ value: Any?) { self.value = value }
}

extension NSManagedObject {
    /// What the class itself says under `key`, with numbers as `NSNumber`.
    final func computedValue(forKey key: String) -> ComputedValue? {
        (self as? any ComputedKeys)?._computedValue(forKey: key)
    }

    /// What the class computes of a transient attribute; nil where it does not, or where the
    /// getter itself asks by key, for what is stored.
    final func computedTransient(forKey key: String) -> ComputedValue? {
        guard !state.contains(.computing) else { return nil }
        state.insert(.computing)
        defer { state.remove(.computing) }
        return computedValue(forKey: key)
    }
}
