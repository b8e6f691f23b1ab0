internal import ObjectModel
internal import Stores

// Deletions that met a changed row: what they took along comes back with them, or follows them.
extension NSManagedObject {
    /// The stored objects that this one's deletion alone took along, by its cascades and by those
    /// of what they deleted. Empty where this one is not deleted.
    ///
    /// What was deleted by itself too stays out, and so does what another deleted object's cascade
    /// leads to.
    final func cascaded() -> [NSManagedObject] {
        guard isDeleted, let context else { return [] }
        var found: [NSManagedObject] = []
        var known: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var rest = [self]
        while let next = rest.popLast() {
            for end in next.ends(by: .cascadeDeleteRule)
            where end.isDeleted && !end.isInserted && end.state.contains(.cascaded)
                && known.insert(ObjectIdentifier(end)).inserted
            {
                found.append(end)
                rest.append(end)
            }
        }
        // Those that something else's deletion takes along stay deleted, with all below them.
        var isLooking = !found.isEmpty
        while isLooking {
            var held: Set<ObjectIdentifier> = []
            for other in context.pending.objects
            where other.isDeleted && !known.contains(ObjectIdentifier(other)) {
                held.formUnion(other.ends(by: .cascadeDeleteRule).map(ObjectIdentifier.init))
            }
            let staying = found.filter { held.contains(ObjectIdentifier($0)) }
            found.removeAll { held.contains(ObjectIdentifier($0)) }
            known.subtract(staying.map(ObjectIdentifier.init))
            isLooking = !staying.isEmpty
        }
        return found
    }

    /// The objects at the ends of all relationships with a delete rule.
    private func ends(by rule: NSDeleteRule) -> [NSManagedObject] {
        let layout = shape.layout
        let ones = layout.toOnes.indices.filter { layout.toOnes[$0].deleteRule == rule }
            .compactMap { toOnes.isEmpty ? nil : toOnes[$0] }
        let manys = layout.toManys.indices.filter { layout.toManys[$0].deleteRule == rule }
            .flatMap { toManys[$0].all.map(\.id) }
        return (ones + manys).compactMap(related)
    }

    /// Shows what is stored: `stored`, or what it was read with. Others get their links back.
    final func goBack(to stored: ObjectSnapshot?) {
        restoreEnds()
        state.subtract([.updated, .deleted])
        if let stored { snapshot = stored }
        revert()
        guard stored == nil else { return }
        context?.pending.note(.refreshedNow, of: self)
        awake(fromSnapshotEvents: .mergePolicy)
    }

    /// Has the rules of a deletion applied once more, to what the object's row leads to by now.
    final func followRow() {
        guard isDeleted, let context else { return }
        if !isFault, let stored = snapshot?.toOnes {
            for (slot, relationship) in shape.layout.toOnes.enumerated()
            where toOnes[slot] !== stored[slot]
                && ![.denyDeleteRule, .noActionDeleteRule].contains(relationship.deleteRule)
            {
                follow(stored[slot], at: slot)
            }
        }
        for slot in toManys.indices { toManys[slot].unloadOrder() }
        context.pending.unpropagated.append(self)
    }

    /// Follows one link of the row that this object has not.
    ///
    /// Where the cascade that deleted it took the link away, the rules see it again. Else the
    /// program changed it before it deleted the object, and its rules see what it made of it: whom
    /// the row leads to by now only lets go.
    private func follow(_ stored: NSManagedObjectID?, at slot: Int) {
        let inverse = shape.layout.toOnes[slot].inverseRelationship
        if toOnes[slot] == nil, state.contains(.cascaded),
            inverse?.deleteRule == .cascadeDeleteRule
        {
            observing { toOnes[slot] = stored }
        } else if let inverse, !inverse.isToMany, let other = stored.flatMap(related),
            !other.isDeleted
        {
            other.meetRow(of: self, by: inverse.name)
            other.unlink(self, from: inverse.name)
        }
    }

    /// Reads the row anew where a stored link of `object` leads here that this object does not know
    /// of: it was read before the link was made. What has changes meets its row in the save.
    final func meetRow(of object: NSManagedObject, by name: String) {
        if isFault { fire() }
        guard let context, !isFault, !isInserted, case .toOne(let slot) = shape.slot(name),
            toOnes[slot] !== object.identity, toOnes[slot] === snapshot?.toOnes[slot],
            !hasChanges || changedSlots().isEmpty
        else { return }
        context.refresh(self, mergeChanges: true)
    }

    /// Lets go of those whose deletion goes on, by the rules of their deletion: a row that a
    /// policy took from the store may lead to them. Returns whether there were any.
    fileprivate final func letGoOfDeleted() -> Bool {
        guard !isFault, !isDeleted, let context else { return false }
        var isTouched = false
        for (slot, relationship) in shape.layout.toOnes.enumerated() {
            guard let inverse = relationship.inverseRelationship,
                let target = toOnes[slot].flatMap(context.registry.object), target.isDeleted,
                ![.denyDeleteRule, .noActionDeleteRule].contains(inverse.deleteRule)
            else { continue }
            unlink(target, from: relationship.name)
            isTouched = true
        }
        return isTouched
    }
}

extension NSManagedObjectContext {
    /// Lets the rules of deletions follow rows that their objects were shown meanwhile. The program
    /// did not do it, so it cannot be undone.
    final func letMovedDeletionsFollow() {
        guard !pending.moved.isEmpty else { return }
        let moved = pending.moved
        pending.moved = []
        for object in moved where object.context === self { object.followRow() }
        propagateDeletions()
        postEvent(isUndoable: false)
    }

    /// Applies delete rules anew where a policy decided: a deletion that goes on takes what came to
    /// its object in the store meanwhile, and a row that stays leads to nothing that goes.
    ///
    /// Throws what validation throws of an object that loses a link it must have, and of a
    /// deletion that a deny rule forbids by now.
    final func letRulesFollow(_ objects: [NSManagedObject]) throws {
        let deleted = objects.filter { $0.isDeleted && $0.context === self }
        for object in deleted { object.followRow() }
        propagateDeletions()
        for object in deleted { try object.validateForDelete() }
        for object in objects where object.letGoOfDeleted() { try object.validateForUpdate() }
        let losers = objects.flatMap { $0.letGoOfRivals(isSaving: true) }
        for loser in losers { try loser.validateForUpdate() }
    }
}
