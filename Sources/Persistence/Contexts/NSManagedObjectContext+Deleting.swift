internal import Foundation
internal import ObjectModel
internal import Stores

// Deleting, and what it does to others.
extension NSManagedObjectContext {
    /// What `delete(_:)` does.
    final func noteDeletion(of object: NSManagedObject) {
        if QueueGuard.isOn { checkQueue() }
        guard owns(object) else { return }
        if object.isDeleted {
            object.state.subtract([.cascaded, .foundGone])
            return object.prepareForDeletion()
        }
        guard mark(object) else { return }
        pending.unpropagated.append(object)
    }

    /// Applies the delete rules of what was deleted, and of what that deletes.
    final func propagateDeletions() {
        while let next = pending.unpropagated.popLast() {
            if next.isDeleted, next.shape.hasRelationships {
                pending.unpropagated += release(next)
            }
        }
    }

    /// Returns false where there is nothing to do.
    private func mark(_ object: NSManagedObject) -> Bool {
        guard !object.isDeleted else { return false }
        if object.isFault { object.fire() }
        guard !object.isDeleted else { return false }
        meetOwnRow(of: object)
        guard readLinks(of: object) else {
            object.postpone { $0.context?.delete($0) }
            return false
        }
        object.prepareForDeletion()
        object.state.insert(.deleted)
        object.state.subtract([.cascaded, .foundGone, .savedAsNew, .savedAsChanged])
        pending.list(object)
        pending.note(.deletedNow, of: object)
        scheduleProcessing()
        return true
    }

    /// Reads all that a deletion follows; false where it cannot be read.
    private func readLinks(of object: NSManagedObject) -> Bool {
        guard !object.isFault else { return false }
        if !object.shape.hasRelationships { return true }
        for (slot, relationship) in object.shape.layout.toManys.enumerated()
        where relationship.deleteRule != .noActionDeleteRule {
            object.load(slot)
            guard object.toManys[slot].isLoaded else { return false }
        }
        return true
    }

    /// Takes the object out of the others' relationships; marks and returns those that are deleted
    /// with it. A deny rule changes nothing of a stored object: whether it holds, the save finds
    /// out.
    private func release(_ object: NSManagedObject) -> [NSManagedObject] {
        var doomed: [NSManagedObject] = []
        func release(_ ids: [NSManagedObjectID], _ relationship: NSRelationshipDescription) {
            let rule = relationship.deleteRule
            // A new object simply leaves, since no save looks at it and no row will be there.
            guard object.isInserted || (rule != .noActionDeleteRule && rule != .denyDeleteRule)
            else { return }
            for id in ids {
                let other = self.object(with: id)
                guard !other.isDeleted else { continue }
                if rule == .cascadeDeleteRule, mark(other) {
                    other.state.insert(.cascaded)
                    doomed.append(other)
                }
                guard let inverse = relationship.inverseRelationship else { continue }
                if !object.isInserted { other.meetRow(of: object, by: inverse.name) }
                other.unlink(object, from: inverse.name)
            }
        }
        for (slot, relationship) in object.shape.layout.toOnes.enumerated() {
            release(object.toOnes[slot].map { [$0] } ?? [], relationship)
        }
        for (slot, relationship) in object.shape.layout.toManys.enumerated()
        where relationship.deleteRule != .noActionDeleteRule || object.isInserted {
            object.load(slot)
            release(object.toManys[slot].all.map(\.id), relationship)
        }
        return doomed
    }
}
