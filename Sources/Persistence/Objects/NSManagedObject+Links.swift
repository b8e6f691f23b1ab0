internal import Foundation
internal import ObjectModel
internal import Stores

// Relationships: both ends change together, whatever their kinds.
extension NSManagedObject {
    // MARK: Reading

    /// Reads the stored members of a to-many once.
    final func load(_ slot: Int) {
        guard !toManys[slot].isLoaded else { return }
        guard let context, identity?.rowID != nil || context.parent != nil else {
            return toManys[slot].load([])
        }
        guard let members = context.storedMembers(of: self, toMany: slot) else { return }
        toManys[slot].load(members, hiding: context.hide(members, of: self, slot))
        context.makePostponed(of: self)
    }

    final func collection(_ slot: Int) -> Any {
        load(slot)
        if let held = toManys[slot].held { return held.collection }
        let members = toManys[slot].all
        let objects =
            context?.materialize(members.map(\.id)) ?? members.compactMap { related($0.id) }
        let collection: Any = toManys[slot].isOrdered ? NSOrderedSet(array: objects) : Set(objects)
        if context != nil { toManys[slot].hold(collection) }
        return collection
    }

    /// The object of a to-one, which lives from now on as long as it is at the end of the link.
    final func target(_ slot: Int) -> NSManagedObject? {
        guard let id = toOnes[slot] else { return nil }
        if slot < heldToOnes.count, let held = heldToOnes[slot], held.madeID === id,
            held.shelf?.context === shelf?.context
        {
            return held
        }
        guard let target = related(id) else { return nil }
        if shelf != nil, target !== self {
            if heldToOnes.isEmpty { heldToOnes = Array(repeating: nil, count: toOnes.count) }
            heldToOnes[slot] = target
        }
        return target
    }

    /// Holds the objects at the ends of the relationships no longer.
    final func letGoOfEnds() {
        heldToOnes = []
        for slot in toManys.indices { toManys[slot].letGo() }
    }

    /// Whether the members of a to-many, or the object of a to-one, are still to be read.
    public final func hasFault(forRelationshipNamed key: String) -> Bool {
        switch shape.slot(key) {
        case .toMany(let slot): return isFault || !toManys[slot].isLoaded
        case .toOne(let slot):
            if isFault { return true }
            return toOnes[slot].map { context?.registeredObject(for: $0)?.isFault ?? true } ?? false
        default: return false
        }
    }

    /// The IDs of the related objects, without making objects of them.
    public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        willAccessValue(forKey: key)
        switch shape.slot(key) {
        case .toOne(let slot): return toOnes[slot].map { [$0] } ?? []
        case .toMany(let slot):
            load(slot)
            return toManys[slot].all.map(\.id)
        default: return []
        }
    }

    // MARK: Writing

    final func setToOne(_ slot: Int, toValue value: Any?) -> Bool {
        guard let value, !(value is NSNull) else {
            setToOne(slot, to: nil)
            return true
        }
        guard let target = value as? NSManagedObject,
            accepts(target, shape.layout.toOnes[slot])
        else { return false }
        setToOne(slot, to: target)
        return true
    }

    final func setToOne(_ slot: Int, to target: NSManagedObject?) {
        let former = toOnes[slot]
        guard former !== target?.objectID else { return }
        if let target { join(target) }
        toOnes[slot] = target?.objectID
        guard let inverse = shape.layout.toOnes[slot].inverseRelationship else { return }
        if let former { related(former)?.letGo(of: self, by: inverse) }
        target?.link(self, into: inverse.name)
    }

    final func setToMany(_ slot: Int, toValue value: Any?) -> Bool {
        guard let members = Self.objects(in: value) else { return false }
        let relationship = shape.layout.toManys[slot]
        guard members.allSatisfy({ accepts($0, relationship) }) else { return false }
        load(slot)
        guard toManys[slot].isLoaded else {
            postpone(members: slot) { $0.setValue(members, forKey: relationship.name) }
            return true
        }
        var seen = Set<Reference>()
        let wanted = members.filter { seen.insert($0.reference).inserted }
        for former in toManys[slot].all where !seen.contains(former) { remove(former, from: slot) }
        for member in wanted { add(member, to: slot) }
        toManys[slot].reorder(wanted.map(\.reference))
        return true
    }

    /// The objects of any collection a program may give; nil for anything else.
    private static func objects(in value: Any?) -> [NSManagedObject]? {
        guard let value, !(value is NSNull) else { return [] }
        if let set = value as? Set<NSManagedObject> { return Array(set) }
        if let array = value as? [NSManagedObject] { return array }
        if let ordered = value as? NSOrderedSet { return ordered.array as? [NSManagedObject] }
        return (value as? NSSet)?.allObjects as? [NSManagedObject]
    }

    private func accepts(
        _ target: NSManagedObject, _ relationship: NSRelationshipDescription
    ) -> Bool {
        guard let destination = relationship.destinationEntity else { return true }
        return target.entity.isKindOf(entity: destination)
    }

    /// Adds a member on both sides.
    final func add(_ member: NSManagedObject, to slot: Int, at index: Int? = nil) {
        join(member)
        readForUndoing(member.reference, slot)
        readBeforeAdding(member.reference, to: slot)
        guard toManys[slot].add(member.reference, at: index) else { return }
        if let inverse = shape.layout.toManys[slot].inverseRelationship {
            member.link(self, into: inverse.name)
        }
    }

    /// Removes a member on both sides.
    final func remove(_ member: Reference, from slot: Int) {
        readForUndoing(member, slot)
        readBeforeRemoving(member, from: slot)
        guard mayRemove(member, from: slot), toManys[slot].remove(member) else { return }
        guard let inverse = shape.layout.toManys[slot].inverseRelationship else { return }
        related(member.id)?.unlink(self, from: inverse.name)
    }

    /// What was removed before the members were read may have been none of them: adding it then is
    /// no way back to what is stored. Nor is removing what was added, which may be stored.
    private func readBeforeAdding(_ member: Reference, to slot: Int) {
        if !toManys[slot].isLoaded, toManys[slot].removed.contains(member) { load(slot) }
    }

    /// Whether no source of the context has the object: a parent may have unsaved ones.
    final func isUnstored(_ member: Reference) -> Bool {
        member.id.isTemporaryID && context?.parent == nil
    }

    /// Whether the member is here, as far as is known.
    private func mayRemove(_ member: Reference, from slot: Int) -> Bool {
        guard !toManys[slot].isLoaded, isUnstored(member) else {
            return toManys[slot].mayRemove(member)
        }
        return toManys[slot].added.contains(member)
    }

    /// What may be undone must be a change: the addition of a stored member is none.
    private func readForUndoing(_ member: Reference, _ slot: Int) {
        guard !toManys[slot].isLoaded, !isUnstored(member) else { return }
        if context?.undoManager != nil { load(slot) }
    }

    private func readBeforeRemoving(_ member: Reference, from slot: Int) {
        guard !toManys[slot].isLoaded, !isUnstored(member) else { return }
        if toManys[slot].added.contains(member) { load(slot) }
    }

    /// Takes the other end of a link that `object` made; steals it where there is room for one
    /// only.
    final func link(_ object: NSManagedObject, into name: String) {
        if isFault { fire() }
        if isFault { return postpone { $0.link(object, into: name) } }
        switch shape.slot(name) {
        case .toOne(let slot):
            let former = toOnes[slot]
            guard former !== object.objectID else { return }
            willChangeValue(forKey: name)
            toOnes[slot] = object.objectID
            didChangeValue(forKey: name)
            if let former, let inverse = shape.layout.toOnes[slot].inverseRelationship {
                related(former)?.letGo(of: self, by: inverse)
            }
        case .toMany(let slot):
            readBeforeAdding(object.reference, to: slot)
            guard toManys[slot].mayAdd(object.reference) else { return }
            willChangeValue(forKey: name)
            toManys[slot].add(object.reference)
            didChangeValue(forKey: name)
        default: break
        }
    }

    /// Lets go of `object`, whose link led here. A one-to-one has a link in each row: who was read
    /// before the link was made finds it in its own, else it would stay there.
    private func letGo(of object: NSManagedObject, by inverse: NSRelationshipDescription) {
        if !inverse.isToMany, !object.isInserted { meetRow(of: object, by: inverse.name) }
        unlink(object, from: inverse.name)
    }

    /// Lets go of `object`, without touching its end.
    final func unlink(_ object: NSManagedObject, from name: String) {
        if isFault { fire() }
        if isFault { return postpone { $0.unlink(object, from: name) } }
        switch shape.slot(name) {
        case .toOne(let slot) where toOnes[slot] === object.identity:
            willChangeValue(forKey: name)
            toOnes[slot] = nil
            didChangeValue(forKey: name)
        case .toMany(let slot):
            readBeforeRemoving(object.reference, from: slot)
            guard mayRemove(object.reference, from: slot) else { return }
            willChangeValue(forKey: name)
            toManys[slot].remove(object.reference)
            didChangeValue(forKey: name)
        default: break
        }
    }

    /// Sees to it that a link does not cross contexts: an object without one comes along.
    private func join(_ target: NSManagedObject) {
        switch (context, target.context) {
        case (let own?, let other?):
            if own !== other { ProgrammingMistake.crossingContexts() }
        case (let own?, nil): own.insert(target)
        case (nil, let other?): other.insert(self)
        case (nil, nil):
            withExtras { $0.companions.append(target) }
            target.withExtras { $0.companions.append(self) }
        }
    }
}
