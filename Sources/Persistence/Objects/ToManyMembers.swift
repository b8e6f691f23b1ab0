internal import Foundation

/// An object's name for another within a context; compares by identity, since IDs are interned.
struct Reference: Hashable {
    let id: NSManagedObjectID

    init(_ id: NSManagedObjectID) { self.id = id }

    static func == (left: Reference, right: Reference) -> Bool { left.id === right.id }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(id)) }
}

/// The members of one to-many relationship of one object, with what changed since the last save.
///
/// Members may be added and removed before the stored ones were ever read.
struct ToManyMembers {
    let isOrdered: Bool
    /// The members; nil until the stored ones were read, and while `listed` has them.
    private var distinct: Set<Reference>?
    /// The stored members of an unordered relationship as they were read, in the order of their
    /// keys, which takes less than a set of them and is gone through faster. Nil from the first
    /// change on.
    private var listed: KeyedMembers?
    /// The order of `current`, for ordered relationships; of what was added, before it is read.
    private(set) var sequence: [Reference] = []
    private(set) var added: Set<Reference> = []
    private(set) var removed: Set<Reference> = []
    private(set) var isReordered = false
    /// The order before the first change, of ordered relationships; nil where nothing tells it, and
    /// while `sequence` is it.
    private var formerOrder: [Reference]?
    /// The members' objects, once they were asked for.
    private(set) var held: HeldMembers?

    init(isOrdered: Bool, members: [Reference]? = nil) {
        self.isOrdered = isOrdered
        if let members { load(members) }
    }

    var isLoaded: Bool { listed != nil || distinct != nil }
    var isChanged: Bool { isReordered || !added.isEmpty || !removed.isEmpty }

    /// All members: in order where ordered.
    var all: [Reference] { isOrdered ? sequence : listed?.members ?? Array(distinct ?? []) }
    var count: Int { listed?.members.count ?? distinct?.count ?? 0 }

    /// What was added: in the order in which it stands here, where ordered.
    var addedInOrder: [Reference] {
        isOrdered ? sequence.filter(added.contains) : Array(added)
    }

    /// The members, in no order; nil until the stored ones were read. Cost: O(members) where
    /// nothing was changed yet.
    var current: Set<Reference>? { listed.map { Set($0.members) } ?? distinct }

    /// Whether `member` is here; nil until the stored ones were read.
    func contains(_ member: Reference) -> Bool? {
        listed?.contains(member) ?? distinct?.contains(member)
    }

    /// Makes the set that changes need.
    private mutating func settle() {
        guard let listed else { return }
        distinct = Set(listed.members)
        self.listed = nil
    }

    private mutating func keep(_ members: Set<Reference>?) {
        (distinct, listed) = (members, nil)
        formerOrder = nil
    }

    /// Keeps the order that the first change finds.
    private mutating func noteOrder() {
        if isOrdered, isLoaded, !isChanged { formerOrder = sequence }
    }

    /// An order that is the former one again is no change.
    private mutating func settleOrder() {
        guard isReordered, added.isEmpty, removed.isEmpty, formerOrder == sequence else { return }
        isReordered = false
    }

    /// Takes the stored members, but for hidden ones, and applies what was changed meanwhile.
    mutating func load(_ stored: [Reference], hiding hidden: Set<Reference> = []) {
        held = nil
        guard !added.isEmpty || !removed.isEmpty || !hidden.isEmpty else {
            if isOrdered { sequence = stored }
            listed = isOrdered ? nil : KeyedMembers(stored)
            distinct = listed == nil ? Set(stored) : nil
            return
        }
        let known = Set(stored)
        added.subtract(known)
        removed.formIntersection(known)
        let absent = removed.union(hidden)
        let members = known.subtracting(absent).union(added)
        if isOrdered {
            sequence =
                stored.filter { !absent.contains($0) } + sequence.filter { added.contains($0) }
        }
        keep(members)
        if isOrdered, hidden.isSubset(of: removed) { formerOrder = stored }
    }

    /// Takes what is stored by now below an order that was changed: members that came go to the end
    /// of an order of its own, those that went leave it.
    mutating func rebase(onto stored: [Reference], hiding hidden: Set<Reference>) {
        let own = sequence
        load(stored, hiding: hidden)
        if isReordered { reorder(own) }
    }

    /// Whether `member` was not there already, as far as is known.
    @discardableResult
    mutating func add(_ member: Reference, at index: Int? = nil) -> Bool {
        guard mayAdd(member) else { return false }
        held = nil
        settle()
        noteOrder()
        let isBack = removed.remove(member) != nil
        if !isBack { added.insert(member) }
        guard distinct != nil else {
            // One that is back has its stored place.
            if isOrdered && !isBack { sequence.append(member) }
            return true
        }
        distinct?.insert(member)
        if isOrdered {
            let end = sequence.count
            sequence.insert(member, at: min(max(index ?? end, 0), end))
            if isBack || index.map({ $0 < end }) == true { isReordered = true }
            settleOrder()
        }
        return true
    }

    /// Counts a removed member as never removed: where no order of its own stands here, the stored
    /// one tells its place.
    mutating func putBack(_ member: Reference) {
        let keepsOrder = isReordered
        add(member)
        if isOrdered && !keepsOrder { unloadOrder() }
    }

    /// Whether `member` can be added: it is not here, as far as is known.
    func mayAdd(_ member: Reference) -> Bool {
        !(contains(member) ?? added.contains(member))
    }

    /// Whether `member` can be removed: it is here, as far as is known.
    func mayRemove(_ member: Reference) -> Bool {
        contains(member) ?? !removed.contains(member)
    }

    @discardableResult
    mutating func remove(_ member: Reference) -> Bool {
        guard mayRemove(member) else { return false }
        held = nil
        settle()
        noteOrder()
        if added.remove(member) == nil { removed.insert(member) }
        distinct?.remove(member)
        if isOrdered, let index = sequence.firstIndex(of: member) {
            sequence.remove(at: index)
            settleOrder()
        }
        return true
    }

    /// Gives the members a new order. Members that are not named keep theirs, at the end.
    mutating func reorder(_ order: [Reference]) {
        guard isOrdered, order != sequence else { return }
        held = nil
        noteOrder()
        let named = Set(order)
        let here = distinct ?? added
        sequence = order.filter(here.contains) + sequence.filter { !named.contains($0) }
        // Of members that were not read, only those that were added have an order to be changed.
        if isLoaded { isReordered = true }
        settleOrder()
    }

    /// Lets go of a member that is gone in the store, too, so that this is no change.
    mutating func forget(_ member: Reference) {
        held = nil
        settle()
        added.remove(member)
        removed.remove(member)
        distinct?.remove(member)
        sequence.removeAll { $0 == member }
        formerOrder?.removeAll { $0 == member }
    }

    /// The same for several, whether the stored members were read or not.
    mutating func forget(_ gone: Set<Reference>) {
        for member in touched(by: gone) { forget(member) }
    }

    /// Those of several that are members, or were added or removed. Cost: O(members) or O(others),
    /// whichever is less; nothing where no member was read or changed.
    func touched(by others: Set<Reference>) -> Set<Reference> {
        guard isLoaded || !added.isEmpty || !removed.isEmpty else { return [] }
        guard others.count > count + added.count + removed.count else {
            return others.filter {
                contains($0) == true || added.contains($0) || removed.contains($0)
            }
        }
        return others.intersection(all).union(others.intersection(added.union(removed)))
    }

    /// Counts a member that the store has no more as added again.
    mutating func restore(_ member: Reference) {
        held = nil
        settle()
        if contains(member) == true { added.insert(member) } else { add(member) }
        formerOrder = nil
    }

    /// Keeps the members' objects for as long as the members stay the same.
    mutating func hold(_ collection: Any) { held = HeldMembers(collection) }

    mutating func letGo() { held = nil }

    /// What was changed is stored now.
    mutating func commit() {
        added.removeAll()
        removed.removeAll()
        isReordered = false
        formerOrder = nil
        if !isLoaded { sequence = [] }
    }

    /// What changed since the members were as `base` has them; since they were read, where nil.
    func change(since base: ToManyMembers?) -> MemberChange {
        guard let base else { return MemberChange(added: added, removed: removed) }
        var change = MemberChange(
            added: added.subtracting(base.added).union(base.removed.subtracting(removed)),
            removed: removed.subtracting(base.removed).union(base.added.subtracting(added)))
        if let current, let former = base.current {
            change.added = current.subtracting(former)
            change.removed = former.subtracting(current)
        }
        if isOrdered && base.isLoaded && base.sequence != sequence { change.order = base.sequence }
        return change
    }

    /// Takes a change back.
    mutating func takeBack(_ change: MemberChange) {
        for member in change.added { remove(member) }
        for member in change.removed { add(member) }
        if let order = change.order { reorder(order) }
    }

    /// The members without what was changed; in their former order where that is known.
    var asStored: ToManyMembers {
        var stored = self
        stored.takeBack(MemberChange(added: added, removed: removed, order: formerOrder))
        return stored
    }

    /// Counts all members as added: those of an object that is to be stored anew.
    mutating func becomeNew() {
        if !isLoaded { load([]) }
        settle()
        added = distinct ?? []
        removed = []
        isReordered = false
        formerOrder = nil
    }

    /// Shows a stored member that was hidden; at the end where a new order is kept.
    mutating func reveal(_ member: Reference) {
        // Where no order of its own stands here, the stored one tells the member's place.
        if isOrdered && !isReordered { unloadOrder() } else { unload() }
        settle()
        guard distinct != nil, !removed.contains(member), mayAdd(member) else { return }
        held = nil
        distinct?.insert(member)
        if isOrdered { sequence.append(member) }
        formerOrder = nil
    }

    /// Forgets what was read; what was changed stays, and so does an order that was changed.
    mutating func unload() {
        guard !isOrdered || !isChanged else { return }
        keep(nil)
        sequence = []
        held = nil
    }

    /// The same where an order is of no use any more: that of what is deleted.
    mutating func unloadOrder() {
        keep(nil)
        sequence = sequence.filter(added.contains)
        isReordered = false
        held = nil
    }

    /// Forgets what was read and what was changed.
    mutating func discard() {
        commit()
        unload()
    }
}

/// Members in the order of their keys, each once, all of one space.
struct KeyedMembers {
    let members: [Reference]

    /// Nil for members that do not come so.
    init?(_ members: [Reference]) {
        if let space = members.first?.id.space {
            var last: Int64?
            for member in members {
                guard member.id.isRow(of: space), last.map({ $0 < member.id.key }) ?? true else {
                    return nil
                }
                last = member.id.key
            }
        } else if !members.isEmpty {
            return nil
        }
        self.members = members
    }

    /// Cost: O(log members).
    func contains(_ member: Reference) -> Bool {
        var (low, high) = (0, members.count)
        while low < high {
            let middle = (low + high) / 2
            if members[middle].id.key < member.id.key { low = middle + 1 } else { high = middle }
        }
        return low < members.count && members[low] == member
    }
}

/// How the members of a to-many changed.
struct MemberChange {
    var added: Set<Reference>
    var removed: Set<Reference>
    /// The former order, where it is another.
    var order: [Reference]?

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && order == nil }
}

/// The objects of a to-many, as the program gets them.
final class HeldMembers {
    let collection: Any

    init(_ collection: Any) { self.collection = collection }
}
