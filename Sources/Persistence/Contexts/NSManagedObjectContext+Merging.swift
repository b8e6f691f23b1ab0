internal import Foundation
internal import ObjectModel
internal import Stores

// Taking in what others saved.
extension NSManagedObjectContext {
    /// What `mergeChanges(fromContextDidSave:)` does.
    final func takeIn(_ notification: Notification) {
        merge(
            MergedIDs(notification.userInfo ?? [:], coordinator: persistentStoreCoordinator))
    }

    /// Makes the objects of several contexts show changes that are described by IDs, of whatever
    /// coordinator, or by their URIs, under the keys of a context's notifications. Waits for each
    /// context's queue.
    public static func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
        into contexts: [NSManagedObjectContext]
    ) {
        for context in contexts {
            let changes = MergedIDs(
                changeNotificationData, coordinator: context.persistentStoreCoordinator)
            context.queue.run { context.merge(changes) }
        }
    }

    private func merge(_ changes: MergedIDs) {
        if changes.isWhole {
            for object in registry.objects where !object.isInserted {
                refresh(object, mergeChanges: false)
            }
        }
        for id in changes.invalidated {
            if let object = registry.object(id) { refresh(object, mergeChanges: false) }
        }
        merge(changes.saved)
        if changes.saved.isEmpty { postEvent(isUndoable: false) }
    }

    /// Beyond this many changes objects are refreshed as a whole, without making new ones known.
    static let mergeCountMax = 20_000

    /// Takes in what was saved elsewhere.
    final func merge(_ told: SavedIDs, relaxed: Bool = false) {
        guard !told.isEmpty else { return }
        let changes = told.present(in: self)
        // What the program changed before is an event of its own, which can be undone.
        postEvent()
        readAhead.forgetRows()
        pin?.advance()
        for id in changes.deleted { mergeDeletion(of: id) }
        pending.gone += changes.deleted
        var refreshed: [NSManagedObjectID] = []
        if changes.count > Self.mergeCountMax {
            refreshAllObjects()
        } else {
            let updated = Set(changes.updated.map(Reference.init))
            refreshed = inGroups(changes.updated) {
                $0.filter { mergeUpdate(of: $0, among: updated) }
            }
            for id in refreshed {
                guard let object = registry.object(id), object.hasChanges else { continue }
                _ = object.letGoOfRivals()
            }
            _ = inGroups(changes.inserted) { group in
                for id in group { mergeInsertion(of: id) }
                return []
            }
        }
        forgetGoneInChanges()
        if relaxed { unloadUnchangedMembers() }
        postEvent(isUndoable: false)
        var userInfo = changes.userInfo
        userInfo[NSRefreshedObjectIDsKey] = Set(refreshed)
        NotificationCenter.default.post(
            name: .NSManagedObjectContextDidMergeChangesObjectIDs, object: self,
            userInfo: userInfo)
        persistentStoreCoordinator?.parentDidChange(self, changes)
    }

    private func mergeDeletion(of id: NSManagedObjectID) {
        guard let object = registry.object(id) else { return }
        // Deleted here, too: no rollback brings it back.
        guard !object.isDeleted else { return object.outliveRow() }
        object.state.subtract([.inserted, .updated])
        dropPostponed(of: object)
        object.outliveRow()
        object.state.insert([.deleted, .foundGone])
        pending.list(object)
        pending.note(.deletedNow, of: object)
        takeOutOfKnown(object)
    }

    /// Takes a deleted object out of the relationships of objects that are here, as the other
    /// context did in the store.
    private func takeOutOfKnown(_ object: NSManagedObject) {
        let layout = object.shape.layout
        for (slot, relationship) in layout.toOnes.enumerated() {
            guard let id = object.toOnes[slot] else { continue }
            takeOut(object, of: id, relationship.inverseRelationship)
        }
        for (slot, relationship) in layout.toManys.enumerated() where object.toManys[slot].isLoaded
        {
            for member in object.toManys[slot].all {
                takeOut(object, of: member.id, relationship.inverseRelationship)
            }
        }
    }

    private func takeOut(
        _ object: NSManagedObject, of id: NSManagedObjectID,
        _ inverse: NSRelationshipDescription?
    ) {
        guard let inverse, let other = registry.object(id), !other.isFault else { return }
        if other.forget(object, in: inverse.name) { pending.note(.refreshedNow, of: other) }
    }

    /// Returns whether the object is here.
    private func mergeUpdate(
        of id: NSManagedObjectID, among updated: Set<Reference> = []
    ) -> Bool {
        guard let object = registry.object(id), !object.isInserted else { return false }
        guard !object.isDeleted else {
            if object.state.contains(.foundGone) { return lookForReturned(object) }
            // Left as it is, unless its deletion is taken back.
            object.state.insert(.outdated)
            return false
        }
        pending.note(.refreshedNow, of: object)
        guard !object.isFault else {
            object.snapshot = nil
            return true
        }
        do {
            guard let found = try readAhead.takeRow(of: id) ?? storedSnapshot(of: object) else {
                mergeDeletion(of: id)
                return true
            }
            object.show(stored: found, beside: updated)
            object.awake(fromSnapshotEvents: .refresh)
        } catch {
            // Read when it is looked at; a changed object finds its conflict when it is saved.
            if object.hasChanges { pending.failure = error } else { object.turnIntoFault() }
        }
        return true
    }

    /// Shows an object again that counted as deleted since its row was gone, where the row is back.
    /// Returns whether it is.
    final func lookForReturned(_ object: NSManagedObject) -> Bool {
        guard let found = try? storedSnapshot(of: object) else { return false }
        showReturned(object, found)
        return true
    }

    /// The same with the row that was found.
    final func showReturned(_ object: NSManagedObject, _ found: ObjectSnapshot) {
        object.state.subtract([.deleted, .inaccessible, .foundGone, .outdated])
        pending.gone.removeAll { $0 === object.identity }
        object.observing {
            object.turnIntoFault()
            object.snapshot = found
        }
        pending.note(.insertedNow, of: object)
        scheduleProcessing()
    }

    /// Hands `ids` on in groups whose rows were read with one question.
    private func inGroups(
        _ ids: [NSManagedObjectID],
        _ merge: (ArraySlice<NSManagedObjectID>) -> [NSManagedObjectID]
    ) -> [NSManagedObjectID] {
        var merged: [NSManagedObjectID] = []
        var rest = ids[...]
        while !rest.isEmpty {
            let group = rest.prefix(Self.readCountMax)
            rest = rest.dropFirst(group.count)
            readTogether(
                group.compactMap { registry.object($0) }.filter {
                    !$0.isFault && !$0.isInserted && !$0.isDeleted
                })
            merged += merge(group)
        }
        // Those of objects that were let go meanwhile.
        readAhead.forgetRows()
        return merged
    }

    private func mergeInsertion(of id: NSManagedObjectID) {
        guard registry.object(id) == nil else {
            _ = mergeUpdate(of: id)
            return
        }
        pending.note(.insertedNow, of: materialize(id, nil))
    }

    /// For imports that do not name the owners of changed relationships.
    private func unloadUnchangedMembers() {
        for object in registry.objects where !object.isFault && !object.isInserted {
            for slot in object.toManys.indices where object.toManys[slot].isLoaded {
                object.rebaseMembers(slot)
            }
        }
    }
}

extension NSManagedObject {
    /// Lets go of a link that is gone in the store, too. Returns whether there was one.
    fileprivate final func forget(_ other: NSManagedObject, in name: String) -> Bool {
        switch shape.slot(name) {
        case .toOne(let slot):
            guard toOnes[slot] === other.identity else { return false }
            observing {
                toOnes[slot] = nil
                if snapshot?.toOnes[slot] === other.identity { snapshot?.toOnes[slot] = nil }
            }
            return true
        case .toMany(let slot):
            guard toManys[slot].isLoaded, toManys[slot].mayRemove(other.reference) else {
                return false
            }
            observing { toManys[slot].forget(other.reference) }
            return true
        case .attribute, .composite, .transient, .fetched, nil: return false
        }
    }
}

/// The changes that a notification, or a program, describes.
private struct MergedIDs {
    private(set) var saved = SavedIDs()
    private(set) var invalidated: [NSManagedObjectID] = []
    /// Whether everything may have changed.
    private(set) var isWhole = false

    init(_ userInfo: [AnyHashable: Any], coordinator: NSPersistentStoreCoordinator?) {
        func ids(_ keys: [String]) -> [NSManagedObjectID] {
            var seen: Set<Reference> = []
            return keys.flatMap { Self.elements(of: userInfo[$0]) }
                .compactMap { Self.id($0, coordinator) }
                .filter { seen.insert(Reference($0)).inserted }
        }
        saved.inserted = ids([NSInsertedObjectsKey, NSInsertedObjectIDsKey])
        saved.updated = ids([
            NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey,
            NSRefreshedObjectIDsKey,
        ])
        saved.deleted = ids([NSDeletedObjectsKey, NSDeletedObjectIDsKey])
        invalidated = ids([NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey])
        isWhole = userInfo[NSInvalidatedAllObjectsKey] != nil
    }

    private static func elements(of collection: Any?) -> [Any] {
        switch collection {
        case let objects as Set<NSManagedObject>: Array(objects)
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let elements as [Any]: elements
        case let set as NSSet: set.allObjects
        case let array as NSArray: (0..<array.count).map { array.object(at: $0) }
        case let elements as Set<AnyHashable>: elements.map(\.base)
        case let urls as Set<URL>: Array(urls)
        default: []
        }
    }

    private static func id(
        _ element: Any, _ coordinator: NSPersistentStoreCoordinator?
    ) -> NSManagedObjectID? {
        if let id = (element as? NSManagedObject)?.objectID ?? element as? NSManagedObjectID {
            return coordinator.map { $0.ownID(of: id) } ?? id
        }
        guard let url = element as? URL else { return nil }
        return coordinator?.managedObjectID(forURIRepresentation: url)
    }
}

extension SavedIDs {
    /// The same changes as a context is to take them in: what is told to be deleted, but is in its
    /// store, came back since, and counts as updated. A child believes its parent.
    ///
    /// Cost: one search by key for each deletion. Stores that name their rows themselves are not
    /// asked: what they have is theirs to know.
    fileprivate func present(in context: NSManagedObjectContext) -> SavedIDs {
        guard !deleted.isEmpty, context.parent == nil,
            let coordinator = context.persistentStoreCoordinator
        else { return self }
        var changes = self
        for store in coordinator.persistentStores where !store.namesRowsItself {
            let rows = deleted.filter { $0.isOf(store) }.compactMap(\.rowID)
            // Where it cannot be read, what is told counts.
            guard !rows.isEmpty, let found = try? store.rowStore.present(among: rows) else {
                continue
            }
            guard !found.isEmpty else { continue }
            let isBack = { (id: NSManagedObjectID) in
                id.isOf(store) && id.rowID.map(found.contains) == true
            }
            changes.deleted.removeAll(where: isBack)
            changes.updated += deleted.filter(isBack)
        }
        return changes
    }

    var userInfo: [AnyHashable: Any] {
        [
            NSInsertedObjectIDsKey: Set(inserted),
            NSUpdatedObjectIDsKey: Set(updated),
            NSDeletedObjectIDsKey: Set(deleted),
        ]
    }
}
