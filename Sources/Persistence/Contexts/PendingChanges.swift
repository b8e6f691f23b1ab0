internal import Foundation

/// The objects of a context that changed, held so that they outlive the program's interest.
struct PendingChanges {
    /// Changed since the last save, in the order in which they first changed.
    private(set) var objects: [NSManagedObject] = []
    /// Those of them that a save would look at.
    var changed: [NSManagedObject] { objects.filter(\.isPending) }
    /// Changed since the last ObjectsDidChange notification.
    private(set) var event: [NSManagedObject] = []
    /// What is told of objects by the event that is being posted, for those that changed again.
    var posted: [ObjectIdentifier: EventChange] = [:]
    /// How many events are being posted, each by an observer of the one before.
    private var postings = 0
    /// What objects must know to fill themselves in.
    let awakening = AwakeningState()
    /// Deleted objects whose delete rules were not applied yet.
    var unpropagated: [NSManagedObject] = []
    /// Deleted objects that were shown other rows since: the next save lets their rules follow.
    var moved: [NSManagedObject] = []
    /// Objects whose rows the next save compares with what was read.
    var watched: [NSManagedObject] = []
    /// Stored members that to-manys were read without.
    var hidden: Set<HiddenMember> = []
    /// Objects whose rows turned out to be gone, and that others may still lead to.
    var gone: [NSManagedObjectID] = []
    /// What went wrong while a fault was filled in; the next save throws it.
    var failure: (any Error)?
    /// Changes of objects that could not be read yet.
    var postponed: [PostponedChange] = [] {
        didSet { awakening.hasPostponed = !postponed.isEmpty }
    }

    var isSuppressed: Bool { awakening.suppressions > 0 }
    /// Whether anything happened since the last ObjectsDidChange notification.
    var hasEvent: Bool { !event.isEmpty || !unpropagated.isEmpty }
    var isEmpty: Bool { postponed.isEmpty && !objects.contains { $0.isPending } }

    mutating func list(_ object: NSManagedObject) {
        guard !object.state.contains(.listed) else { return }
        object.state.insert(.listed)
        objects.append(object)
    }

    mutating func note(_ change: ObjectState, of object: NSManagedObject) {
        if object.state.isDisjoint(with: .event) { event.append(object) }
        object.state.insert(change)
    }

    /// Forgets what waited for something: failures, changes of unread objects, delete rules.
    mutating func forget() {
        failure = nil
        postponed = []
        unpropagated = []
        moved = []
        watched = []
    }

    func objects(_ change: ObjectState) -> [NSManagedObject] {
        objects.filter { $0.state.contains(change) && $0.isPending }
    }

    /// Takes the objects of the current event and begins the next. What changed in them can be
    /// read until `endPosting`.
    mutating func takeEvent() -> EventObjects {
        var taken = EventObjects(event)
        for (index, object) in event.enumerated() {
            taken.sort(object, at: index)
            object.state.subtract(.event)
            object.state.insert(.posted)
            if !object.state.isDisjoint(with: [.inserted, .updated]) {
                object.state.insert(.changedBefore)
            }
        }
        taken.endSorting()
        event = []
        postings += 1
        return taken
    }

    /// Everybody was told of the event.
    mutating func endPosting(_ taken: EventObjects) {
        for object in taken.all where object.state.contains(.posted) {
            object.state.remove(.posted)
            object.forgetEvent()
        }
        postings -= 1
        if postings == 0 { posted = [:] }
    }

    /// Takes those objects off the list that `isTaken` names.
    mutating func takeObjects(where isTaken: (NSManagedObject) -> Bool) {
        for object in objects where isTaken(object) {
            object.state.remove(.listed)
        }
        objects.removeAll(where: isTaken)
    }

    /// Takes all changed objects off the list; their other marks stay for the caller to clear.
    mutating func takeObjects() -> [NSManagedObject] {
        for object in objects { object.state.remove(.listed) }
        return takeList()
    }

    /// The same where the caller clears the mark of the list, too.
    mutating func takeList() -> [NSManagedObject] {
        defer { objects = [] }
        return objects
    }
}

extension NSManagedObject {
    /// Whether it counts as deleted only since its row was gone.
    final var isFoundGone: Bool { isDeleted && state.contains(.foundGone) }

    /// Whether a save has anything to do for the object; one that was never saved and is deleted
    /// has not.
    final var isPending: Bool {
        if state.contains(.deleted) { return !state.contains(.inserted) }
        return !state.isDisjoint(with: [.inserted, .updated])
    }
}

/// What one event did, by kind.
struct EventObjects {
    var inserted = ObjectList()
    var updated = ObjectList()
    var deleted = ObjectList()
    var refreshed = ObjectList()
    /// Also those that were made and deleted in the event.
    let all: [NSManagedObject]
    /// What happened to all that were sorted so far, which wait then to be taken together.
    private var common: ObjectState?

    /// The objects of an event, each to be sorted.
    init(_ objects: [NSManagedObject]) { all = objects }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
    }

    /// What a save would have to write.
    var changed: [NSManagedObject] { inserted.objects + updated.objects + deleted.objects }

    /// What counts of all that happened to an object.
    private static func deeds(_ state: ObjectState) -> ObjectState {
        switch (state.contains(.insertedNow), state.contains(.deletedNow)) {
        case (true, true): []
        case (true, false): .insertedNow
        case (false, true): .deletedNow
        case (false, false): state.intersection([.updatedNow, .refreshedNow])
        }
    }

    /// Sorts the object at `index` of `all`; called for one after the other. Mostly the same
    /// happened to all of them, and no list of their own is made.
    mutating func sort(_ object: NSManagedObject, at index: Int) {
        let deeds = Self.deeds(object.state)
        if index == 0 { common = deeds }
        if let common {
            if common == deeds { return }
            self.common = nil
            let former = all[..<index]
            take(common) { $0.objects += former }
        }
        take(deeds) { $0.objects.append(object) }
    }

    mutating func endSorting() {
        let all = all
        if let common { take(common) { $0.objects = all } }
        common = nil
    }

    private mutating func take(_ deeds: ObjectState, _ work: (inout ObjectList) -> Void) {
        if deeds.contains(.insertedNow) { work(&inserted) }
        if deeds.contains(.deletedNow) { work(&deleted) }
        if deeds.contains(.updatedNow) { work(&updated) }
        if deeds.contains(.refreshedNow) { work(&refreshed) }
    }
}

/// Objects in order, and as the set that notifications carry, which is made once.
struct ObjectList {
    // Before the list: the last to go are objects in the order in which they came, which is quicker
    // than that of a set.
    private(set) lazy var set = Set(objects)
    var objects: [NSManagedObject] = []

    var isEmpty: Bool { objects.isEmpty }

    /// Whether two arrays have the same objects in the same order. The references are compared as
    /// they stand there: to take them out one by one would touch every object to count it.
    private static func areSame(_ left: [NSManagedObject], _ right: [NSManagedObject]) -> Bool {
        left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in
                left.count == right.count
                    && zip(left.bindMemory(to: UInt.self), right.bindMemory(to: UInt.self))
                        .allSatisfy(==)
            }
        }
    }

    /// The set of `others`: this list's own where they are the same.
    mutating func set(of others: [NSManagedObject]) -> Set<NSManagedObject> {
        Self.areSame(objects, others) ? set : Set(others)
    }
}
