public import Foundation
public import ObjectModel
internal import Platform
internal import Stores

/// A program's own store that is asked object by object. Source: Apple, NSIncrementalStore.
///
/// A subclass overrides `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)` and `obtainPermanentIDs(for:)`; register it with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:type:)`. Queue: its functions are called on
/// the asking contexts' queues, so by several threads at a time. Every function throws `StoreError`
/// where it is not overridden, and what an override throws: who asked gets that. Cost: the
/// subclass's own; it is asked for each fault that is filled in, and by saves and refreshes that
/// compare versions.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
    // @unchecked: `state` has a lock; `scratch` is set once, before the coordinator shows it.
    private struct State {
        var references = ReferenceTable()
        var metadata: [String: Any] = [:]
        var versions = RowVersions()
    }

    private let state = Lock(State())
    /// Stands for the asking context where none is known.
    private var scratch: NSManagedObjectContext?
    /// Where the store hears of contexts that use its objects.
    final let notices = ContextQueue(isMain: false)

    /// Called by the coordinator, with the URL and the options that `addPersistentStore` was given.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?,
        configurationName name: String?, at url: URL, options: [AnyHashable: Any]? = nil
    ) {
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
        ObjectUseNotice.begin()
    }

    // MARK: What subclasses write

    /// Sets `metadata` with a type and a UUID. A UUID is given to a store without one.
    open override func loadMetadata() throws {
        throw Self.missing("loadMetadata()")
    }

    /// Answers a request.
    ///
    /// For an `NSFetchRequest<any NSFetchRequestResult>`: the objects (from `context`, of IDs made
    /// with `newObjectID(for:referenceObject:)`) or their IDs, whatever its result type; for
    /// `.countResultType` a number will do. For an `NSSaveChangesRequest`: anything, once it is
    /// done.
    open func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any {
        throw Self.missing("execute(_:with:)")
    }

    /// The values of one object, and their version: a save asks for it again, and where it is not
    /// that which was read, the merge policy decides. Throws when it is not there any more, with
    /// the code `NSManagedObjectReferentialIntegrityError` for a save to know that.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw Self.missing("newValuesForObject(with:with:)")
    }

    /// The IDs at the other end: an array for a to-many (in order where it is ordered), an ID or
    /// `NSNull` for a to-one.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription,
        forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
    ) throws -> Any {
        throw Self.missing("newValue(forRelationship:forObjectWith:with:)")
    }

    /// The IDs that new objects are to have, in their order. By default random UUIDs name them.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { object in
            let text = parameters.platform.randomness.uuid().uuidString
            return newObjectID(for: object.entity, referenceObject: text)
        }
    }

    /// Called when a context begins to use objects of the store: a little later, on a queue for
    /// these notices alone.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context no longer uses objects; for objects that are simply let go of, at some
    /// later time.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// The identifier of a store that is new at `storeURL`.
    open class func identifierForNewStore(at storeURL: URL) -> Any {
        Environment.system.randomness.uuid().uuidString
    }

    /// The store's metadata, which `loadMetadata()` sets.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open override var metadata: [String: Any]! {
        get { state.withLock { $0.metadata } }
        set { state.withLock { $0.metadata = newValue ?? [:] } }
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open override var identifier: String! {
        get { metadata[NSStoreUUIDKey] as? String ?? "" }
        set {
            metadata[NSStoreUUIDKey] =
                newValue ?? parameters.platform.randomness.uuid().uuidString
        }
    }

    private static func missing(_ function: String) -> StoreError {
        StoreError(.unsupported, "The store's class does not override \(function).")
    }

    // MARK: What subclasses use

    /// The ID of the object that the store calls `data`: a whole number or a text that is unique
    /// among the objects of the entity's tree.
    public final func newObjectID(
        for entity: NSEntityDescription, referenceObject data: Any
    ) -> NSManagedObjectID {
        guard let layout = rowStore.layout.entity(named: entity.name ?? "") else {
            return NSManagedObjectID(temporaryFor: ObjectLayout.of(entity))
        }
        let key = state.withLock { $0.references.key(for: data, tree: layout.treeName) }
        return id(for: RowID(entity: layout.number, key: key))
    }

    /// What the store calls the object.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
        let row = objectID.reservedRow
        return state.withLock { state in
            row.flatMap { state.references.reference(for: $0.key) } ?? NSNull()
        }
    }

    // MARK: For the coordinator

    override func openRows(platform: Environment) throws {
        try loadMetadata()
        if metadata[NSStoreUUIDKey] == nil, let url {
            metadata[NSStoreUUIDKey] = "\(Self.identifierForNewStore(at: url))"
        }
        try completeMetadata(platform: platform)
        let scratch = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        scratch.persistentStoreCoordinator = persistentStoreCoordinator
        self.scratch = scratch
        rowStore = IncrementalRows(store: self, layout: rowStore.layout, identifier: identifier)
    }

    /// Waits until the store has heard of all that contexts did so far.
    package final func waitForNotices() { notices.run {} }

    /// The context on whose behalf the store is asked.
    final var asking: NSManagedObjectContext {
        NSManagedObjectContext.current ?? scratch
            ?? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    }

    override var namesRowsItself: Bool { true }

    override func reserveRows(
        for objects: [NSManagedObject], _ layout: EntityLayout
    ) throws -> [RowID] {
        let rows = try obtainPermanentIDs(for: objects).compactMap(\.reservedRow)
        guard rows.count == objects.count, rows.allSatisfy({ $0.entity == layout.number }) else {
            throw StoreError(
                .invalidValue,
                "obtainPermanentIDs(for:) gave IDs of other entities, or not one for each object.",
                fields: ["entity": layout.name])
        }
        return rows
    }

    override func write(
        _ gathered: ChangeSetBuilder, of context: NSManagedObjectContext, by writer: any RowWriting
    ) throws -> SaveOutcome {
        let found = try checkVersions(of: gathered.changes, for: context)
        let living = gathered.written.filter { !$0.isDeleted }
        let request = NSSaveChangesRequest(
            inserted: Set(living.filter(\.isInserted)), updated: Set(living.filter(\.isUpdated)),
            deleted: Set(gathered.written.filter(\.isDeleted)),
            locked: Set(context.pending.watched.filter { isLocked($0) }))
        request.affectedStores = [self]
        _ = try execute(request, with: context)
        return noteWritten(gathered.changes, over: found)
    }

    // MARK: Versions

    /// Asks for an object's values, and remembers their version.
    final func node(
        of row: RowID, for context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let moment = state.withLock { $0.versions.moment }
        let node = try newValuesForObject(with: id(for: row), with: context)
        state.withLock {
            $0.versions.note(Int64(clamping: node.version), of: row, askedAt: moment)
        }
        return node
    }

    override func isExpected(_ expected: Int64?, of row: RowID, found: Int64?) -> Bool {
        guard let expected, let found else { return expected == found }
        return state.withLock { $0.versions.isExpected(expected, of: row, found: found) }
    }

    private func isLocked(_ object: NSManagedObject) -> Bool {
        object.objectID.isOf(self) && !object.hasChanges
    }

    /// Returns the versions that the store has of the rows that are to be written. Throws
    /// `SaveConflicts` where they are not those that were read. Cost: a question for each row.
    private func checkVersions(
        of changes: ChangeSet, for context: NSManagedObjectContext
    ) throws -> [RowID: Int64] {
        var found: [RowID: Int64] = [:]
        var conflicts: [SaveConflicts.Conflict] = []
        func check(_ row: RowID, _ expected: Int64) throws {
            guard let node = try presentNode(of: row, for: context) else {
                return conflicts.append(.init(id: row, expectedVersion: expected, stored: nil))
            }
            let version = Int64(clamping: node.version)
            found[row] = version
            guard !isExpected(expected, of: row, found: version) else { return }
            let stored = try (rowStore as? IncrementalRows)?.row(row, from: node)
            conflicts.append(.init(id: row, expectedVersion: expected, stored: stored))
        }
        let expected =
            changes.updates.map { ($0.id, $0.expectedVersion) }
            + changes.deletes.map { ($0.id, $0.expectedVersion) }
        for case (let row, let version?) in expected { try check(row, version) }
        guard conflicts.isEmpty else { throw SaveConflicts(conflicts) }
        return found
    }

    /// Nil where the store says that the object is gone.
    private func presentNode(
        of row: RowID, for context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode? {
        do {
            return try node(of: row, for: context)
        } catch {
            let known = error as NSError
            guard known.domain == NSCocoaErrorDomain,
                known.code == NSManagedObjectReferentialIntegrityError
            else { throw error }
            return nil
        }
    }

    private func noteWritten(_ changes: ChangeSet, over found: [RowID: Int64]) -> SaveOutcome {
        var outcome = SaveOutcome()
        state.withLock { state in
            for row in changes.updates.map(\.id) + changes.inserts.map(\.id) {
                outcome.written.append((row, state.versions.write(row, over: found[row])))
            }
        }
        return outcome
    }

    override func uriName(of row: RowID) -> String {
        state.withLock { $0.references.uriName(of: row.key) }
    }

    override func row(uriName: String, _ layout: EntityLayout) -> RowID? {
        let key = state.withLock { $0.references.key(uriName: uriName, tree: layout.treeName) }
        return key.map { RowID(entity: layout.number, key: $0) }
    }

    // MARK: Fetching

    override func find(
        _ query: ObjectQuery, rows: RowQuery, in reader: any RowReading
    ) throws -> FoundObjects {
        let found = try ids(execute(request(query, .managedObjectResultType), with: asking))
        return .objects(found.map { FoundObject(id: $0, snapshot: nil) })
    }

    override func findIDs(
        _ query: ObjectQuery, rows: RowQuery, in reader: any RowReading
    ) throws -> [NSManagedObjectID] {
        try ids(execute(request(query, .managedObjectIDResultType), with: asking))
    }

    override func values(
        of query: ValueQuery, in reader: any RowReading
    ) throws -> [[Any?]]? { nil }

    override func findRows(
        _ query: ObjectQuery, rows: RowQuery, in reader: any RowReading
    ) throws -> [RowID]? { nil }

    override func count(
        _ query: ObjectQuery, rows: RowQuery, in reader: any RowReading
    ) throws -> Int {
        let result = try execute(request(query, .countResultType), with: asking)
        if let number = result as? Int { return number }
        if let numbers = result as? [NSNumber], let first = numbers.first, numbers.count == 1 {
            return first.intValue
        }
        return try ids(result).count
    }

    private func request(
        _ query: ObjectQuery, _ resultType: NSFetchRequestResultType
    ) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entity: query.entity)
        request.predicate = query.predicate
        request.sortDescriptors = query.sort
        request.fetchLimit = query.limit
        request.fetchOffset = query.offset
        request.includesSubentities = query.includesSubentities
        request.resultType = resultType
        // No store is named: one that hands the request on to a stack below it means those there.
        return request
    }

    /// The IDs of what a store answered.
    private func ids(_ result: Any) throws -> [NSManagedObjectID] {
        let members = result as? [Any] ?? []
        let rows = CacheNodeGraph.rows(members) ?? []
        guard result is [Any], rows.count == members.count else {
            throw StoreError(
                .invalidValue,
                "The store answered a fetch with something else than its objects or their IDs.")
        }
        return rows.map { id(for: $0) }
    }
}
