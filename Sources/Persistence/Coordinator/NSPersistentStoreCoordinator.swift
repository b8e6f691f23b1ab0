public import Foundation
public import ObjectModel
package import Platform
internal import Stores

/// Stands between contexts and stores: opens stores, gives each row its one ID, spreads word of
/// saves.
///
/// Queue: any thread; each store orders its own work. Source: Apple, NSPersistentStoreCoordinator.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    // @unchecked: `state` has a lock; each store serialises its own work.
    struct State {
        var stores: [NSPersistentStore] = []
        var contexts: [ZeroingReference<NSManagedObjectContext>] = []
        var name: String?
    }

    /// The model of all stores. It must not change any more.
    public final let managedObjectModel: NSManagedObjectModel
    /// Where time and randomness come from; set before the coordinator is used.
    package private(set) final var platform = Environment.system
    private let state = Lock(State())
    private let shapes: [ObjectLayout]
    private let queue = ContextQueue(isMain: false)
    let tie = ZeroingReference<NSPersistentStoreCoordinator>()
    /// All coordinators of the process.
    private static let known = Lock<[ZeroingReference<NSPersistentStoreCoordinator>]>([])

    static var all: [NSPersistentStoreCoordinator] { known.withLock { $0 }.compactMap(\.target) }

    /// A coordinator without stores.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        _ = MessageForwarding.begun
        model.freeze()
        managedObjectModel = model
        shapes = model.entities.map(ObjectLayout.of)
        super.init()
        tie.begin(self)
        Self.known.withLock { known in
            known.removeAll { $0.isOver }
            known.append(tie)
        }
        KnownClasses.note(model)
    }

    // The only other one, and no designated one, so that subclasses inherit Apple's.
    package convenience init(model: NSManagedObjectModel, platform: Environment) {
        self.init(managedObjectModel: model)
        self.platform = platform
    }

    deinit { tie.end() }

    /// A name for people; it changes nothing.
    open var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// The open stores, in the order in which they were added, in which requests ask them, too.
    open var persistentStores: [NSPersistentStore] { state.withLock { $0.stores } }

    /// Runs a request: a fetch returns an array, any other request its result object.
    ///
    /// Call it on the context's queue. Throws what the request's kind throws, and 134091 for a kind
    /// that is not known. Cost: that of the request; see each kind.
    open func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext
    ) throws -> Any { try run(request, with: context) }

    // MARK: Stores

    /// Opens a store, or makes it where there is none.
    ///
    /// A store of another version of the model is refused with 134100
    /// (`NSPersistentStoreIncompatibleVersionHashError`), or migrated first where
    /// `NSMigratePersistentStoresAutomaticallyOption` or a staged migration manager asks for it: by
    /// a mapping model among the program's resources, else by an inferred one where
    /// `NSInferMappingModelAutomaticallyOption` is set. Throws
    /// `NSMigrationMissingSourceModelError`, `NSMigrationMissingMappingModelError`, or
    /// `NSMigrationError`; the store is as it was then.
    ///
    /// Throws 134000 for an unknown type, 134010 for a file of another type, 134060 for an unknown
    /// configuration, 134080 where there is no store to open, 134081 for one that is open here
    /// already, and for a copy of such a one, 134090 for a lock; of Foundation's codes 259 for a
    /// file that is damaged or no store (`NSSQLiteErrorDomain` in `userInfo` is SQLite's code), 257
    /// where it may not be read, 256 where SQLite cannot open it.
    ///
    /// Cost: O(entities and properties) for SQLite, whatever the file's size; other files are read
    /// whole. A migration is O(rows) unless it only adds columns.
    @discardableResult
    open func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        var parameters = StoreParameters(
            type: type.rawValue, model: managedObjectModel, platform: platform)
        parameters.configuration = configuration
        parameters.url = storeURL
        parameters.options = options
        return try add(parameters)
    }

    /// As `addPersistentStore(type:configuration:at:options:)`. Throws 134000, 134010, 134060,
    /// 134080, 134090, 134100, 256, 257, 259 and the errors of migrations. Cost: the same.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            type: .init(rawValue: storeType), configuration: configuration, at: storeURL,
            options: options)
    }

    /// Opens the store a description describes; the block is called before this returns, or later
    /// on another queue where the description says so.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = UncheckedTransfer {
            do {
                try self.addPersistentStore(
                    ofType: storeDescription.type,
                    configurationName: storeDescription.configuration, at: storeDescription.url,
                    options: storeDescription.options)
                block(storeDescription, nil)
            } catch {
                block(storeDescription, error)
            }
        }
        guard storeDescription.shouldAddStoreAsynchronously else { return work.value() }
        queue.enqueue { work.value() }
    }

    /// Opens a store, or makes it where there is none. Throws as `addPersistentStore` does.
    @discardableResult
    final func add(_ parameters: StoreParameters) throws -> NSPersistentStore {
        if let configuration = parameters.configuration,
            managedObjectModel.entities(forConfigurationName: configuration) == nil
        {
            throw PersistenceErrors.make(
                NSCoreDataError, "The model has no configuration \"\(configuration)\".")
        }
        do {
            try managedObjectModel.checkCircles()
        } catch let error as ModelConsistencyError {
            throw PersistenceErrors.make(
                NSCoreDataError, error.message, [NSUnderlyingErrorKey: error])
        }
        try parameters.check()
        try checkIsNew(parameters)
        let store: NSPersistentStore
        do {
            store = try made(parameters)
        } catch {
            throw PersistenceErrors.bridged(PersistenceErrors.translate(error))
        }
        try append(store)
        store.didAdd(to: self)
        watch(store)
        postStoresChanged([NSAddedPersistentStoresKey: [store]])
        return store
    }

    /// URIs name a store by its identifier: objects of two with one would be taken for each other.
    private func append(_ store: NSPersistentStore) throws {
        let identifier = store.identifier ?? ""
        var isIn = false
        // Programs' stores are asked outside of the lock.
        while !isIn {
            let known = persistentStores
            let twin = known.first {
                $0.identifier.caseInsensitiveCompare(identifier) == .orderedSame
            }
            if let twin { throw PersistenceErrors.twin(store, of: twin) }
            isIn = state.withLock { state in
                guard state.stores.elementsEqual(known, by: ===) else { return false }
                state.stores.append(store)
                return true
            }
        }
    }

    /// One store cannot be there twice: its objects would have two IDs.
    private func checkIsNew(_ parameters: StoreParameters) throws {
        guard parameters.type != NSInMemoryStoreType, let file = parameters.file, file.isFileURL
        else {
            return
        }
        let path = file.resolvingSymlinksInPath().path
        guard persistentStores.contains(where: { $0.filePath == path }) else { return }
        throw PersistenceErrors.make(
            NSPersistentStoreOpenError + 1,
            "Can't add the same store twice; use the one the coordinator has.",
            [NSFilePathErrorKey: path])
    }

    private func made(_ parameters: StoreParameters) throws -> NSPersistentStore {
        guard let storeClass = StoreRegistry.storeClass(for: parameters.type) else {
            let rowStore = try migrated(parameters) {
                let factory = try StoreRegistry.factory(for: parameters.type)
                return try StoreFileType.naming(parameters.type, at: parameters.file) {
                    try factory(parameters)
                }
            }
            return NSPersistentStore(rowStore: rowStore, description: parameters, coordinator: self)
        }
        // A store of what is no file, such as a web service, needs no place of its own.
        let isNowhere = parameters.url == nil && storeClass is NSIncrementalStore.Type
        guard let url = parameters.url ?? (isNowhere ? Self.nowhere : nil) else {
            throw StoreError(
                .cannotOpen, "A store of a registered type needs a URL.",
                fields: ["type": parameters.type])
        }
        let store = storeClass.init(
            persistentStoreCoordinator: self, configurationName: parameters.configuration, at: url,
            options: parameters.options)
        store.parameters = parameters
        try store.openRows(platform: platform)
        if isNowhere { store.note(url: nil) }
        return store
    }

    /// Puts a store in the place of one that it was made from, with its IDs where it `hasIDs`.
    final func replace(
        _ store: NSPersistentStore, with made: NSPersistentStore, takingIDs hasIDs: Bool
    ) {
        store.willRemove(from: self)
        if hasIDs { made.takeOverIDs() }
        state.withLock { state in
            let place = state.stores.firstIndex { $0 === store } ?? state.stores.endIndex
            state.stores.removeAll { $0 === store }
            state.stores.insert(made, at: min(place, state.stores.count))
        }
        store.persistentStoreCoordinator = nil
        endWork(of: store)
        made.didAdd(to: self)
        watch(made)
        postStoresChanged([
            NSRemovedPersistentStoresKey: [store], NSAddedPersistentStoresKey: [made],
        ])
    }

    /// Closes a store. Its objects stay in memory and cannot be saved any more; query generations
    /// of it end. It throws nothing here (at Apple 134070). Cost: O(pages in the log).
    open func remove(_ store: NSPersistentStore) throws {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
        store.willRemove(from: self)
        state.withLock { $0.stores.removeAll { $0 === store } }
        store.persistentStoreCoordinator = nil
        endWork(of: store)
        postStoresChanged([NSRemovedPersistentStoresKey: [store]])
    }

    private func postStoresChanged(_ userInfo: [AnyHashable: Any]) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
    }

    /// The store at a URL, or at the file that a link there leads to.
    open func persistentStore(for url: URL) -> NSPersistentStore? {
        let stores = persistentStores
        if let store = stores.first(where: { $0.url == url }) { return store }
        guard url.isFileURL, !url.isNullDevice else { return nil }
        let path = url.resolvingSymlinksInPath().path
        return stores.first { $0.filePath == path }
    }

    /// The URL of a store; `/dev/null` for one in memory.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? Self.nowhere }

    private static let nowhere = URL(fileURLWithPath: "/dev/null")

    /// The store's metadata, read from it at each call; empty where it cannot be read.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Replaces the application's metadata at once; Apple's waits for the next save. What cannot be
    /// written is left out, and told on standard error.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        store.metadata = metadata ?? [:]
    }

    // MARK: IDs

    /// The ID a URI stands for; nil where no store of this coordinator has that identifier, or no
    /// such entity.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard url.scheme == "x-coredata", let host = url.host else { return nil }
        let parts = url.path.split(separator: "/")
        guard parts.count == 2,
            let store = persistentStores.first(where: {
                $0.identifier.caseInsensitiveCompare(host) == .orderedSame
            }),
            let layout = store.rowStore.layout.entity(named: String(parts[0])),
            let row = store.row(uriName: String(parts[1]), layout)
        else { return nil }
        return store.id(for: row)
    }

    /// The same row's ID here, for one that came from another coordinator; nil where no store here
    /// has its entity.
    final func ownID(of id: NSManagedObjectID) -> NSManagedObjectID? {
        guard let store = id.persistentStore, !id.isTemporaryID,
            store.persistentStoreCoordinator !== self
        else { return id }
        return managedObjectID(forURIRepresentation: id.uriRepresentation())
    }

    /// The ID a URI's text stands for.
    open func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap(managedObjectID(forURIRepresentation:))
    }

    // MARK: Contexts

    func remember(_ context: NSManagedObjectContext) {
        state.withLock { state in
            state.contexts.removeAll { $0.isOver || $0 === context.tie }
            state.contexts.append(context.tie)
        }
    }

    func forget(_ context: NSManagedObjectContext) {
        state.withLock { $0.contexts.removeAll { $0.isOver || $0 === context.tie } }
    }

    var contexts: [NSManagedObjectContext] {
        state.withLock { $0.contexts }.compactMap(\.target)
    }

    // MARK: Work in turn

    /// Runs `block` after others given to this coordinator, and waits. Stores serialise their own
    /// work, so nothing else needs it. Throws what `block` throws. Cost: the caller's thread waits.
    public final func performAndWait<T, Failure: Error>(
        _ block: () throws(Failure) -> T
    ) throws(Failure) -> T {
        try queue.run { NSManagedObjectContext.outcome(of: block) }.get()
    }

    /// Runs `block` after others given to this coordinator, later.
    public final func perform(_ block: @escaping () -> Void) {
        let passed = UncheckedTransfer(block)
        queue.enqueue { passed.value() }
    }

    /// Runs `block` after others given to this coordinator, and returns what it returns. Throws
    /// what `block` throws. Cost: a turn on the coordinator's queue.
    public final func perform<T, Failure: Error>(
        _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        try await queue.perform { NSManagedObjectContext.outcome(of: block) }.get()
    }
}
