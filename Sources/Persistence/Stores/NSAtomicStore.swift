internal import Foundation
public import ObjectModel
internal import Platform
internal import Stores

/// A program's own store that is loaded and saved as a whole. Source: Apple, NSAtomicStore.
///
/// A subclass overrides `load()` and `save()`, and mostly `newReferenceObject(for:)`; register it
/// with `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`. Queue: its functions are called
/// by one thread at a time. Cost: the subclass's own; a save hands over all nodes.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
    // @unchecked: `contents` has a lock; saves are serialised by `saving`.
    private struct Contents {
        var nodes: [RowID: NSAtomicStoreCacheNode] = [:]
        var references = ReferenceTable()
        var metadata: [String: Any] = [:]
    }

    private let contents = Lock(Contents())
    private let saving = NSLock()

    // MARK: What subclasses write

    /// Reads the store's file and adds a node for each object with `addCacheNodes(_:)`. A file that
    /// is not there yet is an empty store. Throws `StoreError` where it is not overridden; what an
    /// override throws, `addPersistentStore` does.
    open func load() throws {
        throw StoreError(.unsupported, "The store's class does not override load().")
    }

    /// Writes all nodes and the metadata. Where it throws, the save fails and the nodes are again
    /// as they were. Throws `StoreError` where it is not overridden.
    open func save() throws {
        throw StoreError(.unsupported, "The store's class does not override save().")
    }

    /// What names a new object in the store's file: a whole number or a text that is unique among
    /// the objects of the entity's tree. By default the next whole number.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        let tree = managedObject.shape.layout.treeName
        return contents.withLock { $0.references.freshNumber(tree: tree) }
    }

    /// A node for a new object. It is filled in by `updateCacheNode(_:from:)` right afterwards.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    }

    /// Takes over the values of a new or changed object. By default all attributes and links.
    open func updateCacheNode(
        _ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject
    ) {
        for (name, property) in managedObject.entity.propertiesByName where !property.isTransient {
            let value = managedObject.value(forKey: name)
            guard let relationship = property as? NSRelationshipDescription else {
                node.setValue(value, forKey: name)
                continue
            }
            let nodes = Self.objects(value).compactMap { cacheNode(for: $0.objectID) }
            if !relationship.isToMany {
                node.setValue(nodes.first, forKey: name)
            } else if relationship.isOrdered {
                node.setValue(nodes, forKey: name)
            } else {
                node.setValue(Set(nodes), forKey: name)
            }
        }
    }

    private static func objects(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let object as NSManagedObject: [object]
        case let members as Set<NSManagedObject>: Array(members)
        case let members as NSOrderedSet: members.array.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }

    /// Called before the nodes of deleted objects leave the store.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    /// The store's metadata, which `save()` writes and `load()` or `loadMetadata()` sets: a UUID is
    /// given to a store without one.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open override var metadata: [String: Any]! {
        get { contents.withLock { $0.metadata } }
        set { contents.withLock { $0.metadata = newValue ?? [:] } }
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open override var identifier: String! {
        get { metadata[NSStoreUUIDKey] as? String ?? "" }
        set {
            metadata[NSStoreUUIDKey] =
                newValue ?? parameters.platform.randomness.uuid().uuidString
        }
    }

    // MARK: What subclasses use

    /// All nodes.
    public final func cacheNodes() -> Set<NSAtomicStoreCacheNode> {
        contents.withLock { Set($0.nodes.values) }
    }

    /// The node of an object; nil where there is none.
    public final func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
        guard let row = objectID.reservedRow else { return nil }
        return contents.withLock { $0.nodes[row] }
    }

    /// Takes nodes in; one whose object has a node already replaces it.
    public final func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        contents.withLock { contents in
            for node in cacheNodes {
                if let row = node.objectID.reservedRow { contents.nodes[row] = node }
            }
        }
    }

    /// The ID of the object that the store's file calls `data`.
    public final func objectID(
        for entity: NSEntityDescription, withReferenceObject data: Any
    ) -> NSManagedObjectID {
        guard let layout = rowStore.layout.entity(named: entity.name ?? "") else {
            return NSManagedObjectID(temporaryFor: ObjectLayout.of(entity))
        }
        let key = contents.withLock { $0.references.key(for: data, tree: layout.treeName) }
        return id(for: RowID(entity: layout.number, key: key))
    }

    /// What the store's file calls the object.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
        let row = objectID.reservedRow
        return contents.withLock { contents in
            row.flatMap { contents.references.reference(for: $0.key) } ?? NSNull()
        }
    }

    // MARK: For the coordinator

    override func openRows(platform: Environment) throws {
        try loadMetadata()
        try load()
        try completeMetadata(platform: platform)
        let layout = rowStore.layout
        let nodes = contents.withLock { $0.nodes }
        let graph = try CacheNodeGraph(layout: layout).graph(of: nodes, identifier: identifier)
        rowStore = try MemoryRowStore(
            loading: graph, layout: layout, platform: platform, path: url?.path ?? "")
    }

    override var namesRowsItself: Bool { true }

    override func reserveRows(
        for objects: [NSManagedObject], _ layout: EntityLayout
    ) throws -> [RowID] {
        objects.map { object in
            let reference = newReferenceObject(for: object)
            let key = contents.withLock {
                $0.references.key(for: reference, tree: layout.treeName)
            }
            return RowID(entity: layout.number, key: key)
        }
    }

    override func write(
        _ gathered: ChangeSetBuilder, of context: NSManagedObjectContext, by writer: any RowWriting
    ) throws -> SaveOutcome {
        saving.lock()
        defer { saving.unlock() }
        guard let rows = rowStore as? MemoryRowStore else {
            return try writer.save(gathered.changes)
        }
        return try rows.save(gathered.changes) {
            let former = contents.withLock { $0.nodes }
            let values = Self.values(
                of: gathered.written.compactMap { cacheNode(for: $0.objectID) })
            do {
                takeOver(gathered.written)
                try save()
            } catch {
                contents.withLock { $0.nodes = former }
                for (node, cache) in values { node.propertyCache = cache }
                throw error
            }
        }
    }

    private static func values(
        of nodes: [NSAtomicStoreCacheNode]
    ) -> [(NSAtomicStoreCacheNode, NSMutableDictionary?)] {
        nodes.map { node in
            (node, node.propertyCache?.mutableCopy() as? NSMutableDictionary)
        }
    }

    /// Brings the nodes up to date with the objects of a save.
    private func takeOver(_ objects: [NSManagedObject]) {
        let living = objects.filter { !$0.isDeleted }
        let fresh = living.filter(\.isInserted).map { newCacheNode(for: $0) }
        if !fresh.isEmpty { addCacheNodes(Set(fresh)) }
        let doomed = objects.filter(\.isDeleted).compactMap { cacheNode(for: $0.objectID) }
        if !doomed.isEmpty {
            willRemoveCacheNodes(Set(doomed))
            contents.withLock { contents in
                for row in doomed.compactMap(\.objectID.reservedRow) { contents.nodes[row] = nil }
            }
        }
        for object in living {
            if let node = cacheNode(for: object.objectID) { updateCacheNode(node, from: object) }
        }
    }

    override func lastKey(_ entity: EntityLayout) throws -> Int64 {
        contents.withLock { $0.references.lastKey }
    }

    override func uriName(of row: RowID) -> String {
        contents.withLock { $0.references.uriName(of: row.key) }
    }

    override func row(uriName: String, _ layout: EntityLayout) -> RowID? {
        let key = contents.withLock {
            $0.references.key(uriName: uriName, tree: layout.treeName)
        }
        return key.map { RowID(entity: layout.number, key: $0) }
    }
}
