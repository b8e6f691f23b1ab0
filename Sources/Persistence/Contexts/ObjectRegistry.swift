internal import Foundation
internal import ObjectModel

/// The objects a context knows, one for each ID, without holding them.
struct ObjectRegistry {
    private let context: ZeroingReference<NSManagedObjectContext>
    private let awakening: AwakeningState
    /// New objects, and those that were new when they came here.
    private let unsavedObjects: RegisteredObjectTable
    /// By the address of their spaces.
    private var shelves: [ObjectIdentifier: RegisteredObjectTable] = [:]
    private var types: [ObjectIdentifier: NSManagedObject.Type] = [:]
    private var entities: [ObjectIdentifier: NSEntityDescription] = [:]
    /// The shapes of the entities seen, so that they live as long as the context.
    private var shapes: [ObjectIdentifier: ObjectLayout] = [:]
    /// Ordered sets of relationships, which may have been sorted past their objects.
    var orderedSets = OrderedSetRegister()

    init(context: ZeroingReference<NSManagedObjectContext>, awakening: AwakeningState) {
        self.context = context
        self.awakening = awakening
        unsavedObjects = RegisteredObjectTable(
            context: context, space: nil, awakening: awakening)
    }

    func object(_ id: NSManagedObjectID) -> NSManagedObject? {
        guard let space = id.space else {
            return unsavedObjects.object(RegisteredObjectTable.key(of: id))
        }
        return object(id.key, in: space)
    }

    /// The object of a row, also where neither has an ID yet.
    func object(_ key: Int64, in space: ObjectIDTable) -> NSManagedObject? {
        if let known = shelves[ObjectIdentifier(space)]?.object(key) { return known }
        return unsavedObject(key, in: space)
    }

    /// The objects of several keys of a space, in their order; nil where none is here.
    mutating func objects(
        _ keys: some Collection<Int64>, in space: ObjectIDTable
    ) -> [NSManagedObject?]? {
        let known = shelf(of: space).objects(keys)
        guard hasUnsavedObjects else { return known }
        return keys.enumerated().map { index, key in known?[index] ?? unsavedObject(key, in: space)
        }
    }

    /// Whether objects that came here as new ones are here, with or without rows.
    var hasUnsavedObjects: Bool { !unsavedObjects.isEmpty }

    /// An object that was new when it came here, and has a row by now.
    func unsavedObject(_ key: Int64, in space: ObjectIDTable) -> NSManagedObject? {
        guard !unsavedObjects.isEmpty, let id = space.knownID(key) else { return nil }
        return unsavedObjects.object(RegisteredObjectTable.key(of: id))
    }

    /// Where the objects of an ID space stand.
    mutating func shelf(of space: ObjectIDTable) -> RegisteredObjectTable {
        if let known = shelves[ObjectIdentifier(space)] { return known }
        let fresh = RegisteredObjectTable(
            context: context, space: space, awakening: awakening)
        shelves[ObjectIdentifier(space)] = fresh
        return fresh
    }

    private var all: [RegisteredObjectTable] { [unsavedObjects] + shelves.values }

    var objects: [NSManagedObject] { all.flatMap(\.objects) }

    /// Makes an object known by its ID; it belongs to the context then.
    mutating func register(_ object: NSManagedObject) {
        let id = object.objectID
        if let space = id.space {
            object.stand(on: shelf(of: space), at: id.key)
        } else {
            object.stand(on: unsavedObjects, at: RegisteredObjectTable.key(of: id))
        }
        object.shelf?.put(object)
        object.shelf?.announce(object)
    }

    /// Gives objects that were new their places among the rows.
    mutating func reindex(_ objects: [NSManagedObject]) {
        unsavedObjects.remove(objects)
        var begin = 0
        while begin < objects.count {
            guard let space = objects[begin].objectID.space else { return }
            let shelf = shelf(of: space)
            begin = shelf.adopt(objects[begin...], from: unsavedObjects)
        }
    }

    /// Forgets an object, which still belongs to the context.
    func unregister(_ object: NSManagedObject) { object.shelf?.remove(object) }

    /// Forgets several objects, which know their places still.
    func unregister(_ objects: [NSManagedObject]) {
        var begin = 0
        while begin < objects.count {
            begin = objects[begin].shelf?.remove(first: objects[begin...]) ?? begin + 1
        }
    }

    mutating func removeAll() {
        for shelf in all { shelf.removeAll() }
        shelves = [:]
    }

    /// The shape of an entity, remembered.
    mutating func shape(of entity: NSEntityDescription) -> ObjectLayout {
        if let known = shapes[ObjectIdentifier(entity)] { return known }
        let shape = ObjectLayout.of(entity)
        shapes[ObjectIdentifier(entity)] = shape
        return shape
    }

    /// The class objects of the shape's entity are made of.
    mutating func type(for shape: ObjectLayout) -> NSManagedObject.Type {
        let key = ObjectIdentifier(shape)
        if let known = types[key] { return known }
        let type = KnownClasses.type(of: shape.entity)
        if type != NSManagedObject.self { types[key] = type }
        return type
    }

    /// Learns the class of an entity from an object of it.
    mutating func note(_ type: NSManagedObject.Type, for shape: ObjectLayout) {
        guard type != NSManagedObject.self, types[ObjectIdentifier(shape)] == nil else { return }
        types[ObjectIdentifier(shape)] = type
        KnownClasses.note(type)
    }

    /// The entity of a class in the context's model, remembered.
    mutating func entity(
        of type: NSManagedObject.Type, in model: @autoclosure () -> NSManagedObjectModel?
    ) -> NSEntityDescription? {
        if let known = entities[ObjectIdentifier(type)] { return known }
        let entity = KnownClasses.entity(of: type, in: model())
        entities[ObjectIdentifier(type)] = entity
        return entity
    }
}
