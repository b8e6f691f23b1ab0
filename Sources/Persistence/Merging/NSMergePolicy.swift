public import Foundation

/// The five ways to resolve a save's conflicts. Raw values are Apple's.
public enum NSMergePolicyType: UInt, Sendable {
    /// Throw, and let the program decide.
    case errorMergePolicyType = 0
    /// Property by property; where both changed, the store's value stays.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Property by property; where both changed, the object's value is written.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The whole object is written as it is.
    case overwriteMergePolicyType = 3
    /// The whole object takes the store's values.
    case rollbackMergePolicyType = 4
}

/// Decides what a save does where the store has changed meanwhile. Source: Apple, NSMergePolicy.
///
/// A subclass may change the objects of the conflicts and return; what it leaves as it is counts as
/// decided. A row that was deleted meanwhile stays deleted with store-trump and rollback, and is
/// written again with object-trump and overwrite. Queue: that of the saving context, where it is
/// asked between two attempts of the save.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // @unchecked: the type never changes.
    /// What it does where a subclass does nothing else.
    public final let mergeType: NSMergePolicyType

    /// A policy of one of the five kinds; one object may serve all contexts.
    public init(merge type: NSMergePolicyType) { mergeType = type }

    /// Fails the save with 133020 or 133021. A context's policy until another is set.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// Property by property; where both sides changed one, the store's value stays.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(
        merge: .mergeByPropertyStoreTrumpMergePolicyType)
    /// Property by property; where both sides changed one, the object's value is saved.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(
        merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// Saves all of the object's values, whatever the store has; but one-to-one links that were not
    /// changed here stay as the store has them, since their other ends are rows, too.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// Drops the object's changes and takes the store's values.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)

    /// Settles conflicts of either kind. Throws 133020 and 133021 where it cannot; the save throws
    /// that, too. Cost: O(properties of the objects), in memory.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? NSMergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Settles conflicts with rows that somebody else changed. Throws 133020 under the error
    /// policy. Cost: as `resolve(mergeConflicts:)`.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        guard mergeType != .errorMergePolicyType else {
            throw PersistenceErrors.make(
                NSManagedObjectMergeError,
                "Somebody else changed objects of this save; refresh them, or set a merge policy.",
                [NSPersistentStoreSaveConflictsErrorKey: list])
        }
        for conflict in list { conflict.resolve(mergeType) }
    }

    /// Settles conflicts of unique values. Only the first to save keeps a value under the error
    /// policy. Throws 133021 there. Cost: as `resolve(mergeConflicts:)`.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        guard mergeType != .errorMergePolicyType else {
            throw PersistenceErrors.make(
                NSManagedObjectConstraintMergeError,
                "An object with the same unique values exists; change them, or set a merge policy.",
                [NSPersistentStoreSaveConflictsErrorKey: list])
        }
        for conflict in list { conflict.resolve(mergeType) }
    }
}

/// The policy that throws.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// The policy by property, in the store's favour.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject {
    NSMergePolicy.mergeByPropertyStoreTrump
}
/// The policy by property, in the object's favour.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject {
    NSMergePolicy.mergeByPropertyObjectTrump
}
/// The policy that writes whole objects.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// The policy that drops the object's changes.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }
