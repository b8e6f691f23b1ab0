internal import ObjectModel
internal import Stores

/// Gives objects that a merge policy writes anew, since somebody else deleted their rows, the links
/// that went with the rows.
///
/// The deletion took them out of the relationships of others, in the store: each other end is
/// written again, unless it is gone or somebody else took it meanwhile.
struct ReturningObjects {
    let context: NSManagedObjectContext
    let objects: [NSManagedObject]

    /// Reads the rows at the other ends. Throws what the stores throw.
    func takeBackLinks() throws {
        for object in objects { object.unpack() }
        findUnreadMembers()
        for object in objects {
            for slot in object.toManys.indices { object.toManys[slot].becomeNew() }
        }
        for object in objects {
            try takeBackTargets(of: object)
            try takeBackMembers(of: object)
        }
    }

    /// Nothing tells the members of a to-many that was not read before the row went, but objects of
    /// this context that led to it, as they were read. What nobody here had read is lost.
    ///
    /// Cost: one look at each object of the context, where a relationship was not read.
    private func findUnreadMembers() {
        var isWanted = false
        for object in objects {
            for (slot, relationship) in object.shape.layout.toManys.enumerated()
            where relationship.inverseRelationship != nil && !object.toManys[slot].isLoaded {
                isWanted = true
            }
        }
        guard isWanted else { return }
        for other in context.registry.objects where !other.isDeleted {
            for object in objects where object !== other { other.joinUnread(of: object) }
        }
    }

    private func takeBackTargets(of object: NSManagedObject) throws {
        for (slot, relationship) in object.shape.layout.toOnes.enumerated() {
            guard let id = object.toOnes[slot] else { continue }
            guard try lets(id, take: object, into: relationship.inverseRelationship) else {
                object.observing { object.toOnes[slot] = nil }
                continue
            }
        }
    }

    private func takeBackMembers(of object: NSManagedObject) throws {
        for (slot, relationship) in object.shape.layout.toManys.enumerated() {
            for member in object.toManys[slot].all {
                guard try lets(member.id, take: object, into: relationship.inverseRelationship)
                else {
                    object.observing { object.toManys[slot].forget(member) }
                    continue
                }
            }
        }
    }

    /// Whether the object of `id` is there, and leads back to `object` now.
    private func lets(
        _ id: NSManagedObjectID, take object: NSManagedObject,
        into inverse: NSRelationshipDescription?
    ) throws -> Bool {
        let other = context.object(with: id)
        guard !other.isDeleted else { return false }
        // New, or coming back itself: its own links are looked at in their turn.
        guard !other.isInserted else { return true }
        guard let stored = try context.storedSnapshot(of: other) else { return false }
        guard let inverse else { return true }
        let isPresent = other.showsPresent(stored)
        switch other.shape.slot(inverse.name) {
        case .toOne(let slot):
            let own = other.toOnes[slot]
            // A link that was made here is written anyway.
            guard own === other.snapshot?.toOnes[slot] else { return own === object.identity }
            guard stored.toOnes[slot] == nil, isPresent || own === object.identity else {
                return false
            }
            // As the store has it, so that the link counts as a change.
            other.snapshot?.toOnes[slot] = nil
            other.observing { other.toOnes[slot] = object.objectID }
        case .toMany(let slot): other.toManys[slot].restore(object.reference)
        case .attribute, .composite, .transient, .fetched, nil: return true
        }
        context.noteUpdate(of: other)
        return true
    }
}

extension NSManagedObject {
    /// Becomes a member of the relationships of `object` that were not read, where it led to it.
    fileprivate final func joinUnread(of object: NSManagedObject) {
        for (slot, relationship) in object.shape.layout.toManys.enumerated()
        where !object.toManys[slot].isLoaded {
            guard let inverse = relationship.inverseRelationship,
                entity.isKindOf(entity: inverse.entity), led(to: object, by: inverse.name),
                object.toManys[slot].mayAdd(reference)
            else { continue }
            object.observing { object.toManys[slot].add(reference) }
        }
    }

    /// Whether this object leads to another one, as it was read and as it is.
    private final func led(to object: NSManagedObject, by name: String) -> Bool {
        switch shape.slot(name) {
        case .toOne(let slot):
            guard isFault else {
                return toOnes[slot] === object.identity
            }
            if let target = packed?.target(slot) {
                return target == object.identity?.rowID
                    && identity?.persistentStore === object.identity?.persistentStore
            }
            return snapshot.map { $0.toOnes[slot] === object.identity } ?? false
        case .toMany(let slot): return toManys[slot].contains(object.reference) ?? false
        case .attribute, .composite, .transient, .fetched, nil: return false
        }
    }

    /// Shows a row as it is now; an object that is changed keeps what it has, and meets its row
    /// when it is saved. Returns whether it shows the row, but for its own changes.
    fileprivate final func showsPresent(_ stored: ObjectSnapshot) -> Bool {
        guard !isFault else {
            snapshot = stored
            fire()
            return true
        }
        guard !hasChanges else { return storedVersion == stored.version }
        observing { rebase(onto: stored) }
        return true
    }
}
