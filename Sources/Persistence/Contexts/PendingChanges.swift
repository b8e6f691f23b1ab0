internal import Foundation

/// The objects of a context that changed, held so that they outlive the program's interest.
struct PendingChanges {
    /// Changed since the last save, in the order in which they first changed.
    private(set) var objects: [NSManagedObject] = []
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
    /// Objects whose rows the next save compares with what was read.
    var watched: [NSManagedObject] = []
    /// Stored members that to-manys were read without.
    var hidden: Set<HiddenMember> = []
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
        watched = []
    }

    func objects(_ change: ObjectState) -> [NSManagedObject] {
        objects.filter { $0.state.contains(change) && $0.isPending }
    }

    /// Takes the objects of the current event and begins the next. What changed in them can be
    /// read until `endPosting`.
    mutating func takeEvent() -> EventObjects {
        var taken = EventObjects()
        for object in event {
            taken.add(object)
            object.state.subtract(.event)
            object.state.insert(.posted)
            if !object.state.isDisjoint(with: [.inserted, .updated]) {
                object.state.insert(.changedBefore)
            }
        }
        taken.all = event
        event.removeAll()
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

    /// Takes all changed objects off the list; their marks stay for the caller to clear.
    mutating func takeObjects() -> [NSManagedObject] {
        for object in objects { object.state.remove(.listed) }
        defer { objects.removeAll() }
        return objects
    }
}

extension NSManagedObject {
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
    fileprivate(set) var all: [NSManagedObject] = []

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty
    }

    /// What a save would have to write.
    var changed: [NSManagedObject] { inserted.objects + updated.objects + deleted.objects }

    mutating func add(_ object: NSManagedObject) {
        let state = object.state
        switch (state.contains(.insertedNow), state.contains(.deletedNow)) {
        case (true, true): return
        case (true, false): inserted.objects.append(object)
        case (false, true): deleted.objects.append(object)
        case (false, false):
            if state.contains(.updatedNow) { updated.objects.append(object) }
            if state.contains(.refreshedNow) { refreshed.objects.append(object) }
        }
    }
}

/// Objects in order, and as the set that notifications carry, which is made once.
struct ObjectList {
    // Before the list: the last to go are objects in the order in which they came, which is quicker
    // than that of a set.
    private(set) lazy var set = Set(members: objects)
    var objects: [NSManagedObject] = []

    var isEmpty: Bool { objects.isEmpty }

    /// The set of `others`: this list's own where they are the same.
    mutating func set(of others: [NSManagedObject]) -> Set<NSManagedObject> {
        objects.elementsEqual(others, by: ===) ? set : Set(members: others)
    }
}
