internal import Foundation
public import ObjectModel
public import Predicates
internal import Stores

// What predicates and sort descriptors read.
extension NSManagedObject: KeyValueReading, IdentityReading {
    /// An object is equal to its ID, and to the same object in another context.
    public final var predicateIdentity: AnyHashable { AnyHashable(ObjectIdentifier(objectID)) }

    /// What `value(forKey:)` returns. Throws where that would end the program for want of a
    /// property, so that a predicate made of a user's text cannot.
    public final func predicateValue(forKey key: String) throws -> Any? {
        if UndefinedKeys.current != nil || shape.slot(key) != nil { return value(forKey: key) }
        return try UndefinedKeys.throwing { value(forKey: key) }
    }
}

extension NSManagedObjectID: IdentityReading {
    public var predicateIdentity: AnyHashable { AnyHashable(ObjectIdentifier(self)) }
}

extension NSManagedObject: PlaceReading {
    /// Its ID's.
    public final var sortPlace: [Int64] { objectID.sortPlace }
}

extension NSManagedObjectID: PlaceReading {
    /// Stored rows by their stores, then by their keys; behind them new objects, as they were made.
    public var sortPlace: [Int64] {
        guard let store = persistentStore, let row = rowID else { return [1, order] }
        let stores = store.persistentStoreCoordinator?.persistentStores ?? []
        return [0, Int64(stores.firstIndex { $0 === store } ?? 0), row.key]
    }
}

extension NSEntityDescription: IdentityReading {
    /// Entities of one name are equal, also of two copies of a model, as they are to stores.
    public var predicateIdentity: AnyHashable { AnyHashable(name) }
}

/// Collects keys that no property has while a predicate is evaluated, so that the fetch throws
/// instead of the object trapping.
final class UndefinedKeys: @unchecked Sendable {
    // @unchecked: made, filled and read by one call on one thread.
    private var message: String?

    @TaskLocal static var current: UndefinedKeys?

    func note(_ message: String) { self.message = self.message ?? message }

    /// Runs `work`; throws when it read an undefined key.
    static func throwing<Value>(_ work: () throws -> Value) throws -> Value {
        let keys = UndefinedKeys()
        let value: Value
        do {
            value = try $current.withValue(keys) { try work() }
        } catch let error as EvaluationError {
            // As a store says it that cannot evaluate a predicate or sort by a key.
            throw PersistenceErrors.unsupported(error.message)
        }
        if let message = keys.message { throw PersistenceErrors.make(NSCoreDataError, message) }
        return value
    }
}
