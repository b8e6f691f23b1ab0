internal import Foundation

/// How a set of values changes, for `willChangeValue(forKey:withSetMutation:using:)`. Raw values
/// are Apple's; Foundation has it on Apple's platforms only.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    case union = 1
    case minus = 2
    case intersect = 3
    case set = 4
}

extension NSManagedObject {
    /// Announces a change of a to-many relationship's members; see `willChangeValue(forKey:)`.
    public final func willChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        willChangeValue(forKey: inKey)
    }

    /// Ends what `willChangeValue(forKey:withSetMutation:using:)` began.
    public final func didChangeValue(
        forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
        using inObjects: Set<AnyHashable>
    ) {
        didChangeValue(forKey: inKey)
    }
}
