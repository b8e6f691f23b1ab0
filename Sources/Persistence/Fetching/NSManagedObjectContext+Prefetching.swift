internal import ObjectModel
internal import Stores

// Reading the rows of several objects at once.
extension NSManagedObjectContext {
    /// The objects of a query as faults; their rows are read `size` at a time when they are asked
    /// for.
    final func batchedObjects(
        matching query: ObjectQuery, size: Int, prefetching: [String]
    ) throws -> [NSManagedObject] {
        let objects = try ids(matching: query, includingPending: true).map { materialize($0, nil) }
        let unread = objects.filter { $0.isFault && !$0.hasRow }.map(\.objectID)
        readAhead.plan(unread, size: size, prefetching: prefetching) {
            registry.object($0)?.isFault == true
        }
        return objects
    }

    /// The values a fault is filled with: read before, or now with the rest of its batch.
    final func valuesForFault(_ object: NSManagedObject) throws -> ObjectSnapshot? {
        guard let id = object.identity else { return nil }
        if let row = readAhead.takeRow(of: id) { return row }
        guard let batch = readAhead.takeBatch(of: id) else {
            return try storedSnapshot(of: object)
        }
        let found = try readRows(of: Array(batch.ids))
        try prefetch(batch.prefetching, from: found)
        if let row = object.snapshot ?? readAhead.takeRow(of: id) { return row }
        // A row that is not in the context's generation need not be gone.
        return pin == nil ? nil : try storedSnapshot(of: object)
    }

    /// Reads rows, for objects that are here and for those to come.
    private func readRows(of ids: [NSManagedObjectID]) throws -> [FoundObject] {
        let found = try source?.snapshots(of: ids) ?? []
        for found in found {
            guard let snapshot = found.snapshot else { continue }
            if let object = registry.object(found.id) {
                if object.isFault && !object.hasRow { object.snapshot = snapshot }
            } else {
                readAhead.keep(snapshot, of: found.id)
            }
        }
        return found
    }

    /// Reads the rows of those objects that have no values yet.
    final func readRows(of objects: [NSManagedObject]) throws {
        let unread = objects.filter { $0.isFault && !$0.hasRow }
        _ = try readRows(of: unread.map(\.objectID))
    }

    // MARK: Relationships

    /// Reads what key paths of relationships lead to, each step with one question for each entity.
    final func prefetch(_ paths: [String], of objects: [NSManagedObject]) throws {
        guard !paths.isEmpty else { return }
        try prefetch(paths, from: objects.map { FoundObject(id: $0.objectID, snapshot: nil) })
    }

    private func prefetch(_ paths: [String], from found: [FoundObject]) throws {
        for path in paths {
            var ids = found.map(\.id)
            for key in path.split(separator: ".") where !ids.isEmpty {
                ids = try readEnds(of: String(key), from: ids)
            }
        }
    }

    /// Reads the rows a relationship leads to from any of `owners`, and returns their IDs.
    private func readEnds(
        of key: String, from owners: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID] {
        var ends: [NSManagedObjectID] = []
        var seen: Set<Reference> = []
        let groups = Dictionary(grouping: owners) { ObjectIdentifier($0.entity) }
        for owners in groups.values {
            guard let entity = owners.first?.entity else { continue }
            let targets: [NSManagedObjectID]
            switch ObjectLayout.of(entity).slot(key) {
            case .toOne(let slot): targets = owners.compactMap { target(of: $0, toOne: slot) }
            case .toMany(let slot): targets = try readMembers(of: owners, toMany: slot)
            default: throw PersistenceErrors.noRelationship(key, in: entity.name ?? "")
            }
            ends += targets.filter { seen.insert(Reference($0)).inserted }
        }
        _ = try readRows(of: ends.filter(isUnread))
        return ends
    }

    private func isUnread(_ id: NSManagedObjectID) -> Bool {
        guard let object = registry.object(id) else { return readAhead.row(of: id) == nil }
        return object.isFault && !object.hasRow
    }

    private func target(of owner: NSManagedObjectID, toOne slot: Int) -> NSManagedObjectID? {
        guard let object = registry.object(owner) else {
            return readAhead.row(of: owner)?.toOnes[slot]
        }
        return object.isFault ? object.snapshot?.toOnes[slot] : object.toOnes[slot]
    }

    private func readMembers(
        of owners: [NSManagedObjectID], toMany slot: Int
    ) throws -> [NSManagedObjectID] {
        let unread = owners.filter { owner in
            registry.object(owner).map { $0.isFault || !$0.toManys[slot].isLoaded } ?? true
        }
        let members = try source?.members(of: unread, toMany: slot) ?? []
        for (owner, members) in zip(unread, members) {
            readAhead.keep(members, of: owner, toMany: slot)
        }
        return members.flatMap { $0 }
    }
}
