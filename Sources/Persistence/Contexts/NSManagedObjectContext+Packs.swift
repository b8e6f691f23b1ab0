internal import ObjectModel
internal import Stores

// Making objects of rows in packs.
extension NSManagedObjectContext {
    /// Where the objects of one entity's rows in a store belong.
    private struct Home {
        let entity: Int32
        let space: ObjectIDTable
        let shelf: RegisteredObjectTable
        let shape: ObjectLayout
        let type: NSManagedObject.Type
    }

    /// Appends the objects of rows, in order, each a fault that its row fills in.
    final func materialize(
        _ packs: [RowPack], of store: NSPersistentStore, _ refetched: inout [RefetchedObject]?,
        into objects: inout [NSManagedObject]
    ) {
        var home: Home?
        var expected = packs.reduce(0) { $0 + $1.count }
        objects.reserveCapacity(objects.count + expected)
        // Who was not here before is not looked for; what a class's own initializer fetches
        // meanwhile, the shelf tells.
        var isNew = false
        for pack in packs {
            if home?.entity != pack.entity {
                let found = self.home(of: pack.entity, in: store)
                isNew = found.shelf.isEmpty && !registry.hasUnsavedObjects
                if isNew { found.shelf.makeRoom(for: expected) }
                home = found
            }
            guard let home else { continue }
            expected -= pack.count
            let known = isNew ? nil : known(pack, in: home)
            materialize(pack, home, store, known, &refetched, into: &objects)
        }
    }

    private func home(of entity: Int32, in store: NSPersistentStore) -> Home {
        let space = store.space(entity)
        let shape = registry.shape(of: space.entity)
        return Home(
            entity: entity, space: space, shelf: registry.shelf(of: space), shape: shape,
            type: registry.type(for: shape))
    }

    /// The objects of rows that are here already, in the rows' order; nil where none is.
    private func known(_ pack: RowPack, in home: Home) -> [NSManagedObject?]? {
        registry.objects((0..<pack.count).lazy.map(pack.key), in: home.space)
    }

    private func materialize(
        _ pack: RowPack, _ home: Home, _ store: NSPersistentStore, _ known: [NSManagedObject?]?,
        _ refetched: inout [RefetchedObject]?, into objects: inout [NSManagedObject]
    ) {
        let begin = objects.count
        let isRetaining = settings.retained != nil
        home.shape.expecting(home.type) { expected in
            for index in 0..<pack.count {
                let row = PackedRow(pack: pack, index: index)
                if let object = known?[index] {
                    updateRegistered(object, row, of: store, &refetched)
                    objects.append(object)
                } else {
                    let object = make(expected, row)
                    object.stand(on: home.shelf, at: pack.key(index))
                    if isRetaining { settings.retained?.append(object) }
                    objects.append(object)
                }
            }
        }
        for (index, other) in home.shelf.put(objects[begin...]) { objects[index] = other }
    }

    /// A query found the row of an object that is here.
    private func updateRegistered(
        _ object: NSManagedObject, _ row: PackedRow, of store: NSPersistentStore,
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
}
