// The words of key-value observing that Foundation lacks off Apple's platforms. Raw values are
// Apple's.

/// What an observer is told, and when.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The value after the change.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// A first call at once, before `observe` returns.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// A call before each change, too.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// The kind of a change.
public enum NSKeyValueChange: UInt, Sendable {
    /// The value was set.
    case setting = 1
    /// Members were added to an ordered relationship.
    case insertion = 2
    /// Members were removed from an ordered relationship.
    case removal = 3
    /// Members of an ordered relationship were replaced.
    case replacement = 4
}

/// How the members of a set change.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members enter.
    case union = 1
    /// Members leave.
    case minus = 2
    /// Members that are not in the given set leave.
    case intersect = 3
    /// The given set takes the place of the members.
    case set = 4
}

/// One change of an observed property. Changes of relationships are always told as `.setting`.
public struct NSKeyValueObservedChange<Value> {
    /// The kind of the change.
    public let kind: NSKeyValueChange
    /// The value now, where `.new` was asked for.
    public let newValue: Value?
    /// The value before, where `.old` was asked for.
    public let oldValue: Value?
    /// Whether the change is still to come; for `.prior`.
    public let isPrior: Bool
}
