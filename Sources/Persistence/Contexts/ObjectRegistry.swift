internal import Foundation
internal import ObjectModel

/// The objects a context knows, one for each ID, held weakly.
struct ObjectRegistry {
    private struct Entry {
        weak var object: NSManagedObject?
        var registration: StoreRegistration?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    private var sweepCount = 1024
    private var types: [ObjectIdentifier: NSManagedObject.Type] = [:]
    private var entities: [ObjectIdentifier: NSEntityDescription] = [:]

    func object(_ id: NSManagedObjectID) -> NSManagedObject? {
        guard let object = entries[ObjectIdentifier(id)]?.object, object.identity === id else {
            return nil
        }
        return object
    }

    var objects: [NSManagedObject] { entries.values.compactMap(\.object) }

    mutating func register(_ object: NSManagedObject) {
        if entries.count >= sweepCount { sweep() }
        let entry = Entry(object: object, registration: StoreRegistration.of(object))
        entries[ObjectIdentifier(object.objectID)] = entry
    }

    mutating func unregister(_ object: NSManagedObject) {
        guard let id = object.identity else { return }
        entries[ObjectIdentifier(id)] = nil
    }

    mutating func removeAll() { entries.removeAll() }

    /// Drops the entries of objects that are gone, where they are many. Runs when the table has
    /// doubled, so its cost spreads.
    private mutating func sweep() {
        let lost = entries.values.reduce(0) { $0 + ($1.object == nil ? 1 : 0) }
        if lost > entries.count / 4 { entries = entries.filter { $0.value.object != nil } }
        sweepCount = max(1024, entries.count * 2)
    }

    /// The class objects of the shape's entity are made of.
    mutating func type(for shape: EntityShape) -> NSManagedObject.Type {
        let key = ObjectIdentifier(shape)
        if let known = types[key] { return known }
        let type = KnownClasses.type(of: shape.entity)
        if type != NSManagedObject.self { types[key] = type }
        return type
    }

    /// Learns the class of an entity from an object of it.
    mutating func note(_ type: NSManagedObject.Type, for shape: EntityShape) {
        guard type != NSManagedObject.self, types[ObjectIdentifier(shape)] == nil else { return }
        types[ObjectIdentifier(shape)] = type
        KnownClasses.note(type)
    }

    /// The entity of a class in the context's model, remembered.
    mutating func entity(
        of type: NSManagedObject.Type, in model: NSManagedObjectModel?
    ) -> NSEntityDescription? {
        if let known = entities[ObjectIdentifier(type)] { return known }
        let entity = KnownClasses.entity(of: type, in: model)
        entities[ObjectIdentifier(type)] = entity
        return entity
    }
}
