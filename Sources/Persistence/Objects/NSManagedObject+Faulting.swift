internal import Foundation
internal import ObjectModel
internal import Stores

// Filling in and emptying.
extension NSManagedObject {
    /// Fills in the values of a fault: from the row it came with, or from the store.
    ///
    /// A row that is gone leaves the object empty: `shouldDeleteInaccessibleFaults` then marks it
    /// as deleted, otherwise the next save fails with a referential integrity error. Where the
    /// store cannot be read, the object stays a fault, which the next access fills in.
    ///
    /// An object without a context stays a fault where nothing tells its values.
    final func fire(for key: String? = nil) {
        guard state.contains(.fault) else { return }
        guard let awakening = shelf?.awakening, !awakening.isOver, !state.contains(.firing) else {
            guard let snapshot, shelf?.awakening.isOver == true else { return standEmpty() }
            show(snapshot)
            state.remove(.fault)
            return
        }
        guard !state.contains(.inserted) else { return showDefaults() }
        state.insert(.firing)
        defer { state.remove(.firing) }
        if !hasRow, !readRow(for: key) { return }
        if let found = contents.snapshot { show(found) } else { forgetMade() }
        state.remove(.fault)
        awakening.suppressions += 1
        awakeFromFetch()
        awakening.suppressions -= 1
        state.remove(.firing)
        if awakening.hasPostponed { context?.makePostponed(of: self) }
    }

    /// Reads the row of a fault; false where it cannot be read, or is gone.
    private func readRow(for key: String?) -> Bool {
        guard let context else { return false }
        do {
            try context.readFault(self)
        } catch {
            context.pending.failure = error
            standEmpty()
            return false
        }
        if hasRow { return true }
        state.remove(.fault)
        state.insert(.inaccessible)
        standEmpty()
        toManys = shape.emptyToManys
        context.noteInaccessible(self, for: key)
        return false
    }

    /// Gives a new object, whose values were dropped before any store had them, those that it began
    /// with.
    private func showDefaults() {
        state.remove(.fault)
        attributes = shape.defaults
        toOnes = shape.noToOnes
        toManys = shape.emptyToManys
        beginTransients()
    }

    /// Does what reading needs before it is done.
    final func prepareAccess(to key: String?) {
        if state.contains(.guarded) { checkQueue() }
        fire(for: key)
    }

    /// Goes on with the values that are known, since the row is gone.
    final func outliveRow() {
        if isFault, let snapshot {
            show(snapshot)
        } else if isFault {
            standEmpty()
            toManys = shape.emptyToManys
        }
        state.remove(.fault)
        state.insert(.inaccessible)
    }

    /// Becomes an object that no store has, with the values it has.
    final func becomeNew() {
        unpack()
        state = QueueGuard.isOn ? [.inserted, .guarded] : .inserted
        if extras?.observers.isEmpty == false { state.insert(.observed) }
        standEmpty()
        snapshot = nil
        // Members that were never read are those whose rows lead here still: by a rule that does
        // nothing, since a deletion reads all others.
        for (slot, relationship) in shape.layout.toManys.enumerated()
        where toManys[slot].isLoaded || relationship.inverseRelationship?.isToMany != false {
            toManys[slot].becomeNew()
        }
    }

    /// Has places for all values, and no values: who reads a fault that cannot be filled in finds
    /// nothing.
    final func standEmpty() {
        guard
            attributes.count != shape.layout.attributes.count
                || toOnes.count != shape.layout.toOnes.count
        else { return }
        attributes = Array(repeating: .null, count: shape.layout.attributes.count)
        toOnes = shape.noToOnes
    }

    /// Takes values as read; changes of to-many relationships stay.
    final func adopt(_ found: ObjectSnapshot) {
        snapshot = found
        show(found)
    }

    private func show(_ found: ObjectSnapshot) {
        attributes = found.attributes
        toOnes = found.toOnes
        forgetMade()
    }

    /// Forgets what was made of former values.
    private func forgetMade() {
        guard let extras else { return }
        extras.transformed = [:]
        extras.misfits = [:]
    }

    /// Drops all values and changes.
    final func turnIntoFault() {
        guard !isFault else {
            snapshot = nil
            for slot in toManys.indices { toManys[slot].discard() }
            return
        }
        willTurnIntoFault()
        dropValues()
        toManys = shape.unloadedToManys
        heldToOnes = []
        let observers = extras?.observers ?? []
        extras = nil
        if !observers.isEmpty { withExtras { $0.observers = observers } }
        forgetEvent()
        state.remove([.changedBefore, .posted])
        state.insert(.fault)
        didTurnIntoFault()
    }

    /// Takes the row's present values below the object's own changes.
    ///
    /// What the program changed stays changed; everything else shows what `found` says. What it
    /// added to a counter is added to what that is now.
    final func rebase(onto found: ObjectSnapshot) {
        guard !isFault, let former = snapshot else {
            snapshot = found
            return
        }
        eventBase?.rebase(from: former, onto: found) { count($0, own: $1, former: $2, found: $3) }
        for index in attributes.indices {
            if attributes[index] == former.attributes[index] {
                attributes[index] = found.attributes[index]
                extras?.transformed[index] = nil
            } else if let sum = count(
                index, own: attributes[index], former: former.attributes[index],
                found: found.attributes[index])
            {
                attributes[index] = sum
            }
        }
        for index in toOnes.indices where toOnes[index] === former.toOnes[index] {
            toOnes[index] = found.toOnes[index]
        }
        for index in toManys.indices { rebaseMembers(index) }
        snapshot = found
    }

    /// Lets a to-many show what is stored below its changes: read when it is needed, but at once
    /// where an order stands here that was changed, since that is not made anew.
    final func rebaseMembers(_ slot: Int) {
        guard toManys[slot].isOrdered, toManys[slot].isLoaded, toManys[slot].isChanged else {
            return toManys[slot].unload()
        }
        // Where it cannot be read, the next save throws.
        guard let context, let stored = context.storedMembers(of: self, toMany: slot) else {
            return
        }
        toManys[slot].rebase(onto: stored, hiding: context.hide(stored, of: self, slot))
    }

    /// Takes back all changes.
    final func revert() {
        guard !isFault, let snapshot else { return }
        adopt(snapshot)
        for index in toManys.indices { toManys[index].discard() }
        if extras != nil { withExtras { $0.transients = [:] } }
        forgetEvent()
        state.remove(.changedBefore)
    }

    /// Takes values the store computed while it saved.
    final func take(derived values: [Int: AttributeValue]) {
        for (slot, value) in values where slot < attributes.count {
            attributes[slot] = value
            snapshot?.attributes[slot] = value
        }
        if isFault { snapshot = nil }
    }

    /// Takes links that the store cleared, since their targets are deleted.
    final func takeCleared(_ slots: [Int], version: Int64) {
        for slot in slots where slot < toOnes.count {
            if toOnes[slot] === snapshot?.toOnes[slot] { toOnes[slot] = nil }
            snapshot?.toOnes[slot] = nil
        }
        snapshot?.version = version
    }

    /// What was changed is stored now.
    final func commit(version: Int64) {
        snapshot = ObjectSnapshot(version: version, attributes: attributes, toOnes: toOnes)
        for index in toManys.indices where toManys[index].isChanged { toManys[index].commit() }
        forgetEvent()
        state.remove([.changedBefore, .posted])
    }
}
