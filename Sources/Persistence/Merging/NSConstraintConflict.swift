public import Foundation
internal import ObjectModel
internal import Stores

/// Objects with the same unique values. Source: Apple, NSConstraintConflict. Queue: that of the
/// saving context.
open class NSConstraintConflict: NSObject {
    /// The names of the attributes that are unique together.
    public final let constraint: [String]
    /// The object that has the values in the store; nil where all are in the context.
    public final let databaseObject: NSManagedObject?
    /// The values of the stored row that holds the unique values; nil where both are of the same
    /// save.
    public final let databaseSnapshot: [String: Any]?
    /// The objects that want the values.
    public final let conflictingObjects: [NSManagedObject]
    /// As given to the initializer. Saves leave it empty, where Apple's have the objects' last read
    /// values.
    public final let conflictingSnapshots: [[AnyHashable: Any]]

    /// For merge policies' tests; saves make them by themselves.
    public init(
        constraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) {
        self.constraint = constraint
        self.databaseObject = databaseObject
        self.databaseSnapshot = databaseSnapshot as? [String: Any]
        self.conflictingObjects = conflictingObjects
        self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
    }

    /// A conflict of nothing, which no save reports. Apple's class inherits it.
    public convenience override init() {
        self.init(
            constraint: [], database: nil, databaseSnapshot: nil, conflicting: [],
            conflictingSnapshots: [])
    }

    /// The unique values, by property name.
    public final var constraintValues: [String: Any] {
        guard let object = databaseObject ?? conflictingObjects.first else { return [:] }
        return constraint.reduce(into: [:]) { $0[$1] = object.value(forKey: $1) ?? NSNull() }
    }

    /// Makes one object of those that conflict.
    ///
    /// A new object gives its values and links to the stored one under object-trump and overwrite,
    /// its links under store-trump, and nothing under rollback; then it is deleted. A changed
    /// stored object takes the place of the other under object-trump and overwrite, with the links
    /// of both and the other's values where it has none; under store-trump it takes its former
    /// unique values back, under rollback all of them.
    final func resolve(_ type: NSMergePolicyType) {
        let objects = conflictingObjects.filter { !$0.isDeleted }
        guard var keeper = databaseObject ?? objects.first(where: holdsStored) ?? objects.first
        else { return }
        let objectWins =
            type == .overwriteMergePolicyType || type == .mergeByPropertyObjectTrumpMergePolicyType
        for object in objects where object !== keeper {
            if object.isInserted {
                if objectWins { keeper.takeValues(of: object) }
                if type != .rollbackMergePolicyType {
                    keeper.takeLinks(of: object, replacing: objectWins)
                }
                object.context?.delete(object)
            } else if objectWins {
                object.takeMissing(of: keeper)
                keeper.context?.delete(keeper)
                keeper = object
            } else if type == .rollbackMergePolicyType {
                object.restoreEnds()
                object.observing { object.revert() }
            } else {
                for name in constraint { object.takeBack(name) }
            }
        }
    }

    /// Whether an object has the values since it was saved, and another change now.
    private func holdsStored(_ object: NSManagedObject) -> Bool {
        let changed = object.changedValues()
        return !object.isInserted && constraint.allSatisfy { changed[$0] == nil }
    }
}

extension NSManagedObject {
    /// Takes the attributes the other object has a value for, as far as this one's entity has them.
    final func takeValues(of other: NSManagedObject) {
        for (slot, place) in other.shape.layout.attributes.enumerated()
        where !other.attributes[slot].isNull && shape.slot(place.name) != nil {
            setValue(other.value(forKey: place.name), forKey: place.name)
        }
    }

    /// Takes the place of the other object: its links, and its values where this one has none.
    final func takeMissing(of other: NSManagedObject) {
        for (slot, place) in other.shape.layout.attributes.enumerated()
        where !other.attributes[slot].isNull {
            guard case .attribute(let own) = shape.slot(place.name), attributes[own].isNull,
                !isChanged(attribute: own)
            else { continue }
            setValue(other.value(forKey: place.name), forKey: place.name)
        }
        takeLinks(of: other, replacing: false)
    }

    /// Takes the value of a property back that was last read or saved.
    fileprivate final func takeBack(_ name: String) {
        guard let snapshot else { return }
        switch shape.slot(name) {
        case .attribute(let slot) where isChanged(attribute: slot):
            willChangeValue(forKey: name)
            attributes[slot] = snapshot.attributes[slot]
            didChangeValue(forKey: name)
        case .toOne(let slot) where toOnes[slot] !== snapshot.toOnes[slot]:
            setValue(snapshot.toOnes[slot].flatMap(related), forKey: name)
        default: break
        }
    }

    /// Takes the other object's links; to-one links that are set already only where `replacing`.
    final func takeLinks(of other: NSManagedObject, replacing: Bool) {
        for (slot, relationship) in other.shape.layout.toOnes.enumerated()
        where shape.slot(relationship.name) != nil {
            guard let target = other.toOnes[slot].flatMap(other.related) else { continue }
            guard replacing || value(forKey: relationship.name) == nil else { continue }
            setValue(target, forKey: relationship.name)
        }
        for (slot, relationship) in other.shape.layout.toManys.enumerated()
        where shape.slot(relationship.name) != nil {
            if !other.isInserted { other.load(slot) }
            for member in other.toManys[slot].all.compactMap({ other.related($0.id) }) {
                addObject(member, toRelationshipNamed: relationship.name)
            }
        }
    }
}
