public import Foundation
public import ObjectModel
internal import Stores
internal import Synchronization

/// How a context's work is scheduled. Raw values are Apple's.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// Kept for old sources; behaves as the private queue.
    case confinementConcurrencyType = 0
    /// A queue of the context's own.
    case privateQueueConcurrencyType = 1
    /// The main thread: code that runs there need not call `perform`.
    case mainQueueConcurrencyType = 2
}

/// A scratch pad of objects over a coordinator or a parent context: changes are its own until
/// saved.
///
/// Queue: each context has one; use the context and its objects inside `perform` or, for a
/// main-queue context, on the main thread. Where the environment variable
/// `com.apple.CoreData.ConcurrencyDebug` is 1, the program stops when they are used elsewhere.
/// Source: Apple, NSManagedObjectContext.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // @unchecked: everything is used on `queue` only; others read `mergesAutomatically`, which is
    // atomic, and parent and coordinator, which are set before the context is used.
    final let queue: ContextQueue
    /// How the context's work is scheduled.
    public final let concurrencyType: NSManagedObjectContextConcurrencyType
    final var settings = ContextSettings()
    private final let mergesAutomatically = Atomic(false)
    /// What objects and the coordinator know the context by.
    final let tie: ZeroingReference<NSManagedObjectContext>
    final var registry: ObjectRegistry
    // Exclusivity is not checked at run time: it is used on `queue`, and no change of it calls out.
    @exclusivity(unchecked) final var pending = PendingChanges()
    final var readAhead = ReadAhead()
    /// The generation the context reads from; nil for the stores as they are.
    final var pin: GenerationPin?
    private final var family = ContextFamily()
    /// Whether a save is on its way to where it goes: none may begin meanwhile.
    final var isSaving = false

    /// Values an app keeps with the context.
    public final let userInfo = NSMutableDictionary()

    /// Makes a context of one concurrency type; give it a coordinator or a parent before use.
    public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
        self.concurrencyType = concurrencyType
        queue = ContextQueue(isMain: concurrencyType == .mainQueueConcurrencyType)
        tie = ZeroingReference()
        registry = ObjectRegistry(context: tie, awakening: pending.awakening)
        super.init()
        tie.begin(self)
    }

    deinit {
        tie.end()
        pending.awakening.end()
        // Objects that lead to each other would keep each other alive.
        for object in registry.objects { object.letGoOfEnds() }
    }

    /// Makes a context of one concurrency type.
    public convenience init(_ type: ConcurrencyType) {
        self.init(
            concurrencyType: type == .mainQueue
                ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
    }

    /// Makes a context with a queue of its own.
    public required convenience override init() {
        self.init(concurrencyType: .privateQueueConcurrencyType)
    }

    /// How a context's work is scheduled.
    public struct ConcurrencyType: Hashable, Sendable {
        private let isMain: Bool
        /// `mainQueueConcurrencyType`.
        public static let mainQueue = ConcurrencyType(isMain: true)
        /// `privateQueueConcurrencyType`.
        public static let privateQueue = ConcurrencyType(isMain: false)
    }

    // MARK: Where objects come from

    /// The coordinator of the context, or of its parents. Setting makes it the context's own.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { family.coordinator ?? family.parent?.persistentStoreCoordinator }
        set {
            family.coordinator?.forget(self)
            family.coordinator = newValue
            pin?.advance()
            newValue?.remember(self)
            for descendant in family.descendants { newValue?.remember(descendant) }
        }
    }

    /// The context whose objects this one copies and saves to, instead of a store.
    open var parent: NSManagedObjectContext? {
        get { family.parent }
        set {
            if let newValue, newValue === self || descendants.contains(where: { $0 === newValue }) {
                ProgrammingMistake.ownParent(name)
            }
            family.coordinator?.forget(self)
            family.coordinator = nil
            pin = nil
            family.parent?.family.remove(self)
            family.parent = newValue
            newValue?.family.add(self)
            guard let coordinator = newValue?.persistentStoreCoordinator else { return }
            for context in [self] + family.descendants { coordinator.remember(context) }
        }
    }

    /// The contexts that save to this one, and those that save to them.
    final var descendants: [NSManagedObjectContext] { family.descendants }

    final var model: NSManagedObjectModel? { persistentStoreCoordinator?.managedObjectModel }

    /// The context at the end of the parents, which saves to the stores.
    final var root: NSManagedObjectContext { family.parent?.root ?? self }

    final var source: (any ObjectSource)? {
        if let parent = family.parent { return ParentSource(parent: parent) }
        return family.coordinator.map { StoreSource(coordinator: $0, pin: pin) }
    }

    // MARK: Settings

    /// A name for people; saves put it into the history's transactions.
    open var name: String? {
        get { settings.name }
        set { settings.name = newValue }
    }

    /// Who changes things through this context; the history's transactions say it.
    open var transactionAuthor: String? {
        get { settings.transactionAuthor }
        set { settings.transactionAuthor = newValue }
    }

    /// What happens when somebody else changed what a save changes: an `NSMergePolicy`.
    open var mergePolicy: Any {
        get { settings.mergePolicy }
        set { settings.mergePolicy = newValue as? NSMergePolicy ?? .error }
    }

    /// Whether saves of other contexts, and imports, appear here by themselves.
    open var automaticallyMergesChangesFromParent: Bool {
        get { mergesAutomatically.load(ordering: .acquiring) }
        set { mergesAutomatically.store(newValue, ordering: .releasing) }
    }

    /// Whether a fault whose row is gone becomes a deleted object; otherwise the next save fails.
    open var shouldDeleteInaccessibleFaults: Bool {
        get { settings.shouldDeleteInaccessibleFaults }
        set { settings.shouldDeleteInaccessibleFaults = newValue }
    }

    /// Whether the delete rules of a deleted object are applied at the end of the event (at
    /// `processPendingChanges()`, at the end of `perform`, in the main queue's next turn), and
    /// before a fetch; otherwise at the save.
    open var propagatesDeletesAtEndOfEvent: Bool {
        get { settings.propagatesDeletesAtEndOfEvent }
        set { settings.propagatesDeletesAtEndOfEvent = newValue }
    }

    /// Whether unchanged objects live as long as the context.
    open var retainsRegisteredObjects: Bool {
        get { settings.retained != nil }
        set { settings.retained = newValue ? settings.retained ?? registry.objects : nil }
    }

    /// Kept for old sources. Apple keeps rows in memory, and reads them anew when they are older
    /// than this, in seconds; here no rows are kept, and a refreshed object is read from the store
    /// whatever its age.
    open var stalenessInterval: TimeInterval {
        get { settings.stalenessInterval }
        set { settings.stalenessInterval = newValue }
    }

    // MARK: What it holds

    /// Asked when a fault's row is gone; true makes it a deleted object, false lets the next save
    /// throw 133000. The default answers `shouldDeleteInaccessibleFaults`. Source: Apple.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID,
        triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { settings.shouldDeleteInaccessibleFaults }

    /// All objects the context knows and the program still holds.
    open var registeredObjects: Set<NSManagedObject> { Set(registry.objects) }
    /// New objects since the last save.
    open var insertedObjects: Set<NSManagedObject> {
        Set(pending.objects(.inserted).filter { !$0.isDeleted })
    }
    /// Changed objects since the last save, without new and deleted ones.
    open var updatedObjects: Set<NSManagedObject> {
        Set(pending.objects(.updated).filter { $0.state.isDisjoint(with: [.inserted, .deleted]) })
    }
    /// Objects the next save deletes.
    open var deletedObjects: Set<NSManagedObject> { Set(pending.objects(.deleted)) }
    /// Whether a save has anything to do.
    open var hasChanges: Bool { !pending.isEmpty }

    /// The object of an ID, where the context has it already.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        registry.object(objectID)
    }

    /// The object of an ID: as a fault, without asking whether its row exists.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        if QueueGuard.isOn { checkQueue() }
        if let known = registry.object(objectID) { return known }
        return materialize(own(objectID), nil)
    }

    /// The same row's ID in this context's coordinator, for one that came from another.
    private func own(_ id: NSManagedObjectID) -> NSManagedObjectID {
        persistentStoreCoordinator?.ownID(of: id) ?? id
    }

    /// The object of an ID, read from the store. Throws 133000 when there is no such row, and the
    /// store's failures (134180 and others) when it cannot be read. Cost: nothing for an object
    /// that is here and no fault; else one row, read from the store or the parent.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        let objectID = own(objectID)
        if let known = registry.object(objectID), !known.isFault || known.isInserted {
            guard !known.isDeleted else { throw PersistenceErrors.missingObject(objectID) }
            return known
        }
        guard let found = try source?.snapshot(of: objectID) else {
            throw PersistenceErrors.missingObject(objectID)
        }
        let object = materialize(objectID, found)
        object.fire()
        if object.isFault { throw takeFailure() }
        return object
    }

    final func owns(_ object: NSManagedObject) -> Bool { object.shelf?.context === tie }

    /// Makes an object new in this context. An object that is here already is left alone.
    open func insert(_ object: NSManagedObject) {
        guard object.shelf == nil else { return }
        if QueueGuard.isOn { checkQueue() }
        object.state.insert(.inserted)
        registry.note(type(of: object), for: object.shape)
        registry.register(object)
        pending.list(object)
        pending.note(.insertedNow, of: object)
        settings.retained?.append(object)
        scheduleProcessing()
        let companions = object.extras?.companions ?? []
        if !companions.isEmpty { object.withExtras { $0.companions = [] } }
        object.awakeFromInsert()
        for companion in companions { insert(companion) }
    }

    /// Says into which store a new object goes, where several could take it. Without it the object
    /// goes where those are that it is linked with, else into the first that takes it.
    open func assign(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject, object.objectID.isTemporaryID,
            let layout = store.layout(of: object.shape),
            let row = try? store.reserveRows(for: [object], layout).first
        else { return }
        object.objectID.reserve(row, in: store)
    }

    /// Gives new objects their permanent IDs before they are saved. Throws 134030 where no writable
    /// store takes an entity, 134060 without a coordinator, and the store's failures. Cost: one
    /// statement for each entity.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        try obtainPermanentIDs(for: objects, changedBelow: [])
    }

    /// `children` are those from whom it is asked, whose objects the new ones may be linked with.
    private func obtainPermanentIDs(
        for objects: [NSManagedObject], changedBelow children: [NSManagedObjectContext]
    ) throws {
        let line = children + [self]
        if let parent = family.parent {
            return try parent.queue.run(isReading: true) {
                Result {
                    try parent.obtainPermanentIDs(for: objects, changedBelow: line)
                }
            }.get()
        }
        guard let coordinator = family.coordinator else { throw PersistenceErrors.noCoordinator }
        let fresh = objects.filter { $0.objectID.isTemporaryID }
        try coordinator.reserveRows(
            for: fresh, by: StoreChoice(of: line.flatMap(\.pending.changed), coordinator))
        for object in fresh { coordinator.publish(object.objectID) }
    }

    // MARK: Changes

    /// Marks an object as changed.
    final func noteUpdate(of object: NSManagedObject) {
        guard
            object.state.isDisjoint(with: [.inserted, .updated, .deleted])
                || !object.state.contains(.updatedNow)
        else { return }
        object.state.subtract(.told)
        if object.state.isDisjoint(with: [.inserted, .deleted]) {
            object.state.insert(.updated)
            pending.list(object)
        }
        pending.note(.updatedNow, of: object)
        scheduleProcessing()
    }

    // MARK: What is done elsewhere, and subclasses may override

    // Methods of extensions cannot be overridden off Apple's platforms.

    /// Writes all changes to the stores, or to the parent context; everything or nothing, also
    /// where several stores take part. Only a disk that fails while their transactions end can
    /// leave some of them written: what these took is no change any more then.
    ///
    /// Throws validation errors (1550…1690), merge conflicts (133020), constraint conflicts
    /// (133021) and the stores' failures; the changes stay then, to be corrected or rolled back.
    /// Throws 132001 within a save of the same context: in `willSave`, validation, a merge policy.
    /// What hears of the changes that were saved may save others.
    ///
    /// Cost: O(changed objects); one transaction for each store, in it a run of a compiled
    /// statement for each row or ten new ones, and one for some dozens of rows of the history.
    open func save() throws { try saveAll() }

    /// Marks an object as deleted; the next save deletes it.
    ///
    /// At the end of the event (see `propagatesDeletesAtEndOfEvent`) its relationships' delete
    /// rules are applied: related objects lose their link to it, or are deleted too. A deny rule
    /// is looked at by the save. The object keeps its own values until then. Deleting it once more
    /// calls `prepareForDeletion` again, and does nothing else.
    open func delete(_ object: NSManagedObject) { noteDeletion(of: object) }

    /// Ends the event: applies the delete rules of what was deleted (see
    /// `propagatesDeletesAtEndOfEvent`), hands what changed to the undo manager, and posts it as
    /// one ObjectsDidChange notification. Nothing is posted where nothing changed.
    open func processPendingChanges() {
        takeSortings()
        _ = postEvent()
    }

    /// Takes back all changes since the last save, and empties the undo manager: new objects leave,
    /// others show their stored values.
    open func rollback() {
        takeSortings()
        takeBackChanges()
    }

    /// Forgets all objects and changes, and empties the undo manager.
    ///
    /// Objects that are still held become faults that belong to no context: they stay empty, where
    /// Apple's raise an exception. Posts `NSInvalidatedAllObjectsKey` with their IDs.
    open func reset() { forgetAll() }

    /// Makes an object show its stored values again.
    ///
    /// With `mergeChanges` a changed object's own changes stay on top, and an unchanged one becomes
    /// a fault; without, changes are dropped and the object becomes a fault. A new object stays
    /// new; without `mergeChanges` it shows its default values again. A failure of the store
    /// (134180 and others) is thrown by the next save.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        readAnew(object, mergeChanges: flag)
    }

    /// Refreshes all objects; their own changes stay.
    open func refreshAllObjects() { readAllAnew() }

    /// Makes objects show what another context saved: updated ones show their new values below
    /// their own changes, new ones become known, deleted ones are deleted here, too.
    ///
    /// Deletions count as changes of this context until its next save, which finds them done. Ends
    /// the present event before; posts what changed, and `didMergeChangesObjectIDs`. Objects of
    /// another coordinator stand for the same rows here. Call it on the context's queue. A failure
    /// of the store is thrown by the next save.
    open func mergeChanges(fromContextDidSave notification: Notification) {
        takeIn(notification)
    }

    /// What records the context's changes, one action for each event; nil, as at first, records
    /// none and costs nothing.
    ///
    /// Recorded are changes of properties, insertions and deletions, not what merges, refreshes and
    /// imports bring. A save ends nothing: what was saved can be undone, and saved again; an object
    /// whose deletion was saved comes back under the same ID.
    open var undoManager: UndoManager? {
        get { recordingManager }
        set { recordingManager = newValue }
    }

    /// Ends the event, and takes the undo manager's last group back.
    open func undo() {
        processPendingChanges()
        undoManager?.undo()
    }

    /// Does again what was undone last.
    open func redo() {
        processPendingChanges()
        undoManager?.redo()
    }

    /// Runs `block` on the context's queue, later.
    open func perform(_ block: @escaping () -> Void) {
        let passed = UncheckedTransfer(block)
        queue.enqueue { self.runEvent(passed.value) }
    }

    /// Runs `block` on the context's queue and waits. May be called from any queue, also from this
    /// one. Cost: as `perform`, and the caller's thread waits.
    open func performAndWait(_ block: () -> Void) { queue.run { runEvent(block) } }

    /// Runs a request of any kind and returns its result; a fetch gives an
    /// `NSAsynchronousFetchResult` that is over already, as with Apple.
    ///
    /// Call it on the context's queue. Batch and history requests go to the stores, also from a
    /// child context: the history names the author of the context at the end of its parents. Throws
    /// 134060 without a coordinator, and what the request's kind throws. Cost: that of the request.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try run(request)
    }
}

/// What a program may set on a context.
struct ContextSettings {
    var name: String?
    var transactionAuthor: String?
    var mergePolicy: NSMergePolicy = .error
    var shouldDeleteInaccessibleFaults = true
    var propagatesDeletesAtEndOfEvent = true
    var stalenessInterval: TimeInterval = -1
    /// See `keepUntilEventEnds`.
    var justSaved: [NSManagedObject] = []
    var retained: [NSManagedObject]?
    var undo: ContextUndo?
    /// Whether a look at the changes is queued already.
    var isProcessingScheduled = false
}
