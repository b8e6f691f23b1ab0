internal import ObjectModel
internal import Stores

// The other ends of links, where one object alone goes back to what is stored.
extension NSManagedObject {
    /// Takes the changes of the object's links back at both ends, and gives others the links back
    /// that a deletion of the object took from them.
    ///
    /// What somebody else holds by now stays where it is.
    final func restoreEnds() {
        guard !isFault, let former = snapshot else { return }
        let isBack = isDeleted
        for slot in toOnes.indices where isBack || toOnes[slot] !== former.toOnes[slot] {
            restoreEnd(slot, as: former)
        }
        for (slot, relationship) in shape.layout.toManys.enumerated() {
            guard let inverse = relationship.inverseRelationship else { continue }
            let members = toManys[slot]
            for member in members.added { related(member.id)?.unlink(self, from: inverse.name) }
            let missing = isBack ? members.removed.union(members.all) : members.removed
            for member in missing.subtracting(members.added) {
                related(member.id)?.relink(self, into: inverse.name)
            }
        }
    }

    /// The same for one to-one.
    final func restoreEnd(_ slot: Int, as former: ObjectSnapshot) {
        guard let inverse = shape.layout.toOnes[slot].inverseRelationship else { return }
        let (now, old) = (toOnes[slot], former.toOnes[slot])
        if let now, now !== old { related(now)?.unlink(self, from: inverse.name) }
        if let old { related(old)?.relink(self, into: inverse.name) }
    }

    /// Lets those that the object led to, or leads to now by what the store says, read anew what
    /// they say of it. What they changed stays. One-to-ones of `others` are read by the caller.
    final func letEndsFollow(
        from former: [NSManagedObjectID?], but others: Set<Reference> = []
    ) {
        guard let context, !isFault, former.count == toOnes.count else { return }
        for (slot, relationship) in shape.layout.toOnes.enumerated()
        where former[slot] !== toOnes[slot] {
            guard let inverse = relationship.inverseRelationship else { continue }
            for id in [former[slot], toOnes[slot]] {
                guard let other = id.flatMap(context.registry.object), !other.isFault,
                    !other.isInserted, !other.isDeleted
                else { continue }
                if case .toMany(let members) = other.shape.slot(inverse.name) {
                    other.observing { other.toManys[members].unload() }
                    context.pending.note(.refreshedNow, of: other)
                } else if !other.hasChanges, !others.contains(other.reference) {
                    context.refresh(other, mergeChanges: true)
                }
            }
        }
    }

    /// Leads back to `object`, as the store has it.
    private func relink(_ object: NSManagedObject, into name: String) {
        if isFault { fire() }
        guard !isFault, !isDeleted else { return }
        switch shape.slot(name) {
        case .toOne(let slot):
            guard toOnes[slot] == nil, snapshot?.toOnes[slot] === object.identity else { return }
            willChangeValue(forKey: name)
            toOnes[slot] = object.objectID
            didChangeValue(forKey: name)
        case .toMany(let slot):
            guard toManys[slot].removed.contains(object.reference) else { return }
            willChangeValue(forKey: name)
            toManys[slot].putBack(object.reference)
            didChangeValue(forKey: name)
        case .attribute, .composite, .transient, .fetched, nil: break
        }
    }
}
