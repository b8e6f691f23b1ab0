internal import ObjectModel
internal import Stores

// The objects of several IDs: the table of objects is locked once for each run of IDs of one
// entity.
extension NSManagedObjectContext {
    /// The objects of some IDs that are here, in the order of the IDs.
    final func registered(_ ids: [NSManagedObjectID]) -> [NSManagedObject?] {
        var objects: [NSManagedObject?] = Array(repeating: nil, count: ids.count)
        forEachRun(of: ids) { run, space in
            guard let space else {
                for index in run { objects[index] = registry.object(ids[index]) }
                return
            }
            guard let known = registry.objects(ids[run].lazy.map(\.key), in: space) else { return }
            for (index, object) in zip(run, known) { objects[index] = object }
        }
        return objects
    }

    /// The objects of some IDs, in their order: those that are here, and new faults, with the rows
    /// that were read ahead for them.
    final func materialize(_ ids: [NSManagedObjectID]) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(ids.count)
        forEachRun(of: ids) { run, space in
            if let space {
                materialize(ids[run], in: space, into: &objects)
            } else {
                for index in run { objects.append(materialize(ids[index], nil)) }
            }
        }
        return objects
    }

    /// Calls `body` for each run of IDs of one space; nil is that of IDs without rows.
    private func forEachRun(
        of ids: [NSManagedObjectID], _ body: (Range<Int>, ObjectIDTable?) -> Void
    ) {
        var begin = 0
        while begin < ids.count {
            let space = ids[begin].space
            let end = ids[begin...].firstIndex { $0.space !== space } ?? ids.count
            body(begin..<end, space)
            begin = end
        }
    }

    private func materialize(
        _ ids: ArraySlice<NSManagedObjectID>, in space: ObjectIDTable,
        into objects: inout [NSManagedObject]
    ) {
        let known = registry.objects(ids.lazy.map(\.key), in: space)
        let shelf = registry.shelf(of: space)
        let shape = registry.shape(of: space.entity)
        let type = registry.type(for: shape)
        let rows = readAhead.knownTable(of: space)
        let begin = objects.count
        var made: [NSManagedObject] = []
        shape.expecting(type) { expected in
            for index in ids.indices {
                if let object = known?[index - ids.startIndex] {
                    objects.append(object)
                    continue
                }
                let row = rows?.take(ids[index].key)
                let object = row.map { make(expected, $0) } ?? make(expected, nil)
                object.madeID = ids[index]
                object.stand(on: shelf, at: ids[index].key)
                objects.append(object)
                made.append(object)
            }
        }
        guard !made.isEmpty else { return }
        for (index, other) in shelf.put(objects[begin...]) { objects[index] = other }
        if ObjectUseNotice.isUsed { for object in made { shelf.announce(object) } }
        settings.retained? += made
    }
}
