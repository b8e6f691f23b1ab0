public import Foundation
internal import Stores

// Taking back, reading anew, merging what others saved.
extension NSManagedObjectContext {
    /// Posts what changed since the last call as one ObjectsDidChange notification.
    public final func processPendingChanges() { _ = postEvent() }

    /// Posts what changed, and returns it.
    final func postEvent() -> EventObjects {
        var event = pending.takeEvent()
        guard !event.isEmpty else { return event }
        var userInfo: [AnyHashable: Any] = [:]
        if !event.inserted.isEmpty { userInfo[NSInsertedObjectsKey] = event.inserted.set }
        if !event.deleted.isEmpty { userInfo[NSDeletedObjectsKey] = event.deleted.set }
        if !event.updated.isEmpty { userInfo[NSUpdatedObjectsKey] = event.updated.set }
        if !event.refreshed.isEmpty { userInfo[NSRefreshedObjectsKey] = event.refreshed.set }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self, userInfo: userInfo)
        return event
    }

    /// Takes back all changes since the last save: new objects leave, others show their stored
    /// values.
    public final func rollback() {
        pending.failure = nil
        pending.postponed = []
        for object in pending.takeObjects() {
            if object.isInserted {
                registry.unregister(object)
                object.leaveContext()
                object.state.subtract(.pending)
                pending.note(.deletedNow, of: object)
                continue
            }
            object.state.subtract(.pending)
            object.revert()
            pending.note(.refreshedNow, of: object)
            object.awake(fromSnapshotEvents: .rollback)
        }
        processPendingChanges()
    }

    /// Forgets all objects and changes. Objects that are still held belong to no context then.
    public final func reset() {
        pending.failure = nil
        pending.postponed = []
        for object in pending.takeObjects() { object.state.subtract(.pending) }
        _ = pending.takeEvent()
        for object in registry.objects { object.leaveContext() }
        registry.removeAll()
        readAhead = ReadAhead()
        if settings.retained != nil { settings.retained = [] }
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: NSArray()])
    }

    /// Makes an object show its stored values again.
    ///
    /// With `mergeChanges` its own changes stay on top; without, they are dropped and it becomes a
    /// fault.
    public final func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        guard owns(object), !object.isInserted else { return }
        readAhead.forget(object.objectID)
        pending.note(.refreshedNow, of: object)
        guard flag && object.hasChanges else {
            if !flag { dropPostponed(of: object) }
            object.state.subtract(.pending)
            object.turnIntoFault()
            return
        }
        do {
            guard let found = try storedSnapshot(of: object) else { return }
            object.rebase(onto: found)
            object.awake(fromSnapshotEvents: .refresh)
        } catch {
            pending.failure = error
        }
    }

    /// Refreshes all objects; their own changes stay.
    public final func refreshAllObjects() {
        readAhead.forgetRows()
        for object in registry.objects where !object.isInserted {
            refresh(object, mergeChanges: true)
        }
    }

    // MARK: Merging

    /// Makes objects show what another context saved. Own changes stay on top.
    public final func mergeChanges(fromContextDidSave notification: Notification) {
        merge(Self.ids(in: notification.userInfo ?? [:], coordinator: persistentStoreCoordinator))
    }

    /// Makes the objects of several contexts show changes that are described by IDs or their URIs.
    public static func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any],
        into contexts: [NSManagedObjectContext]
    ) {
        for context in contexts {
            let changes = ids(
                in: changeNotificationData, coordinator: context.persistentStoreCoordinator)
            context.queue.run { context.merge(changes) }
        }
    }

    private static func ids(
        in userInfo: [AnyHashable: Any], coordinator: NSPersistentStoreCoordinator?
    ) -> SavedIDs {
        func ids(_ keys: [String]) -> [NSManagedObjectID] {
            keys.flatMap { key -> [NSManagedObjectID] in
                switch userInfo[key] {
                case let objects as Set<NSManagedObject>: return objects.map(\.objectID)
                case let ids as Set<NSManagedObjectID>: return Array(ids)
                case let objects as [Any]:
                    return objects.compactMap {
                        ($0 as? NSManagedObject)?.objectID ?? $0 as? NSManagedObjectID
                            ?? ($0 as? URL).flatMap {
                                coordinator?.managedObjectID(forURIRepresentation: $0)
                            }
                    }
                default: return []
                }
            }
        }
        return SavedIDs(
            inserted: ids([NSInsertedObjectsKey, NSInsertedObjectIDsKey]),
            updated: ids([
                NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey,
                NSRefreshedObjectIDsKey,
            ]),
            deleted: ids([NSDeletedObjectsKey, NSDeletedObjectIDsKey]))
    }

    /// Beyond this many changes objects are refreshed as a whole, without making new ones known.
    private static let mergeCountMax = 20_000

    /// Takes in what was saved elsewhere.
    final func merge(_ changes: SavedIDs, relaxed: Bool = false) {
        guard !changes.isEmpty else { return }
        readAhead.forgetRows()
        for id in changes.deleted { mergeDeletion(of: id) }
        if changes.count > Self.mergeCountMax {
            refreshAllObjects()
        } else {
            for id in changes.updated { mergeUpdate(of: id) }
            for id in changes.inserted { mergeInsertion(of: id) }
        }
        if relaxed { unloadUnchangedMembers() }
        processPendingChanges()
        NotificationCenter.default.post(
            name: .NSManagedObjectContextDidMergeChangesObjectIDs, object: self,
            userInfo: changes.userInfo)
        persistentStoreCoordinator?.parentDidChange(self, changes)
    }

    private func mergeDeletion(of id: NSManagedObjectID) {
        guard let object = registry.object(id), !object.isDeleted else { return }
        object.state.subtract(.pending)
        object.state.insert(.deleted)
        pending.note(.deletedNow, of: object)
        registry.unregister(object)
        object.leaveContext()
    }

    private func mergeUpdate(of id: NSManagedObjectID) {
        guard let object = registry.object(id), !object.isInserted else { return }
        pending.note(.refreshedNow, of: object)
        guard !object.isFault else {
            object.snapshot = nil
            return
        }
        do {
            guard let found = try storedSnapshot(of: object) else { return mergeDeletion(of: id) }
            object.rebase(onto: found)
            object.awake(fromSnapshotEvents: .refresh)
        } catch {
            // Read when it is looked at; a changed object finds its conflict when it is saved.
            if object.hasChanges { pending.failure = error } else { object.turnIntoFault() }
        }
    }

    private func mergeInsertion(of id: NSManagedObjectID) {
        guard registry.object(id) == nil else { return mergeUpdate(of: id) }
        pending.note(.insertedNow, of: materialize(id, nil))
    }

    /// For imports that do not name the owners of changed relationships.
    private func unloadUnchangedMembers() {
        for object in registry.objects where !object.isFault && !object.isInserted {
            for slot in object.toManys.indices where object.toManys[slot].isLoaded {
                object.toManys[slot].unload()
            }
        }
    }

    // MARK: Notices of saves

    /// `event` is what was posted just before; its sets serve again where they are the same.
    final func postSaved(_ saved: SavedObjects, _ ids: SavedIDs, after event: EventObjects) {
        var event = event
        let center = NotificationCenter.default
        center.post(
            name: .NSManagedObjectContextDidSave, object: self,
            userInfo: [
                NSInsertedObjectsKey: event.inserted.set(of: saved.inserted),
                NSUpdatedObjectsKey: event.updated.set(of: saved.updated),
                NSDeletedObjectsKey: event.deleted.set(of: saved.deleted),
            ])
        center.post(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: self,
            userInfo: ids.userInfo)
    }
}

extension SavedIDs {
    var userInfo: [AnyHashable: Any] {
        [
            NSInsertedObjectIDsKey: Set(inserted), NSUpdatedObjectIDsKey: Set(updated),
            NSDeletedObjectIDsKey: Set(deleted),
        ]
    }
}
