internal import Foundation
internal import ObjectModel
internal import Stores

// Undo and redo.
extension NSManagedObjectContext {
    /// What `undoManager` is.
    final var recordingManager: UndoManager? {
        get { settings.undo?.manager }
        set {
            guard settings.undo?.manager !== newValue else { return }
            settings.undo = newValue.map { ContextUndo($0, of: self) }
        }
    }

    /// Takes an event back; the end of the event that this is registers the way forth again.
    final func takeBack(_ step: UndoStep) {
        let (returned, kept) = (
            step.deleted.filter { !owns($0) },
            step.deleted.filter { owns($0) && !$0.isDeleted }
        )
        for object in step.deleted { revive(object) }
        revealMembers()
        noteGone(in: step)
        for (object, change) in step.changes where owns(object) { object.takeBack(change) }
        letEndsAgree(of: returned, or: kept, beside: step.changes.map(\.object))
        for object in step.inserted where owns(object) { withdraw(object) }
        for (object, _) in step.changes where object.isAsStored { object.state.remove(.updated) }
        revealMembers()
        postEvent()
    }

    /// Looks which of the objects that the event led away from somebody else deleted since: the end
    /// of this event takes them out again.
    private func noteGone(in step: UndoStep) {
        var ids: Set<Reference> = []
        for (_, change) in step.changes {
            for (_, old) in change.toOnes { if let old { ids.insert(Reference(old)) } }
            for (_, members) in change.toManys { ids.formUnion(members.removed) }
        }
        let doubtful = ids.map(\.id).filter { id in
            guard !id.isTemporaryID else { return false }
            guard let known = registry.object(id) else { return true }
            guard !known.isInserted else { return false }
            return known.isFault || known.state.contains(.inaccessible)
        }
        // Where they cannot be read, the next save finds out.
        guard !doubtful.isEmpty, let found = try? source?.snapshots(of: doubtful) else { return }
        let there = Set(found.map { Reference($0.id) })
        pending.gone += doubtful.filter { !there.contains(Reference($0)) }
    }

    /// Takes a deletion back, also one that was saved.
    final func revive(_ object: NSManagedObject) {
        if owns(object) {
            guard object.isDeleted else { return }
            object.state.remove(.deleted)
            pending.unpropagated.removeAll { $0 === object }
            showRowIfOutdated(object)
        } else {
            guard object.shelf == nil else { return }
            object.becomeNew()
            object.state.insert(.returned)
            registry.register(object)
            settings.retained?.append(object)
        }
        pending.list(object)
        pending.note(.insertedNow, of: object)
        scheduleProcessing()
        object.awake(fromSnapshotEvents: .undoDeletion)
    }

    /// Lets an object whose deletion is taken back show what others saved of it meanwhile, below
    /// its own changes: merges left it as it was.
    private func showRowIfOutdated(_ object: NSManagedObject) {
        guard object.state.contains(.outdated) else { return }
        object.state.remove(.outdated)
        guard !object.isInserted, !object.state.contains(.inaccessible) else { return }
        do {
            readAhead.forget(object.objectID)
            if let found = try storedSnapshot(of: object) { object.show(stored: found) }
        } catch {
            // What it shows is old: the next save must not take it for what is stored.
            pending.failure = error
        }
    }

    /// Takes an insertion back. Others lose their links to the object; nothing is deleted with it.
    private func withdraw(_ object: NSManagedObject) {
        guard !object.isDeleted else { return }
        meetOwnRow(of: object)
        object.fire()
        let layout = object.shape.layout
        for (slot, relationship) in layout.toOnes.enumerated() {
            guard let inverse = relationship.inverseRelationship else { continue }
            object.toOnes[slot].map { self.object(with: $0) }?.unlink(object, from: inverse.name)
        }
        for (slot, relationship) in layout.toManys.enumerated() {
            object.load(slot)
            guard let inverse = relationship.inverseRelationship else { continue }
            for member in object.toManys[slot].all {
                self.object(with: member.id).unlink(object, from: inverse.name)
            }
        }
        if !object.isInserted { object.leaveDenied() }
        object.state.insert(.deleted)
        pending.list(object)
        pending.note(.deletedNow, of: object)
        scheduleProcessing()
        object.awake(fromSnapshotEvents: .undoInsertion)
    }
}

extension NSManagedObject {
    /// Takes changes of one event back, each with its notices.
    fileprivate final func takeBack(_ change: ObjectChange) {
        if isFault { fire() }
        if isFault { return postpone { $0.takeBack(change) } }
        let layout = shape.layout
        for (slot, old, number) in change.attributes {
            // What others counted since is no part of what is taken back.
            let counted = number.flatMap {
                count(slot, own: old, former: $0, found: attributes[slot])
            }
            changing(layout.attributes[slot].name) {
                attributes[slot] = counted ?? old
                extras?.transformed[slot] = nil
                extras?.misfits[layout.attributes[slot].name] = nil
            }
        }
        for (slot, old) in change.toOnes {
            changing(layout.toOnes[slot].name) { toOnes[slot] = old }
        }
        for (slot, members) in change.toManys {
            // Before the change is noted, so that the way forth has the order, too.
            if members.order != nil { load(slot) }
            var members = members
            if !toManys[slot].isLoaded {
                // A new one has left already with its insertion.
                let added = toManys[slot].added
                members.added = members.added.filter { !isUnstored($0) || added.contains($0) }
            }
            changing(layout.toManys[slot].name) { toManys[slot].takeBack(members) }
        }
        for (key, old) in change.transients {
            changing(key) { withExtras { $0.transients[key] = old } }
        }
        awake(fromSnapshotEvents: .undoUpdate)
    }

    /// Lets go of what a deny rule would hold the object back for. Doing it again brings it back.
    fileprivate final func leaveDenied() {
        for (slot, relationship) in shape.layout.toOnes.enumerated()
        where relationship.deleteRule == .denyDeleteRule && toOnes[slot] != nil {
            changing(relationship.name) { toOnes[slot] = nil }
        }
        for (slot, relationship) in shape.layout.toManys.enumerated()
        where relationship.deleteRule == .denyDeleteRule && toManys[slot].count > 0 {
            let members = toManys[slot].all
            changing(relationship.name) { for member in members { toManys[slot].remove(member) } }
        }
    }

    private func changing(_ key: String, _ work: () -> Void) {
        willChangeValue(forKey: key)
        work()
        didChangeValue(forKey: key)
    }

    /// Whether nothing of a changed object differs from what is stored.
    fileprivate final var isAsStored: Bool {
        state.isDisjoint(with: [.inserted, .deleted, .fault]) && extras?.misfits.isEmpty != false
            && changedSlots().isEmpty
    }
}
