internal import Foundation
internal import ObjectModel
internal import Stores

// Making objects of what is stored.
extension NSManagedObjectContext {
    /// The object of `id`: the one that is here, or a new fault that keeps `found` until it is
    /// filled in.
    final func materialize(_ id: NSManagedObjectID, _ found: ObjectSnapshot?) -> NSManagedObject {
        if let known = registry.object(id) {
            if known.isFault && known.snapshot == nil { known.snapshot = found }
            return known
        }
        let shape = registry.shape(of: id.entity)
        let type = registry.type(for: shape)
        let object = shape.expecting { make(shape, type, found) }
        object.madeID = id
        registry.register(object)
        settings.retained?.append(object)
        return object
    }

    /// The objects of what a query found, in order.
    final func materialize(_ found: [FoundObjects], refreshing: Bool) -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        for part in found {
            switch part {
            case .objects(let members):
                for member in members {
                    let object = materialize(member.id, member.snapshot)
                    if refreshing, let snapshot = member.snapshot { object.rebase(onto: snapshot) }
                    objects.append(object)
                }
            case .rows(let rows, let store):
                objects.reserveCapacity(objects.count + rows.count)
                var rest = rows[...]
                while let first = rest.first {
                    let run = rest.prefix { $0.id.entity == first.id.entity }
                    materialize(run, of: store, refreshing, into: &objects)
                    rest = rest[run.endIndex...]
                }
            }
        }
        return objects
    }

    /// The objects of rows of one entity: the table of objects is locked once to look for all of
    /// them, and once to put up those that are new.
    private func materialize(
        _ rows: ArraySlice<Row>, of store: NSPersistentStore, _ refreshing: Bool,
        into objects: inout [NSManagedObject]
    ) {
        let space = store.space(rows[rows.startIndex].id.entity)
        let shelf = registry.shelf(of: space)
        let shape = registry.shape(of: space.entity)
        let type = registry.type(for: shape)
        let known = known(rows, in: space, on: shelf)
        let begin = objects.count
        shape.expecting {
            for (index, row) in rows.enumerated() {
                if let object = known?[index] {
                    meet(object, row, of: store, refreshing)
                    objects.append(object)
                } else {
                    let object = make(shape, type, store.snapshot(row))
                    object.stand(on: shelf, at: row.id.key)
                    objects.append(object)
                }
            }
        }
        // A class's own initializer may have fetched some of them.
        for (index, other) in shelf.put(objects[begin...]) { objects[index] = other }
        if known == nil { settings.retained? += objects[begin...] }
    }

    /// The objects of rows that are here already, in the rows' order; nil where none is.
    private func known(
        _ rows: ArraySlice<Row>, in space: IDSpace, on shelf: ObjectShelf
    ) -> [NSManagedObject?]? {
        let known = shelf.objects(rows.lazy.map(\.id.key))
        guard registry.hasNewcomers else { return known }
        return rows.enumerated().map { index, row in
            known?[index] ?? registry.newcomer(row.id.key, in: space)
        }
    }

    /// A query found the row of an object that is here.
    private func meet(
        _ object: NSManagedObject, _ row: Row, of store: NSPersistentStore, _ refreshing: Bool
    ) {
        guard refreshing || (object.isFault && object.snapshot == nil) else { return }
        let found = store.snapshot(row)
        if object.isFault && object.snapshot == nil { object.snapshot = found }
        if refreshing { object.rebase(onto: found) }
    }

    /// A new object of a shape, as a fault that keeps `found` until it is filled in.
    private func make(
        _ shape: EntityShape, _ type: NSManagedObject.Type, _ found: ObjectSnapshot?
    ) -> NSManagedObject {
        let object = type.init(entity: shape.entity, insertInto: nil)
        object.state = .fault
        object.attributes = []
        object.toOnes = []
        object.toManys = shape.unloadedToManys
        object.snapshot = found
        return object
    }
}
