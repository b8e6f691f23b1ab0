internal import Foundation
internal import Stores

// Ending events, taking back, reading anew.
extension NSManagedObjectContext {
    /// Ends the event: applies the delete rules of what was deleted (see
    /// `propagatesDeletesAtEndOfEvent`), hands what changed to the undo manager, and posts it as
    /// one ObjectsDidChange notification. Nothing is posted where nothing changed.
    public final func processPendingChanges() { _ = postEvent() }

    /// Ends the event, and returns it. `isUndoable` says that the program made its changes.
    @discardableResult
    final func postEvent(isUndoable: Bool = true) -> EventObjects {
        if settings.propagatesDeletesAtEndOfEvent { propagateDeletions() }
        var event = pending.takeEvent()
        defer { pending.endPosting(event) }
        if isUndoable, let undo = settings.undo { undo.register(event) }
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

    /// Takes back all changes since the last save, and empties the undo manager: new objects leave,
    /// others show their stored values.
    public final func rollback() {
        pending.forget()
        for object in pending.takeObjects() {
            let isGone = object.isInserted || object.state.contains(.inaccessible)
            object.state.subtract(.pending)
            if isGone {
                registry.unregister(object)
                object.leaveContext()
                pending.note(.deletedNow, of: object)
                continue
            }
            object.observing { object.revert() }
            pending.note(.refreshedNow, of: object)
            object.awake(fromSnapshotEvents: .rollback)
        }
        revealMembers()
        pending.hidden = []
        settings.undo?.forgetAll()
        postEvent(isUndoable: false)
    }

    /// Forgets all objects and changes, and empties the undo manager.
    ///
    /// Objects that are still held become faults that belong to no context: they stay empty, where
    /// Apple's raise an exception. Posts `NSInvalidatedAllObjectsKey` with their IDs.
    public final func reset() {
        pending.forget()
        pending.hidden = []
        for object in pending.takeObjects() { object.state.subtract(.pending) }
        pending.endPosting(pending.takeEvent())
        let objects = registry.objects
        for object in objects {
            object.turnIntoFault()
            object.leaveContext()
        }
        registry.removeAll()
        readAhead = ReadAhead()
        pin?.advance()
        if settings.retained != nil { settings.retained = [] }
        settings.undo?.forgetAll()
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: objects.map(\.objectID)])
    }

    /// Makes an object show its stored values again.
    ///
    /// With `mergeChanges` a changed object's own changes stay on top, and an unchanged one becomes
    /// a fault; without, changes are dropped and the object becomes a fault. A new object stays
    /// new; without `mergeChanges` it shows its default values again. A failure of the store
    /// (134180 and others) is thrown by the next save.
    public final func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        guard owns(object), !flag || !object.isInserted else { return }
        readAhead.forget(object.objectID)
        pending.note(.refreshedNow, of: object)
        guard flag && object.hasChanges else {
            if !flag { dropPostponed(of: object) }
            if !object.isInserted { object.state.subtract(.pending) }
            object.observing { object.turnIntoFault() }
            scheduleProcessing()
            return
        }
        scheduleProcessing()
        do {
            guard let found = try storedSnapshot(of: object) else { return }
            object.observing { object.rebase(onto: found) }
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
