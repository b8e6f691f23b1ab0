internal import Foundation
internal import ObjectModel
internal import Stores

// Making objects of what is stored.
extension NSManagedObjectContext {
    /// The object of `id`: the one that is here, or a new fault that keeps `found` until it is
    /// filled in.
    final func materialize(_ id: NSManagedObjectID, _ found: ObjectSnapshot?) -> NSManagedObject {
        if let known = registry.object(id) {
            if known.isFault, let found { known.snapshot = found }
            return known
        }
        let shape = registry.shape(of: id.entity)
        let type = registry.type(for: shape)
        let object = shape.expecting(type) { make($0, found) }
        object.madeID = id
        registry.register(object)
        settings.retained?.append(object)
        return object
    }

    /// The objects of what a query found, in order.
    final func materialize(_ found: [FoundObjects], refreshing: Bool) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        var refetched: [RefetchedObject]? = refreshing ? [] : nil
        for part in found {
            switch part {
            case .packs(let packs, let store):
                materialize(packs, of: store, &refetched, into: &objects)
            case .objects(let members):
                for member in members {
                    let object = materialize(member.id, member.snapshot)
                    if object.isFoundGone { _ = lookForReturned(object) }
                    if let snapshot = member.snapshot {
                        refetched?.append(RefetchedObject(object: object, row: snapshot))
                    }
                    objects.append(object)
                }
            case .rows(let found):
                var rows = found.take()
                objects.reserveCapacity(objects.count + rows.count)
                var begin = 0
                while begin < rows.count {
                    let entity = rows[begin].id.entity
                    let end = rows[begin...].firstIndex { $0.id.entity != entity } ?? rows.count
                    materialize(&rows, begin..<end, of: found.store, &refetched, into: &objects)
                    begin = end
                }
            }
        }
        if let refetched { refresh(refetched) }
        return objects
    }

    /// The objects of rows of one entity: the table of objects is locked once to look for all of
    /// them, and once to put up those that are new.
    private func materialize(
        _ rows: inout [Row], _ run: Range<Int>, of store: NSPersistentStore,
        _ refetched: inout [RefetchedObject]?, into objects: inout [NSManagedObject]
    ) {
        let space = store.space(rows[run.lowerBound].id.entity)
        let shelf = registry.shelf(of: space)
        let shape = registry.shape(of: space.entity)
        let type = registry.type(for: shape)
        let known = registry.objects(rows[run].lazy.map(\.id.key), in: space)
        let begin = objects.count
        shape.expecting(type) { expected in
            for index in run {
                if let object = known?[index - run.lowerBound] {
                    updateRegistered(object, rows[index], of: store, &refetched)
                    objects.append(object)
                } else {
                    let object = make(expected, store.snapshot(consuming: &rows[index]))
                    object.stand(on: shelf, at: rows[index].id.key)
                    settings.retained?.append(object)
                    objects.append(object)
                }
            }
        }
        // A class's own initializer may have fetched some of them.
        for (index, other) in shelf.put(objects[begin...]) { objects[index] = other }
    }

    /// A query found the row of an object that is here.
    private func updateRegistered(
        _ object: NSManagedObject, _ row: Row, of store: NSPersistentStore,
        _ refetched: inout [RefetchedObject]?
    ) {
        if object.isFault {
            // What was read last is what the fault is filled with.
            guard object.storedVersion != row.version else { return }
            object.snapshot = store.snapshot(row)
        } else if object.isFoundGone {
            // Its row is back.
            showReturned(object, store.snapshot(row))
        } else if refetched != nil {
            refetched?.append(RefetchedObject(object: object, row: store.snapshot(row)))
        }
    }

    /// A new object of the expected type, as a fault that keeps `found` until it is filled in.
    final func make(
        _ expected: ObjectLayout.Expectation, _ found: ObjectSnapshot?
    ) -> NSManagedObject {
        let object = expected.type.init(entity: expected.shape.entity, insertInto: nil)
        object.contents = ObjectContents(snapshot: found)
        object.state = QueueGuard.isOn ? [.fault, .guarded] : .fault
        object.toManys = expected.shape.unloadedToManys
        // Only a new object begins with default values.
        if !expected.shape.transientDefaults.isEmpty { object.extras?.transients = [:] }
        return object
    }

    /// The same with a row. The object begins with it, and so without the default values, which
    /// would be copied for nothing.
    final func make(
        _ expected: ObjectLayout.Expectation, _ row: PackedRow
    ) -> NSManagedObject {
        expected.row = row
        let object = expected.type.init(entity: expected.shape.entity, insertInto: nil)
        if object.packed == nil || object.state.contains(.ownValues) {
            // The class's own initializer changed what the object began with.
            expected.row = nil
            object.contents = ObjectContents()
            object.packed = row
        }
        object.state = QueueGuard.isOn ? [.fault, .guarded] : .fault
        if !object.toManys.isEmpty { object.toManys = expected.shape.unloadedToManys }
        return object
    }
}
