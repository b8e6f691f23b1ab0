internal import Stores

/// A parent context as the source of its children's objects.
struct ParentSource: ObjectSource {
    let parent: NSManagedObjectContext

    func snapshot(of id: NSManagedObjectID) throws -> ObjectSnapshot? {
        try inParent { try snapshot(of: parent.object(with: id)) }
    }

    private func snapshot(of object: NSManagedObject) throws -> ObjectSnapshot? {
        object.fire()
        if object.isFault { throw parent.takeFailure() }
        guard !object.isDeleted, !object.state.contains(.inaccessible) else { return nil }
        return ObjectSnapshot(
            version: object.snapshot?.version ?? 0, attributes: object.attributes,
            toOnes: object.toOnes)
    }

    func members(of id: NSManagedObjectID, toMany slot: Int) throws -> [NSManagedObjectID] {
        try inParent {
            let owner = parent.object(with: id)
            owner.fire()
            owner.load(slot)
            return owner.toManys[slot].all.map(\.id)
        }
    }

    func snapshots(of ids: [NSManagedObjectID]) throws -> [FoundObject] {
        try inParent {
            try ids.map { FoundObject(id: $0, snapshot: try snapshot(of: parent.object(with: $0))) }
        }
    }

    func members(
        of ids: [NSManagedObjectID], toMany slot: Int
    ) throws -> [[NSManagedObjectID]] {
        try ids.map { try members(of: $0, toMany: slot) }
    }

    func find(_ query: ObjectQuery) throws -> [FoundObjects] {
        let found = try inParent {
            try parent.objects(matching: query, includingPending: true).map {
                FoundObject(id: $0.objectID, snapshot: try snapshot(of: $0))
            }
        }
        return [.objects(found)]
    }

    func findIDs(_ query: ObjectQuery) throws -> [NSManagedObjectID] {
        try inParent { try parent.ids(matching: query, includingPending: true) }
    }

    func count(_ query: ObjectQuery) throws -> Int {
        try inParent { try parent.count(matching: query, includingPending: true) }
    }

    func answersWhole(_ query: ObjectQuery) -> Bool { true }

    private func inParent<Value>(_ work: () throws -> Value) throws -> Value {
        try parent.queue.run(isReading: true) {
            Result { try parent.reading(work) }
        }.get()
    }
}
