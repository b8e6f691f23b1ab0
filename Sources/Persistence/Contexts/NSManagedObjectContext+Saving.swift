internal import Foundation
internal import ObjectModel
internal import Stores

// Saving.
extension NSManagedObjectContext {
    /// What `save()` does.
    final func saveAll() throws {
        do {
            try save(validating: true)
        } catch {
            throw PersistenceErrors.bridged(error)
        }
    }

    /// `validating` says whether the model's rules are looked at. Throws as `save()` does.
    final func save(validating: Bool) throws {
        if QueueGuard.isOn { checkQueue() }
        guard !isSaving else { throw PersistenceErrors.recursiveSave() }
        takeSortings()
        try readUnread()
        if pending.failure != nil { throw takeFailure() }
        guard hasChanges else {
            forgetUnsaved(pending.takeList())
            return
        }
        isSaving = true
        defer { isSaving = false }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextWillSave, object: self, userInfo: nil)
        let event = try prepareSave(validating: validating)
        if let parent {
            var saved = SavedObjects()
            for object in pending.objects where object.isPending { saved.add(object) }
            try saveToParent(parent)
            endChanges()
            // Only now, since observers may change objects of this context, too.
            parent.queue.run(isReading: true) { parent.processPendingChanges() }
            announce(saved, after: event)
        } else if let coordinator = persistentStoreCoordinator {
            try save(to: coordinator, after: event)
        } else {
            throw PersistenceErrors.noCoordinator
        }
    }

    private func save(
        to coordinator: NSPersistentStoreCoordinator, after event: EventObjects
    ) throws {
        pin?.suspend()
        defer { pin?.advance() }
        try meetOwnRows()
        var save = StoreSave(context: self, coordinator: coordinator)
        do {
            defer { pending.watched = [] }
            try save.run()
        } catch {
            // What another store took before is saved, and told.
            if !save.saved.isEmpty { finishPart(save.saved, after: event) }
            throw error
        }
        finishSave(save.saved, after: event)
    }

    final func validateChanges() throws {
        var errors: [NSError] = []
        for object in pending.objects where object.isPending {
            do {
                if object.isDeleted {
                    try object.validateForDelete()
                } else if object.isInserted {
                    try object.validateForInsert()
                } else if !object.state.contains(.inaccessible) {
                    try object.validateForUpdate()
                } else {
                    // Its values went with its row: what they lack is not what is wrong.
                    throw PersistenceErrors.missingObject(object.objectID)
                }
            } catch {
                // The program's own rules may throw Swift errors.
                let error = PersistenceErrors.bridged(error) as NSError
                let several = error.code == NSValidationMultipleErrorsError
                let details = error.userInfo[NSDetailedErrorsKey] as? [NSError]
                errors += several ? details ?? [error] : [error]
            }
        }
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        throw PersistenceErrors.make(
            NSValidationMultipleErrorsError,
            "The changes break \(errors.count) rules of the model.",
            [NSDetailedErrorsKey: errors])
    }

    private func finishSave(_ saved: SavedObjects, after event: EventObjects) {
        endChanges()
        announce(saved, after: event)
    }

    /// What was changed is saved. From now on changes count for the next save.
    private func endChanges() {
        isSaving = false
        forgetUnsaved(pending.takeList())
        revealMembers()
        pending.hidden = []
    }

    /// A save of which only some stores took their part: the rest stays to be saved.
    private func finishPart(_ saved: SavedObjects, after event: EventObjects) {
        let written = Set(saved.all.joined().map(ObjectIdentifier.init))
        pending.takeObjects { written.contains(ObjectIdentifier($0)) }
        isSaving = false
        announce(saved, after: event)
    }

    private func announce(_ saved: SavedObjects, after event: EventObjects) {
        readAhead.forgetRows()
        // What the merge policy or the store changed meanwhile: nothing that the program did, and
        // that an undo could take back.
        postEvent(isUndoable: false)
        registry.unregister(saved.deleted)
        tell(saved.inserted, .savedAsNew)
        tell(saved.updated, .savedAsChanged)
        tell(saved.deleted, [])
        let ids = saved.ids
        postSaved(saved, ids, after: event)
        keepUntilEventEnds(saved)
        for object in saved.deleted where object.isDeleted {
            object.leaveForgottenContext()
            object.state.remove(.deleted)
        }
        persistentStoreCoordinator?.contextDidSave(self, ids)
        // Last, since observers may change objects again.
        for store in saved.announcing { persistentStoreCoordinator?.postRemoteChange(of: store) }
    }

    /// Calls `didSave`, in which an object tells what the save did with it, until it changes.
    private func tell(_ objects: [NSManagedObject], _ deed: ObjectState) {
        for object in objects {
            if object.state.isDisjoint(with: [.inserted, .deleted]) { object.state.insert(deed) }
            object.didSave()
            object.state.subtract(.told)
        }
    }

    /// Ends the changes of objects that are off the list; those that were made and deleted between
    /// two saves leave.
    private func forgetUnsaved(_ objects: [NSManagedObject]) {
        for object in objects {
            guard object.isInserted && object.isDeleted else {
                object.state.subtract([.inserted, .updated, .listed])
                continue
            }
            letGo(of: object)
        }
    }

    /// Hands the changes to the parent's objects, which then count as changed there.
    private func saveToParent(_ parent: NSManagedObjectContext) throws {
        let changed = pending.changed
        try parent.queue.run(isReading: true) {
            Result {
                let known = try parent.reading { try parent.read(forTaking: changed) }
                defer { withExtendedLifetime(known) {} }
                // The links of what is deleted, too: its delete rules follow them.
                for object in changed { parent.take(object) }
                for object in changed where object.isDeleted {
                    parent.delete(parent.object(with: object.objectID), asIn: object)
                }
            }
        }.get()
        for object in changed where !object.isDeleted { object.commit(version: 0) }
    }

    /// Deletes what a child context deleted, by itself or with another.
    private func delete(_ object: NSManagedObject, asIn child: NSManagedObject) {
        let wasDeleted = object.isDeleted
        delete(object)
        guard !wasDeleted, object.isDeleted, child.state.contains(.cascaded) else { return }
        object.state.insert(.cascaded)
    }

    /// Fills in what a child's changes are laid upon, before any of them is; returns it.
    private func read(forTaking changed: [NSManagedObject]) throws -> [NSManagedObject] {
        var found: [NSManagedObject] = []
        for child in changed {
            guard let own = try known(child) else { continue }
            found.append(own)
            own.fire()
            for slot in child.toManys.indices
            where child.toManys[slot].isOrdered && child.toManys[slot].isChanged {
                own.load(slot)
            }
        }
        return found
    }

    /// What a child's object is here; nil where it is new here, too.
    private func known(_ child: NSManagedObject) throws -> NSManagedObject? {
        let id = child.objectID
        guard child.isInserted, registry.object(id) == nil else { return object(with: id) }
        guard child.state.contains(.returned) else { return nil }
        return try source?.snapshot(of: id).map { materialize(id, $0) }
    }

    /// Takes over what a child context's object says.
    private func take(_ child: NSManagedObject) {
        let own: NSManagedObject
        if child.isInserted && registry.object(child.objectID) == nil {
            own = adoptInserted(child)
        } else {
            own = object(with: child.objectID)
            if own.isFault { own.fire() }
            if child.isInserted { takeReturned(child, as: own) }
        }
        let former = own.toOnes
        own.observing { own.assume(child) }
        own.leaveEnds(former, takenUpBeside: child)
        noteUpdate(of: own)
        // Its rules let go of what the child linked with it, too.
        if own.isDeleted { pending.unpropagated.append(own) }
    }

    private func adoptInserted(_ child: NSManagedObject) -> NSManagedObject {
        let own = type(of: child).init(entity: child.entity, insertInto: nil)
        own.madeID = child.objectID
        own.state = child.state.contains(.returned) ? [.inserted, .returned] : .inserted
        own.attributes = child.attributes
        own.toOnes = child.toOnes
        own.extras?.transients = [:]
        registry.register(own)
        pending.list(own)
        pending.note(.insertedNow, of: own)
        return own
    }

    /// Has an object again that a child saved as deleted, and whose deletion it took back since:
    /// here it is deleted, or no more than what a link led to.
    private func takeReturned(_ child: NSManagedObject, as own: NSManagedObject) {
        if own.state.contains(.inaccessible) {
            let isListed = own.state.contains(.listed)
            pending.unpropagated.removeAll { $0 === own }
            pending.gone.removeAll { $0 === own.objectID }
            own.becomeNew()
            own.state.insert(.returned)
            if isListed { own.state.insert(.listed) }
            pending.list(own)
            pending.note(.insertedNow, of: own)
        } else if own.isDeleted {
            revive(own)
        } else if !child.state.contains(.returned) {
            return
        }
        own.stand(as: child)
    }
}

extension NSManagedObject {
    /// Takes the changed values of the same object in a child context.
    final func assume(_ child: NSManagedObject) {
        noteBase()
        for (name, slot) in child.changedSlots() {
            switch slot {
            case .attribute(let index):
                attributes[index] = attribute(index, of: child)
                extras?.transformed[index] = nil
            case .toOne(let index): toOnes[index] = child.toOnes[index]
            case .toMany(let index):
                for member in child.toManys[index].removed { toManys[index].remove(member) }
                for member in child.toManys[index].addedInOrder { toManys[index].add(member) }
                if child.toManys[index].isOrdered && child.toManys[index].isLoaded {
                    load(index)
                    toManys[index].reorder(child.toManys[index].sequence)
                }
            case .composite, .transient, .fetched: break
            }
            if let slot = shape.slot(name) { changedNow.insert(shape.index(of: slot)) }
        }
        guard let transients = child.extras?.transients, !transients.isEmpty else { return }
        withExtras { $0.transients.merge(transients) { $1 } }
    }

    /// Has nothing that the child's object, which is new there and says all of itself, does not
    /// have.
    fileprivate final func stand(as child: NSManagedObject) {
        observing {
            noteBase()
            for index in attributes.indices where attributes[index] != child.attributes[index] {
                attributes[index] = child.attributes[index]
                extras?.transformed[index] = nil
            }
            toOnes = child.toOnes
            for index in toManys.indices where child.toManys[index].isLoaded {
                load(index)
                let kept = Set(child.toManys[index].all)
                for member in toManys[index].all where !kept.contains(member) {
                    toManys[index].remove(member)
                }
            }
        }
    }

    /// What a child makes of an attribute: its value, or what it added to a counter beside what the
    /// counter has here by now.
    private func attribute(_ index: Int, of child: NSManagedObject) -> AttributeValue {
        let own = child.attributes[index]
        guard !child.isInserted, let former = child.snapshot?.attributes[index] else {
            return own
        }
        return count(index, own: own, former: former, found: attributes[index]) ?? own
    }

    /// Lets those go of the object whom it led to without the child's knowledge: the child, which
    /// moved it on from where it was before, could not take it from them.
    fileprivate final func leaveEnds(
        _ former: [NSManagedObjectID?], takenUpBeside child: NSManagedObject
    ) {
        let known = child.snapshot?.toOnes
        for (slot, relationship) in shape.layout.toOnes.enumerated() {
            guard let end = former[slot], end !== toOnes[slot], end !== known?[slot],
                let inverse = relationship.inverseRelationship
            else { continue }
            related(end)?.unlink(self, from: inverse.name)
        }
    }
}

/// What a save wrote, by kind; what was touched only counts as updated.
struct SavedObjects {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    /// By store: the number of the transaction in the store's history.
    var transactions: [String: Int64] = [:]
    /// The stores that tell of changes, once the save is done.
    var announcing: [NSPersistentStore] = []

    /// Where the save stands in the stores' histories; nil where none is kept.
    var historyToken: NSPersistentHistoryToken? {
        transactions.isEmpty ? nil : NSPersistentHistoryToken(numbers: transactions)
    }

    var all: [[NSManagedObject]] { [inserted, updated, deleted] }
    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    var ids: SavedIDs {
        SavedIDs(
            inserted: Self.ids(of: inserted), updated: Self.ids(of: updated),
            deleted: Self.ids(of: deleted))
    }

    /// The IDs of objects; those that nobody asked for yet are made together.
    private static func ids(of objects: [NSManagedObject]) -> [NSManagedObjectID] {
        var ids: [NSManagedObjectID] = []
        ids.reserveCapacity(objects.count)
        while ids.count < objects.count {
            let object = objects[ids.count]
            if object.madeID == nil, let space = object.shelf?.space {
                space.name(objects[ids.count...], into: &ids)
            } else {
                ids.append(object.objectID)
            }
        }
        return ids
    }

    /// Takes what was written to one store.
    mutating func add(_ gathered: ChangeSetBuilder) {
        defer { updated += gathered.touched }
        guard !isEmpty else {
            (inserted, updated, deleted) = (gathered.inserted, gathered.updated, gathered.deleted)
            return
        }
        inserted += gathered.inserted
        updated += gathered.updated
        deleted += gathered.deleted
    }

    mutating func add(_ object: NSManagedObject) {
        if object.isDeleted {
            deleted.append(object)
        } else if object.isInserted {
            inserted.append(object)
        } else {
            updated.append(object)
        }
    }
}

/// The IDs of what a save or an import changed; passes between queues.
struct SavedIDs: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    var count: Int { inserted.count + updated.count + deleted.count }
}
