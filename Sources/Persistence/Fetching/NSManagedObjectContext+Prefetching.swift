internal import ObjectModel
internal import Stores

// Reading the rows of several objects at once.
extension NSManagedObjectContext {
    /// The objects of a query as faults; their rows are read `size` at a time when they are asked
    /// for.
    final func batchedObjects(
        matching query: ObjectQuery, size: Int, prefetching: [String]
    ) throws -> [NSManagedObject] {
        let objects = materialize(try ids(matching: query, includingPending: true))
        let unread = objects.filter { $0.isFault && !$0.hasRow }.map(\.objectID)
        readAhead.plan(unread, size: size, prefetching: prefetching) {
            registry.object($0)?.isFault == true
        }
        return objects
    }

    /// Gives a fault its row, where there is one: read before, or now with the rest of its batch.
    final func readFault(_ object: NSManagedObject) throws {
        guard let id = object.identity else { return }
        if takeRow(for: object, id) { return }
        if let batch = readAhead.takeBatch(of: id) {
            let ids = Array(batch.ids)
            try readRows(of: ids)
            try prefetch(batch.prefetching, from: ids)
            if object.hasRow || takeRow(for: object, id) { return }
            // A row that is not in the context's generation need not be gone.
            if pin == nil { return }
        }
        if let found = try storedSnapshot(of: object) { object.snapshot = found }
    }

    /// Gives a fault the row that was read ahead for it; false where none was.
    private func takeRow(for object: NSManagedObject, _ id: NSManagedObjectID) -> Bool {
        if let space = id.space, let row = readAhead.knownTable(of: space)?.take(id.key) {
            object.keep(row)
        } else if let row = readAhead.takeRow(of: id) {
            object.snapshot = row
        } else {
            return false
        }
        return true
    }

    /// Reads rows, for objects that are here and for those to come.
    final func readRows(of ids: [NSManagedObjectID]) throws {
        guard let first = ids.first else { return }
        if let space = first.space, let store = first.persistentStore,
            ids.allSatisfy({ $0.space === space }), let source = source as? StoreSource,
            let packs = try source.packs(ids.compactMap(\.rowID), of: store)
        {
            return keep(packs, in: space)
        }
        for found in try source?.snapshots(of: ids) ?? [] {
            guard let snapshot = found.snapshot else { continue }
            if let object = registry.object(found.id) {
                if object.isFault && !object.hasRow { object.snapshot = snapshot }
            } else {
                readAhead.keep(snapshot, of: found.id)
            }
        }
    }

    private func keep(_ packs: [RowPack], in space: ObjectIDTable) {
        let table = readAhead.table(of: space)
        table.makeRoom(for: packs.reduce(0) { $0 + $1.count })
        for pack in packs {
            let known = registry.objects((0..<pack.count).lazy.map(pack.key), in: space)
            guard let known else {
                table.keep(pack, rows: 0..<pack.count)
                continue
            }
            for (index, object) in known.enumerated() {
                guard let object, object.isFault, !object.hasRow else { continue }
                object.keep(PackedRow(pack: pack, index: index))
            }
            table.keep(pack, rows: known.indices.filter { known[$0] == nil })
        }
    }

    /// Reads the rows of those objects that have no values yet.
    final func readRows(of objects: [NSManagedObject]) throws {
        let unread = objects.filter { $0.isFault && !$0.hasRow }
        try readRows(of: unread.map(\.objectID))
    }

    // MARK: Relationships

    /// Reads what key paths of relationships lead to, each step with one question for each entity.
    final func prefetch(_ paths: [String], of objects: [NSManagedObject]) throws {
        guard !paths.isEmpty else { return }
        try prefetch(paths, from: objects.map(\.objectID))
    }

    private func prefetch(_ paths: [String], from owners: [NSManagedObjectID]) throws {
        for path in paths {
            var ids = owners
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
            guard let shape = owners.first.map({ ObjectLayout.of($0.entity) }) else { continue }
            switch shape.slot(key) {
            case .toOne(let slot):
                let targets = owners.compactMap { target(of: $0, toOne: slot) }
                ends += targets.filter { seen.insert(Reference($0)).inserted }
            case .toMany(let slot):
                let members = try readMembers(of: owners, toMany: slot)
                // A member with one owner comes once.
                let inverse = shape.layout.toManys[slot].inverseRelationship
                let isOneToMany = inverse.map { !$0.isToMany } ?? false
                ends +=
                    isOneToMany ? members : members.filter { seen.insert(Reference($0)).inserted }
            default: throw PersistenceErrors.noRelationship(key, in: shape.layout.name)
            }
        }
        try readRows(of: unread(ends))
        return ends
    }

    /// Those of some IDs whose rows nobody has.
    final func unread(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        let here = registered(ids)
        if readAhead.hasNoRows, here.allSatisfy({ $0 == nil }) { return ids }
        return zip(ids, here).filter { id, object in
            if let object { return object.isFault && !object.hasRow }
            if let space = id.space, readAhead.knownTable(of: space)?.row(of: id.key) != nil {
                return false
            }
            return readAhead.row(of: id) == nil
        }.map(\.0)
    }

    private func target(of owner: NSManagedObjectID, toOne slot: Int) -> NSManagedObjectID? {
        guard let object = registry.object(owner) else {
            return readAhead.row(of: owner)?.toOnes[slot] ?? targetReadAhead(of: owner, slot)
        }
        return object.isFault ? object.snapshot?.toOnes[slot] : object.toOnes[slot]
    }

    private func targetReadAhead(of owner: NSManagedObjectID, _ slot: Int) -> NSManagedObjectID? {
        guard let space = owner.space, let store = owner.persistentStore else { return nil }
        return readAhead.knownTable(of: space)?.row(of: owner.key)?.target(slot).map(store.id)
    }

    private func readMembers(
        of owners: [NSManagedObjectID], toMany slot: Int
    ) throws -> [NSManagedObjectID] {
        let unread = zip(owners, registered(owners)).filter { _, object in
            object.map { $0.isFault || !$0.toManys[slot].isLoaded } ?? true
        }.map(\.0)
        let members = try source?.members(of: unread, toMany: slot) ?? []
        for (owner, members) in zip(unread, members) {
            readAhead.keep(members, of: owner, toMany: slot)
        }
        return members.flatMap { $0 }
    }
}
