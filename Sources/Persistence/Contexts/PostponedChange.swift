internal import Foundation

/// A change to an object whose row or members could not be read when it was made.
///
/// It is made as soon as they can be; until then no save writes anything, so that neither the
/// change nor what stands in the store gets lost.
struct PostponedChange {
    let object: NSManagedObject
    /// The to-many whose members are needed; nil where the row is.
    let members: Int?
    let work: (NSManagedObject) -> Void

    /// Whether what was missing is here now.
    var isPossible: Bool {
        guard !object.isFault else { return false }
        return members.map { object.toManys[$0].isLoaded } ?? true
    }

    /// Tries to read what was missing.
    func read() {
        object.fire()
        if let members, !object.isFault { object.load(members) }
    }
}

extension NSManagedObject {
    /// Keeps `work` until the object can be read. Where it belongs to no context, there is nothing
    /// to read.
    final func postpone(
        members: Int? = nil, _ work: @escaping (NSManagedObject) -> Void
    ) {
        guard let context else { return }
        context.pending.postponed.append(
            PostponedChange(object: self, members: members, work: work))
        context.noteUpdate(of: self)
    }
}

extension NSManagedObjectContext {
    /// Makes the changes of an object that waited for it to be read.
    final func makePostponed(of object: NSManagedObject) {
        guard !pending.postponed.isEmpty else { return }
        let all = pending.postponed
        pending.postponed = all.filter { $0.object !== object || !$0.isPossible }
        for change in all where change.object === object && change.isPossible {
            change.work(object)
        }
    }

    /// Forgets the changes of an object that waited for it to be read.
    final func dropPostponed(of object: NSManagedObject) {
        guard !pending.postponed.isEmpty else { return }
        pending.postponed.removeAll { $0.object === object }
    }

    /// Before a save: reads what could not be read when it was changed. Throws the store's failure
    /// where it still cannot.
    final func readUnread() throws {
        // Mostly one look at each object tells that all is here.
        let isHere =
            pending.postponed.isEmpty
            && pending.objects.allSatisfy { $0.state.isDisjoint(with: [.fault, .inaccessible]) }
        if isHere { return }
        forgetGone()
        for change in pending.postponed {
            change.read()
            makePostponed(of: change.object)
        }
        for object in pending.objects where object.isPending { object.fire() }
        let isUnread =
            !pending.postponed.isEmpty || pending.objects.contains { $0.isPending && $0.isFault }
        if isUnread { throw takeFailure() }
    }

    /// What went wrong while something was read, to be thrown now.
    final func takeFailure() -> any Error {
        defer { pending.failure = nil }
        return PersistenceErrors.translate(pending.failure ?? PersistenceErrors.unreadObject)
    }

    /// Runs `work`, which reads; throws what went wrong in it, and nothing that went wrong before.
    final func reading<Value>(_ work: () throws -> Value) throws -> Value {
        let former = pending.failure
        pending.failure = nil
        defer { pending.failure = former }
        let value = try work()
        if let failure = pending.failure { throw failure }
        return value
    }

    /// Lets go of objects that another context deleted, which leaves nothing to save.
    private func forgetGone() {
        let isGone = { (object: NSManagedObject) in
            object.state.contains(.inaccessible) && object.isDeleted
        }
        let gone = pending.objects.filter(isGone)
        guard !gone.isEmpty else { return }
        for object in gone {
            registry.unregister(object)
            object.leaveContext()
        }
        let left = Set(gone.lazy.filter { $0.shelf == nil }.map(ObjectIdentifier.init))
        pending.takeObjects { left.contains(ObjectIdentifier($0)) }
    }
}
