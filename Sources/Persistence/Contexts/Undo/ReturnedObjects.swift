internal import ObjectModel
internal import Stores

// Objects that are new once more, by an undo of their saved deletion: somebody else may have them
// back by now, too, and then they are stored.
extension NSManagedObjectContext {
    /// Before one is deleted again: what is there goes with it. Should the deletion be taken back,
    /// what the object says stays a change.
    final func meetOwnRow(of object: NSManagedObject) {
        guard object.isReturned else { return }
        do {
            if let found = try storedSnapshot(of: object) { object.becomeStored(as: found) }
        } catch {
            pending.failure = error
        }
    }

    /// Before a save to stores: whose row says something else is in conflict with it.
    final func meetOwnRows() throws {
        for object in pending.objects where object.isReturned && !object.isDeleted {
            guard let found = try storedSnapshot(of: object) else { continue }
            object.becomeStored(as: found)
            if !object.changedSlots().isEmpty {
                object.snapshot?.version = ObjectSnapshot.unknownVersion
            }
        }
    }

    /// Lets go of those that are deleted again before a save: they would hide what somebody else
    /// brings back.
    final func forgetReturned(_ objects: [NSManagedObject]) {
        let gone = objects.filter { $0.isReturned && $0.isDeleted }
        guard !gone.isEmpty else { return }
        pending.takeObjects { $0.isReturned && $0.isDeleted }
        for object in gone { letGo(of: object) }
    }

    /// Ends what was made and deleted between two saves.
    final func letGo(of object: NSManagedObject) {
        registry.unregister(object)
        object.leaveContext()
        object.state = []
    }
}

extension NSManagedObject {
    fileprivate final var isReturned: Bool { state.isSuperset(of: [.inserted, .returned]) }

    fileprivate final func becomeStored(as found: ObjectSnapshot) {
        state.subtract([.inserted, .returned])
        state.insert(.updated)
        snapshot = found
    }
}
