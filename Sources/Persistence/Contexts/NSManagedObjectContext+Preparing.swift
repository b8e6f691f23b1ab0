internal import Foundation
internal import Stores

// Before a save: what objects do, and whether they may be saved.
extension NSManagedObjectContext {
    /// How often callbacks may change objects again. Apple's number.
    private static let attemptsMax = 1000

    /// Ends the event, calls `willSave` on what changed, and validates it; again for what that
    /// changed, until nothing changes any more. Returns the event with which it began.
    ///
    /// Throws what validation throws, unless it is not asked for, and 134060 where it never ends.
    final func prepareSave(validating: Bool) throws -> EventObjects {
        propagateDeletions()
        let event = postEvent()
        letMovedDeletionsFollow()
        try settle(pending.objects, validating: validating)
        try checkWatched()
        return event
    }

    /// The same for what a merge policy changed when it settled a broken constraint: objects that
    /// took others' places count their members anew.
    final func prepareChangedByPolicy() throws {
        propagateDeletions()
        try settle(postEvent().changed, validating: true)
    }

    /// Calls `willSave` and validates until nothing changes any more.
    private func settle(_ objects: [NSManagedObject], validating: Bool) throws {
        var waiting = objects
        for _ in 0..<Self.attemptsMax {
            for object in waiting where object.isPending {
                // A save within `didSave` is another one.
                object.state.subtract(.told)
                object.willSave()
            }
            if !pending.hasEvent {
                if validating { try validateChanges() }
                if !pending.hasEvent { return }
            }
            propagateDeletions()
            waiting = postEvent().changed
        }
        throw PersistenceErrors.make(
            NSCoreDataError,
            "Failed to process pending changes before save. The context is still dirty after "
                + "\(Self.attemptsMax) attempts. Typically this recursive dirtying is caused by a "
                + "bad validation method, willSave, or notification handler.")
    }

    // MARK: Conflicts of unchanged objects

    /// Lets the next save find out whether the object's row is still as it was read, though the
    /// object is not changed; where it is not, the merge policy decides.
    ///
    /// The row is looked at right before the save's transaction, Apple's within it. Only a root
    /// context looks.
    public final func detectConflicts(for object: NSManagedObject) {
        guard owns(object), !object.objectID.isTemporaryID else { return }
        object.fire()
        if !pending.watched.contains(where: { $0 === object }) { pending.watched.append(object) }
    }

    private func checkWatched() throws {
        guard parent == nil, !pending.watched.isEmpty else { return }
        var conflicts: [NSMergeConflict] = []
        for object in pending.watched where !object.hasChanges && owns(object) {
            let stored = try storedSnapshot(of: object)
            guard !isExpected(stored, of: object) else { continue }
            conflicts.append(NSMergeConflict(object, stored: stored))
        }
        guard !conflicts.isEmpty else { return }
        // The others are still to be told to programs' own stores.
        pending.watched.removeAll { object in
            conflicts.contains { $0.sourceObject === object }
        }
        do {
            try settle(conflicts)
        } catch {
            pending.watched = []
            throw error
        }
    }

    private func isExpected(_ stored: ObjectSnapshot?, of object: NSManagedObject) -> Bool {
        let expected = object.storedVersion
        guard let id = object.identity, let row = id.rowID, let store = id.persistentStore else {
            return stored?.version == expected
        }
        return store.isExpected(expected, of: row, found: stored?.version)
    }
}
