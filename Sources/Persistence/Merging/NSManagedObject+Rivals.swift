internal import ObjectModel
internal import Stores

// One-to-ones that were changed here and in the store: both rows have a column, and must agree.
extension NSManagedObject {
    /// Lets go of whom the store linked to this object or to its partner meanwhile, where a change
    /// of this context stands: as if it had been made upon what is stored now. Called once the
    /// object shows its row below its changes. Returns those that lost a link.
    ///
    /// A rival with changes of its own is read anew only by a save, after its own conflict was
    /// decided: read earlier, that would pass unseen.
    final func letGoOfRivals(isSaving: Bool = false) -> [NSManagedObject] {
        guard !isFault, !isDeleted, let context, let stored = snapshot else { return [] }
        var losers: [NSManagedObject] = []
        for (slot, relationship) in shape.layout.toOnes.enumerated() {
            guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
                continue
            }
            let (own, other) = (toOnes[slot], stored.toOnes[slot])
            if own !== other {
                guard let rival = other.flatMap(related), rival !== self, !rival.isDeleted else {
                    continue
                }
                if isSaving || !rival.hasChanges { context.refresh(rival, mergeChanges: true) }
                rival.unlink(self, from: inverse.name)
                losers.append(rival)
            } else if let partner = own.flatMap(context.registry.object), partner !== self,
                partner.leadsElsewhere(from: self, by: inverse.name)
            {
                unlink(partner, from: relationship.name)
                losers.append(self)
            }
        }
        return losers
    }

    /// Takes the one-to-ones of a row that were not changed here: their other ends have columns,
    /// too, which an overwritten row does not write. And so with links to what is gone.
    final func takeUnchangedPartners(of stored: ObjectSnapshot) {
        guard !isFault, let former = snapshot else { return }
        for (slot, relationship) in shape.layout.toOnes.enumerated()
        where toOnes[slot] === former.toOnes[slot] {
            guard relationship.inverseRelationship?.isToMany != false else {
                toOnes[slot] = stored.toOnes[slot]
                continue
            }
            guard let own = toOnes[slot], own !== stored.toOnes[slot], isGone(own) else {
                continue
            }
            toOnes[slot] = stored.toOnes[slot]
        }
    }

    /// Whether the store says that a row is not there.
    private func isGone(_ id: NSManagedObjectID) -> Bool {
        guard let context, !id.isTemporaryID else { return false }
        let other = context.object(with: id)
        guard !other.isInserted else { return false }
        do {
            return try context.storedSnapshot(of: other) == nil
        } catch {
            // What cannot be read is not gone; the save meets the same failure.
            return false
        }
    }

    /// Whether a to-one was changed here, to lead to somebody else or to nobody.
    private func leadsElsewhere(from object: NSManagedObject, by name: String) -> Bool {
        guard !isFault, !isDeleted, hasChanges, let snapshot,
            case .toOne(let slot) = shape.slot(name)
        else { return false }
        return toOnes[slot] !== snapshot.toOnes[slot] && toOnes[slot] !== object.identity
    }
}
