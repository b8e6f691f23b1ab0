internal import Foundation
internal import ObjectModel
internal import Stores

/// What changed in the present event, and the values before; a nil base stands for the snapshot.
struct ObjectEvent {
    var changed = PropertySet()
    var base: ObjectValues?
}

extension NSManagedObject {
    final var changedNow: PropertySet {
        get { event.changed }
        _modify { yield &event.changed }
    }

    final var eventBase: ObjectValues? {
        get { event.base }
        _modify { yield &event.base }
    }
}

// What changed, since the last save and in the present event.
extension NSManagedObject {
    // MARK: Noting

    /// Does what a change needs before it is made: fills in a fault, notes the values that the
    /// event began with where the snapshot does not tell them, tells observers.
    final func prepareChange(of key: String) {
        if state.contains(.guarded) { checkQueue() }
        if state.contains(.fault) { fire() }
        leavePostedEvent()
        if state.contains(.changedBefore) || !shape.isInSnapshot(key) { noteBase() }
        if state.contains(.observed) { announceChange(of: key) }
    }

    /// Keeps the present values as those the event began with.
    final func noteBase() {
        state.remove(.changedBefore)
        guard eventBase == nil, shelf != nil, state.isDisjoint(with: [.insertedNow, .fault])
        else { return }
        eventBase = ObjectValues(of: self)
    }

    /// Lets the event that is being posted keep what it says of the object, which changes again.
    private func leavePostedEvent() {
        guard state.contains(.posted) else { return }
        state.remove(.posted)
        context?.pending.posted[ObjectIdentifier(self)] = EventChange(self)
        forgetEvent()
    }

    /// The event is over.
    final func forgetEvent() {
        changedNow.removeAll()
        eventBase = nil
    }

    /// Notes that a property changed; the context learns of it.
    final func noteChange(of slot: ObjectLayout.Slot) {
        if state.contains(.updatedNow) && hasChanges && !state.contains(.firing) {
            changedNow.insert(shape.index(of: slot))
            return
        }
        guard let context else { return }
        guard !context.pending.isSuppressed, !state.contains(.firing) else { return }
        leavePostedEvent()
        changedNow.insert(shape.index(of: slot))
        context.noteUpdate(of: self)
    }

    // MARK: Since the last save

    /// The persistent properties whose values differ from those last read or saved, with their new
    /// values; `NSNull` for none. Fills in no fault.
    public final func changedValues() -> [String: Any] {
        guard !isFault else { return [:] }
        var values: [String: Any] = [:]
        for (name, slot) in changedSlots() { values[name] = read(slot, name) ?? NSNull() }
        return values
    }

    /// Whether the next save would write something else than is stored. Unlike `hasChanges`, does
    /// not count properties that were set to what they were, nor transient ones.
    public final var hasPersistentChangedValues: Bool { !isFault && !changedSlots().isEmpty }

    /// The values last read or saved; of all persistent properties where `keys` is nil. Fills in
    /// the fault. Empty for an object that was never saved.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        if isFault { fire() }
        guard let snapshot else { return [:] }
        var values: [String: Any] = [:]
        for key in keys ?? shape.propertyNames {
            guard let slot = shape.slot(key), slot.isPersistent else { continue }
            values[key] = committed(slot, in: snapshot) ?? NSNull()
        }
        return values
    }

    private func committed(_ slot: ObjectLayout.Slot, in snapshot: ObjectSnapshot) -> Any? {
        switch slot {
        case .attribute(let index):
            return AttributeCoding.present(
                snapshot.attributes[index], for: shape.layout.attributes[index].attribute)
        case .toOne(let index): return snapshot.toOnes[index].flatMap(related)
        case .toMany(let index):
            load(index)
            let members = toManys[index]
            let now = Set(members.all).union(members.removed).subtracting(members.added)
            return Set(now.compactMap { related($0.id) })
        case .composite(let elements):
            return elements.dictionary {
                AttributeCoding.present(
                    snapshot.attributes[$0], for: shape.layout.attributes[$0].attribute)
            }
        case .transient, .fetched: return nil
        }
    }

    /// Names and slots of the persistent properties that differ from the snapshot.
    final func changedSlots() -> [(String, ObjectLayout.Slot)] {
        let layout = shape.layout
        var changed: [(String, ObjectLayout.Slot)] = []
        for index in attributes.indices where isChanged(attribute: index) {
            changed.append((layout.attributes[index].name, .attribute(index)))
        }
        for index in toOnes.indices where toOnes[index] !== snapshot?.toOnes[index] {
            changed.append((layout.toOnes[index].name, .toOne(index)))
        }
        for index in toManys.indices where toManys[index].isChanged {
            changed.append((layout.toManys[index].name, .toMany(index)))
        }
        return changed
    }

    // MARK: In the present event

    /// The persistent properties changed since the last ObjectsDidChange notification, with the
    /// values they had before; `NSNull` for none, as for all of a new object. While that
    /// notification is posted, what it tells of.
    ///
    /// The former members of a relationship that was never read are read now.
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        guard let change = eventChange else { return [:] }
        var values: [String: Any] = [:]
        for (name, slot) in slots(of: change) {
            values[name] = former(slot, in: change.base) ?? NSNull()
        }
        return values
    }

    /// What the present event says of the object; the event that is being posted comes first.
    private var eventChange: EventChange? {
        guard !isFault else { return nil }
        if let context, let posted = context.pending.posted[ObjectIdentifier(self)] {
            return posted
        }
        return changedNow.isEmpty ? nil : EventChange(self)
    }

    private func slots(of change: EventChange) -> [(String, ObjectLayout.Slot)] {
        shape.propertyNames.compactMap { name in
            guard let slot = shape.slot(name), slot.isPersistent else { return nil }
            let index = shape.index(of: slot)
            guard change.changed.contains(index) else { return nil }
            let isShared = index >= PropertySet.sharedPlace
            return !isShared || differs(slot, from: change.base) ? (name, slot) : nil
        }
    }

    private func differs(_ slot: ObjectLayout.Slot, from base: ObjectValues?) -> Bool {
        switch slot {
        case .attribute(let index): attributes[index] != baseAttribute(index, base)
        case .toOne(let index): toOnes[index] !== baseToOne(index, base)
        case .toMany(let index): !memberChange(index, since: base).isEmpty
        case .composite(let elements):
            elements.all.contains { attributes[$0] != baseAttribute($0, base) }
        case .transient, .fetched: false
        }
    }

    private func former(_ slot: ObjectLayout.Slot, in base: ObjectValues?) -> Any? {
        func value(_ index: Int) -> Any? {
            AttributeCoding.present(
                baseAttribute(index, base), for: shape.layout.attributes[index].attribute)
        }
        switch slot {
        case .attribute(let index): return value(index)
        case .toOne(let index): return baseToOne(index, base).flatMap(related)
        case .toMany(let index): return formerMembers(index, base)
        case .composite(let elements): return elements.dictionary(value)
        case .transient, .fetched: return nil
        }
    }

    private func formerMembers(_ index: Int, _ base: ObjectValues?) -> Any? {
        if snapshot == nil && base == nil { return nil }
        load(index)
        let change = memberChange(index, since: base)
        if toManys[index].isOrdered {
            let order = change.order ?? toManys[index].sequence
            return NSOrderedSet(array: order.compactMap { related($0.id) })
        }
        let members = Set(toManys[index].all).subtracting(change.added).union(change.removed)
        return Set(members.compactMap { related($0.id) })
    }

    // MARK: Against a base

    private func baseAttribute(_ index: Int, _ base: ObjectValues?) -> AttributeValue {
        base?.attributes[index] ?? snapshot?.attributes[index] ?? .null
    }

    private func baseToOne(_ index: Int, _ base: ObjectValues?) -> NSManagedObjectID? {
        base.map { $0.toOnes[index] } ?? snapshot?.toOnes[index]
    }

    private func memberChange(_ index: Int, since base: ObjectValues?) -> MemberChange {
        toManys[index].change(since: base?.toManys[index])
    }

    /// The order that the event began with of members that were not read then, so that those who
    /// left find their places again; nil where they need none. Reads the members.
    private func unreadOrder(_ index: Int, with removed: Set<Reference>) -> [Reference]? {
        let relationship = shape.layout.toManys[index]
        var base = eventBase?.toManys[index] ?? ToManyMembers(isOrdered: relationship.isOrdered)
        guard base.isOrdered, !base.isLoaded, let context, let id = identity, !isInserted,
            let found = try? context.source?.members(of: id, toMany: index)
        else { return nil }
        let stored = found.map(Reference.init)
        base.load(stored, hiding: context.hide(stored, of: self, index).subtracting(removed))
        return base.all
    }

    /// What takes the object's values back to those that the present event began with.
    final func changeOfEvent() -> ObjectChange {
        var change = ObjectChange()
        guard !isFault, !changedNow.isEmpty, eventBase != nil || snapshot != nil else {
            return change
        }
        for index in attributes.indices {
            let old = baseAttribute(index, eventBase)
            guard attributes[index] != old else { continue }
            var number: AttributeValue?
            if case .integer = attributes[index] { number = attributes[index] }
            change.attributes.append((index, old, number))
        }
        for index in toOnes.indices {
            let old = baseToOne(index, eventBase)
            if toOnes[index] !== old { change.toOnes.append((index, old)) }
        }
        for index in toManys.indices {
            var members = memberChange(index, since: eventBase)
            if members.order == nil, !members.removed.isEmpty {
                members.order = unreadOrder(index, with: members.removed)
            }
            if !members.isEmpty { change.toManys.append((index, members)) }
        }
        if let eventBase {
            let now = extras?.transients ?? [:]
            for key in Set(now.keys).union(eventBase.transients.keys) {
                let (old, new) = (eventBase.transients[key], now[key])
                let isSame = (old as? AnyHashable).map { $0 == new as? AnyHashable } ?? false
                if !isSame { change.transients.append((key, old)) }
            }
        }
        return change
    }
}

/// What one event says of an object.
struct EventChange {
    let changed: PropertySet
    let base: ObjectValues?

    init(_ object: NSManagedObject) {
        changed = object.changedNow
        base = object.eventBase
    }
}

/// How an object's values are taken back.
struct ObjectChange {
    /// With what an integer became: one that counts goes back by as much as it went.
    var attributes: [(slot: Int, old: AttributeValue, number: AttributeValue?)] = []
    var toOnes: [(slot: Int, old: NSManagedObjectID?)] = []
    var toManys: [(slot: Int, change: MemberChange)] = []
    var transients: [(key: String, old: Any?)] = []

    var isEmpty: Bool {
        attributes.isEmpty && toOnes.isEmpty && toManys.isEmpty && transients.isEmpty
    }
}
