internal import Foundation
internal import Stores

// Ending events, taking back, reading anew.
extension NSManagedObjectContext {
    /// Ends the event, and returns it. `isUndoable` says that the program made its changes.
    @discardableResult
    final func postEvent(isUndoable: Bool = true) -> EventObjects {
        if settings.propagatesDeletesAtEndOfEvent { propagateDeletions() }
        forgetGoneObjects()
        var event = pending.takeEvent()
        defer {
            pending.endPosting(event)
            forgetReturned(event.all)
        }
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

    /// What `rollback()` does.
    final func takeBackChanges() {
        pending.forget()
        for object in pending.takeObjects() {
            let isGone = object.isInserted || object.state.contains(.inaccessible)
            let wasDeleted = object.isDeleted
            object.state.subtract(.pending)
            if isGone {
                registry.unregister(object)
                object.leaveContext()
                pending.note(.deletedNow, of: object)
                continue
            }
            // A merge leaves what is deleted here as it is: its row may have changed since.
            object.observing { wasDeleted ? object.turnIntoFault() : object.revert() }
            pending.note(.refreshedNow, of: object)
            object.awake(fromSnapshotEvents: .rollback)
        }
        revealMembers()
        pending.hidden = []
        settings.undo?.forgetAll()
        postEvent(isUndoable: false)
    }

    /// What `reset()` does.
    final func forgetAll() {
        // Only their changes keep some of them alive.
        let objects = registry.objects
        pending.forget()
        pending.hidden = []
        for object in pending.takeObjects() { object.state.subtract(.pending) }
        pending.endPosting(pending.takeEvent())
        for object in objects {
            object.turnIntoFault()
            object.leaveContext()
        }
        registry.removeAll()
        readAhead.forgetAll()
        pin?.advance()
        if settings.retained != nil { settings.retained = [] }
        settings.justSaved = []
        settings.undo?.forgetAll()
        NotificationCenter.default.post(
            name: .NSManagedObjectContextObjectsDidChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: objects.map(\.objectID)])
    }

    /// What `refresh(_:mergeChanges:)` does.
    final func readAnew(_ object: NSManagedObject, mergeChanges flag: Bool) {
        object.state.subtract(.told)
        guard owns(object), !flag || !object.isInserted else { return }
        readAhead.forget(object.objectID)
        reread(object, mergeChanges: flag)
    }

    private func reread(_ object: NSManagedObject, mergeChanges flag: Bool) {
        if flag, object.isFoundGone, lookForReturned(object) { return }
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
            let known = object.identity.flatMap { readAhead.takeRow(of: $0) }
            guard let found = try known ?? storedSnapshot(of: object) else { return }
            // What a parent has tells no version.
            let isNews = RefetchedObject(object: object, row: found).isNews || parent != nil
            object.show(stored: found)
            if isNews || !object.isDeleted { object.settleUponRow() }
            object.awake(fromSnapshotEvents: .refresh)
        } catch {
            pending.failure = error
        }
    }

    /// What `refreshAllObjects()` does.
    final func readAllAnew() {
        readAhead.forgetRows()
        var rest = registry.objects.filter { !$0.isInserted }[...]
        while !rest.isEmpty {
            let group = rest.prefix(Self.readCountMax)
            rest = rest.dropFirst(group.count)
            readTogether(group.filter(\.hasChanges))
            for object in group where owns(object) && !object.isInserted {
                reread(object, mergeChanges: true)
            }
        }
        readAhead.forgetRows()
    }

    /// How many objects' rows are read with one question.
    static let readCountMax = 500

    /// Reads the rows of objects with one question, for those who take them from what was read
    /// ahead. What cannot be read so is left out: who reads it alone meets the failure.
    final func readTogether(_ objects: [NSManagedObject]) {
        let ids = objects.compactMap(\.identity)
        guard ids.count > 1, let found = try? source?.snapshots(of: ids) else { return }
        for found in found {
            if let snapshot = found.snapshot { readAhead.keep(snapshot, of: found.id) }
        }
    }

    // MARK: Notices of saves

    /// `event` is what was posted just before; its sets serve again where they are the same.
    final func postSaved(_ saved: SavedObjects, _ ids: SavedIDs, after event: EventObjects) {
        var event = event
        var tokens: [AnyHashable: Any] = [:]
        tokens[NSPersistentHistoryTokenKey] = saved.historyToken
        // Apple's contexts tell it under a key that has no public name.
        tokens["newChangeToken"] = saved.historyToken
        // A save moves a pinned context on to what is present.
        tokens[NSManagedObjectContextQueryGenerationKey] =
            queryGenerationToken.map { _ in NSQueryGenerationToken.current }
        let objects: [AnyHashable: Any] = [
            NSInsertedObjectsKey: event.inserted.set(of: saved.inserted),
            NSUpdatedObjectsKey: event.updated.set(of: saved.updated),
            NSDeletedObjectsKey: event.deleted.set(of: saved.deleted),
        ]
        let center = NotificationCenter.default
        center.post(
            name: .NSManagedObjectContextDidSave, object: self,
            userInfo: objects.merging(tokens) { $1 })
        center.post(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: self,
            userInfo: ids.userInfo.merging(tokens) { $1 })
    }
}
