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
    /// Nil until the stored members were read.
    private(set) var current: Set<Reference>?
    /// The order of `current`, for ordered relationships.
    private(set) var sequence: [Reference] = []
    private(set) var added: Set<Reference> = []
    private(set) var removed: Set<Reference> = []
    private(set) var isReordered = false

    init(isOrdered: Bool, members: [Reference]? = nil) {
        self.isOrdered = isOrdered
        if let members { load(members) }
    }

    var isLoaded: Bool { current != nil }
    var isChanged: Bool { isReordered || !added.isEmpty || !removed.isEmpty }

    /// All members: in order where ordered.
    var all: [Reference] { isOrdered ? sequence : Array(current ?? []) }
    var count: Int { current?.count ?? 0 }

    /// Takes the stored members and applies what was changed meanwhile.
    mutating func load(_ stored: [Reference]) {
        let known = Set(stored)
        added.subtract(known)
        removed.formIntersection(known)
        let members = known.subtracting(removed).union(added)
        if isOrdered {
            sequence =
                stored.filter { !removed.contains($0) } + added.filter { !known.contains($0) }
        }
        current = members
    }

    /// Whether `member` was not there already, as far as is known.
    @discardableResult
    mutating func add(_ member: Reference, at index: Int? = nil) -> Bool {
        if let current, current.contains(member) { return false }
        if current == nil && added.contains(member) { return false }
        if removed.remove(member) == nil {
            added.insert(member)
        } else if isOrdered {
            isReordered = true
        }
        guard current != nil else { return true }
        current?.insert(member)
        if isOrdered {
            let end = sequence.count
            sequence.insert(member, at: min(max(index ?? end, 0), end))
            if let index, index < end { isReordered = true }
        }
        return true
    }

    @discardableResult
    mutating func remove(_ member: Reference) -> Bool {
        if let current, !current.contains(member) { return false }
        if current == nil && removed.contains(member) { return false }
        if added.remove(member) == nil { removed.insert(member) }
        current?.remove(member)
        if isOrdered, let index = sequence.firstIndex(of: member) { sequence.remove(at: index) }
        return true
    }

    /// Gives the members a new order. Members that are not named keep theirs, at the end.
    mutating func reorder(_ order: [Reference]) {
        guard isOrdered, order != sequence else { return }
        let named = Set(order)
        sequence =
            order.filter { current?.contains($0) == true }
            + sequence.filter { !named.contains($0) }
        isReordered = true
    }

    /// What was changed is stored now.
    mutating func commit() {
        added.removeAll()
        removed.removeAll()
        isReordered = false
    }

    /// Forgets what was read; what was changed stays, and so does an order that was changed.
    mutating func unload() {
        guard !isOrdered || !isChanged else { return }
        current = nil
        sequence = []
    }

    /// Forgets what was read and what was changed.
    mutating func discard() {
        commit()
        unload()
    }
}
