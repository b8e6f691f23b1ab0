internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// A to-one relationship's new target in a batch update.
struct BatchLink {
    let name: String
    private let target: NSManagedObjectID?

    /// Nil for another property than a to-one. Throws 134091 for a relationship whose other end
    /// would have to change too, 1550 for a value that is no object of the destination.
    init?(_ key: Any, _ value: Any, of shape: ObjectLayout) throws {
        let name = (key as? NSPropertyDescription)?.name ?? key as? String ?? "\(key)"
        guard case .toOne(let slot) = shape.slot(name) else { return nil }
        let relationship = shape.layout.toOnes[slot]
        if let inverse = relationship.inverseRelationship, !inverse.isToMany || inverse.isOrdered {
            throw PersistenceErrors.unsupported(
                "Invalid relationship (\(name)) passed to propertiesToUpdate: (its inverse "
                    + "\(inverse.name) would have to change too)")
        }
        self.name = name
        target = try Self.target(value, of: relationship)
    }

    private static func target(
        _ value: Any, of relationship: NSRelationshipDescription
    ) throws -> NSManagedObjectID? {
        var value: Any? = value
        if let expression = value as? Predicates.NSExpression,
            case .constant(let held) = expression.node.normalized
        {
            value = held
        }
        if value == nil || value is NSNull { return nil }
        let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID
        guard let id, !id.isTemporaryID,
            relationship.destinationEntity.map(id.entity.isKindOf) ?? true
        else {
            throw PersistenceErrors.make(
                NSManagedObjectValidationError,
                "The relationship \"\(relationship.name)\" takes a saved object of its "
                    + "destination, or its ID.", [NSValidationKeyErrorKey: relationship.name])
        }
        return id
    }

    /// The target's row. Throws 134030 where it is in another store.
    func row(in store: NSPersistentStore) throws -> RowID? {
        guard let target else { return nil }
        guard target.persistentStore === store, let row = target.rowID else {
            throw PersistenceErrors.make(
                NSPersistentStoreSaveError,
                "The new target of \"\(name)\" is in another store than the rows to update.")
        }
        return row
    }
}
