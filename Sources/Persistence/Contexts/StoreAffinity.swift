/// Finds the store of new objects that nobody assigned by what they are linked with, directly or by
/// other new objects: relationships stay within one store.
///
/// What is linked with nothing saved goes into the first store that takes it, and what is linked
/// with objects of two stores fails the save.
struct StoreAffinity {
    private let stores: [NSPersistentStore]
    /// New objects by their IDs.
    private var fresh: [ObjectIdentifier: NSManagedObject] = [:]
    /// New objects by those they are linked with.
    private var neighbours: [ObjectIdentifier: [NSManagedObject]] = [:]
    /// Objects whose store is known, in the order in which it became so.
    private var settled: [(object: NSManagedObject, store: NSPersistentStore)] = []
    /// The stores of new objects.
    private(set) var places: [ObjectIdentifier: NSPersistentStore] = [:]

    /// `pending` are the changed objects of a context, before those of its parents.
    ///
    /// Cost: none with one store, else a pass over the changed objects and their changed links.
    init(
        of pending: @autoclosure () -> [NSManagedObject],
        _ coordinator: NSPersistentStoreCoordinator
    ) {
        stores = coordinator.persistentStores.filter { !$0.isReadOnly }
        guard stores.count > 1 else { return }
        let pending = pending()
        for object in pending where Self.isFresh(object) {
            let id = ObjectIdentifier(object.objectID)
            if fresh[id] == nil { fresh[id] = object }
        }
        guard !fresh.isEmpty else { return }
        for object in pending {
            // A parent's object has the ID of the child's: they are one.
            let first = fresh[ObjectIdentifier(object.objectID)] ?? object
            for id in Self.links(of: object) { connect(first, id) }
        }
        spread()
    }

    private static func isFresh(_ object: NSManagedObject) -> Bool {
        object.shelf?.space == nil && object.objectID.reservedSpace == nil
    }

    /// Where an object leads by what was set or added in it.
    private static func links(of object: NSManagedObject) -> [NSManagedObjectID] {
        guard !object.isFault else { return [] }
        return object.toOnes.compactMap(\.self) + object.toManys.flatMap { $0.added.map(\.id) }
    }

    private mutating func connect(_ object: NSManagedObject, _ id: NSManagedObjectID) {
        let isFresh = Self.isFresh(object)
        if let other = fresh[ObjectIdentifier(id)] {
            if isFresh {
                neighbours[ObjectIdentifier(object), default: []].append(other)
                neighbours[ObjectIdentifier(other), default: []].append(object)
            } else if let store = object.objectID.persistentStore {
                settled.append((other, store))
            }
        } else if isFresh, let store = id.persistentStore {
            settled.append((object, store))
        }
    }

    private mutating func spread() {
        var next = 0
        while next < settled.count {
            let (object, store) = settled[next]
            next += 1
            guard places[ObjectIdentifier(object)] == nil, stores.contains(where: { $0 === store }),
                store.layout(of: object.shape) != nil
            else { continue }
            places[ObjectIdentifier(object)] = store
            for other in neighbours[ObjectIdentifier(object)] ?? [] {
                settled.append((other, store))
            }
        }
    }
}
