public import Foundation
internal import ObjectModel
internal import Stores

// Collections that write through.
extension NSManagedObject {
    /// A set that shows a to-many relationship; adding and removing changes the object at once.
    public final func mutableSetValue(forKey key: String) -> NSMutableSet {
        RelationshipSet(owner: self, key: key)
    }

    /// An ordered set that shows an ordered relationship; changes go to the object at once.
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        let set = RelationshipOrderedSet(owner: self, key: key)
        context?.registry.orderedSets.add(set)
        return set
    }

    /// The slot of a to-many, with its members read. Traps for other keys.
    final func openToMany(_ key: String) -> Int {
        willAccessValue(forKey: key)
        guard case .toMany(let slot) = shape.slot(key) else {
            ProgrammingMistake.notToMany(key, of: entity.name)
        }
        load(slot)
        return slot
    }

    /// Adds an object to a to-many relationship, as generated accessors do.
    public final func addObject(_ object: NSManagedObject, toRelationshipNamed key: String) {
        let slot = openUnread(key)
        willChangeValue(forKey: key)
        guard isOpen(slot) else {
            return postpone(members: slot) { $0.addObject(object, toRelationshipNamed: key) }
        }
        add(object, to: slot)
        didChangeValue(forKey: key)
    }

    /// Removes an object from a to-many relationship, as generated accessors do.
    public final func removeObject(_ object: NSManagedObject, fromRelationshipNamed key: String) {
        let slot = openUnread(key)
        willChangeValue(forKey: key)
        guard isOpen(slot) else {
            return postpone(members: slot) { $0.removeObject(object, fromRelationshipNamed: key) }
        }
        remove(object.reference, from: slot)
        didChangeValue(forKey: key)
    }

    /// Whether members can be added and removed: for ordered ones, all must be known.
    final func isOpen(_ slot: Int) -> Bool {
        !isFault && (!toManys[slot].isOrdered || toManys[slot].isLoaded)
    }

    private func openUnread(_ key: String) -> Int {
        willAccessValue(forKey: key)
        guard case .toMany(let slot) = shape.slot(key), !toManys[slot].isOrdered else {
            return openToMany(key)
        }
        return slot
    }
}

/// A to-many relationship as a mutable set.
final class RelationshipSet: NSMutableSet {
    private let owner: NSManagedObject?
    private let key: String

    init(owner: NSManagedObject, key: String) {
        self.owner = owner
        self.key = key
        super.init(capacity: 0)
    }

    required init(capacity numItems: Int) {
        owner = nil
        key = ""
        super.init(capacity: numItems)
    }

    required init?(coder: NSCoder) { return nil }

    private var objects: Set<NSManagedObject> {
        owner?.value(forKey: key) as? Set<NSManagedObject> ?? []
    }

    override var count: Int {
        guard let owner else { return 0 }
        return owner.toManys[owner.openToMany(key)].count
    }

    override func member(_ object: Any) -> Any? {
        guard let owner, let object = object as? NSManagedObject else { return nil }
        let members = owner.toManys[owner.openToMany(key)]
        return members.contains(object.reference) == true ? object : nil
    }

    override func objectEnumerator() -> NSEnumerator {
        NSArray(array: Array(objects)).objectEnumerator()
    }

    override func add(_ object: Any) {
        guard let object = object as? NSManagedObject else { return }
        owner?.addObject(object, toRelationshipNamed: key)
    }

    override func remove(_ object: Any) {
        guard let object = object as? NSManagedObject else { return }
        owner?.removeObject(object, fromRelationshipNamed: key)
    }

    override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: Array(objects)) }
}
