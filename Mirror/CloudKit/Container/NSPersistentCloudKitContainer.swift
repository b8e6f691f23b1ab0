public import Foundation
public import MirrorEngine
public import ObjectModel
public import Persistence
package import Platform
internal import RecordWire

/// A container whose stores are kept equal with a record service, and so with every device of its
/// user. Source: Apple, NSPersistentCloudKitContainer.
///
/// What iCloud is at Apple is here a record service that anyone can host: set `recordService`, or
/// `recordService` of the store's options, before the stores are loaded. Each store whose
/// description has `cloudKitContainerOptions` is then mirrored by itself: after each save, when the
/// service tells of changes, and each half minute. Contexts learn of what came as of any other
/// save.
///
/// Differences from Apple: conflicts go by the options' merge policy and are kept in a log; shared
/// objects stay in their zone, and a store of the shared database has the zone of one owner, with
/// further stores beside it for further owners (`furtherStores(of:)`); `sync()`, `pause()` and
/// `resume()` are.
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {
    // @unchecked: the mirrors have a lock; the rest is set up before the stores are loaded.
    private static let address = Lock<RecordServiceAddress?>(nil)
    private static let isMetered = Lock(false)
    private let mirrors = Lock<[String: StoreMirror]>([:])
    /// Stores of the shared database that wait for a share, by identifier.
    final let awaiting = Lock<[String: AwaitingShare]>([:])
    /// Held while a store is added for a further owner's zone, or one that waits takes a zone.
    final let adding = Lock(())
    final let watching = Lock<(any RunningTask)?>(nil)
    /// Holds for stores, too, whose mirroring begins during the pause.
    final let isPaused = Lock(false)
    /// Hears of stores that leave the coordinator.
    final let removals = Lock<RemovalObserver?>(nil)
    /// Stores with options that could not be mirrored, by identifier.
    final let unmirrored = Lock<Set<String>>([])
    package final var runner: any TaskRunner = SystemTaskRunner()
    package final var sleeper: any Sleeper = SystemSleeper()

    /// The container that a description's options name at first: what Apple takes from the app's
    /// entitlements.
    public static let defaultContainerIdentifier = "iCloud.local.diptych"

    /// Where the record service is, for all stores whose options name none. Any thread.
    public static var recordService: RecordServiceAddress? {
        get { address.withLock { $0 } }
        set { address.withLock { $0 = newValue } }
    }

    /// Whether each byte is paid for on the network that is used now, as the app has found out: the
    /// network policies of the stores' options heed it from the next round on. Any thread.
    public static var networkIsMetered: Bool {
        get { isMetered.withLock { $0 } }
        set { isMetered.withLock { $0 = newValue } }
    }

    /// A container for a model that is at hand, with one store, mirrored.
    public override init(name: String, managedObjectModel model: NSManagedObjectModel) {
        super.init(name: name, managedObjectModel: model)
        persistentStoreDescriptions.first?.cloudKitContainerOptions =
            NSPersistentCloudKitContainerOptions(
                containerIdentifier: Self.defaultContainerIdentifier)
    }

    deinit {
        watching.withLock { $0.take() }?.cancel()
        for mirror in mirrors.withLock({ $0 }).values { mirror.stop() }
    }

    // MARK: Loading

    /// Opens the described stores and begins to mirror those with options. A store that cannot be
    /// mirrored is open all the same: the block gets a `CKError`, and so does the setup event.
    open override func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions
        where description.cloudKitContainerOptions != nil {
            for key in [
                NSPersistentHistoryTrackingKey,
                NSPersistentStoreRemoteChangeNotificationPostOptionKey,
            ] where description.options[key] == nil {
                description.setOption(NSNumber(value: true), forKey: key)
            }
        }
        super.loadPersistentStores { [weak self] description, error in
            guard error == nil, let self, let options = description.cloudKitContainerOptions else {
                return block(description, error)
            }
            do {
                try self.mirror(description, options)
                block(description, nil)
            } catch {
                block(description, CKError(error))
            }
        }
    }

    private func mirror(
        _ description: NSPersistentStoreDescription, _ options: NSPersistentCloudKitContainerOptions
    ) throws {
        let coordinator = persistentStoreCoordinator
        let store =
            description.url.flatMap { coordinator.persistentStore(for: $0) }
            ?? coordinator.persistentStores.last { $0.type == description.type }
        guard let store else { return }
        try startMirroring(store, with: options)
    }

    /// Begins to mirror a store that is open, without loading it anew. A store that is mirrored
    /// already goes on by the new options.
    ///
    /// Throws `CKError` for a store that cannot be mirrored: one that is no SQLite store, keeps no
    /// history, or has no service. Any thread.
    public final func startMirroring(
        _ store: NSPersistentStore, with options: NSPersistentCloudKitContainerOptions
    ) throws {
        observeRemovals()
        do {
            try begin(store, options)
            unmirrored.withLock { _ = $0.remove(store.identifier) }
        } catch {
            unmirrored.withLock { _ = $0.insert(store.identifier) }
            throw CKError(error)
        }
    }

    /// Ends the mirroring of a store and of those beside it, which stay open. A round under way
    /// ends between two of its steps; what waits stays in the store, and goes on once it is
    /// mirrored again. Any thread.
    public final func stopMirroring(_ store: NSPersistentStore) {
        awaiting.withLock { _ = $0.removeValue(forKey: store.identifier) }
        unmirrored.withLock { _ = $0.remove(store.identifier) }
        for member in family(of: store) { removeMirror(of: member)?.stop() }
    }

    final func removeMirror(of store: NSPersistentStore) -> StoreMirror? {
        mirror(of: store).flatMap { mirror in
            mirrors.withLock { _ = $0.removeValue(forKey: mirror.storeIdentifier) }
            return mirror
        }
    }

    /// Whether it was the mirror of its store still.
    final func remove(_ mirror: StoreMirror) -> Bool {
        mirrors.withLock { mirrors in
            guard mirrors[mirror.storeIdentifier] === mirror else { return false }
            mirrors[mirror.storeIdentifier] = nil
            return true
        }
    }

    private func begin(
        _ store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions
    ) throws {
        guard let address = options.recordService ?? Self.recordService else {
            throw CKError.noService
        }
        guard options.databaseScope == .shared else {
            try begin(store, options, at: address, zone: nil)
            return
        }
        if let zone = try knownZone(of: store, options) {
            try begin(store, options, at: address, zone: zone)
        } else {
            awaiting.withLock { $0[store.identifier] = AwaitingShare(options, address) }
        }
        defer { watchForShares() }
        try openFurther(of: store, options, at: address)
    }

    @discardableResult
    final func begin(
        _ store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions,
        at address: RecordServiceAddress, zone: ZoneID?
    ) throws -> StoreMirror {
        let identifier: String = store.identifier
        if let other = mirrors.withLock({ $0[identifier] }), !other.isOf(store) {
            throw CKError.copyOfMirrored
        }
        let mirror = try StoreMirror(
            store, options, at: address, zone: zone,
            ended: { [weak self] in self?.shareEnded($0) },
            stalled: { [weak self] since in self?.postStall(of: identifier, since: since) },
            report: { [weak self] event in self?.post(event) })
        let former = mirrors.withLock { mirrors in
            let former = mirrors[store.identifier]
            mirrors[store.identifier] = mirror
            return former
        }
        former?.stop()
        mirror.run(by: runner, sleeper) { isPaused.withLock { $0 } }
        return mirror
    }

    private func post(_ event: Event) {
        let message = EventChangedMessage(event, of: self)
        NotificationCenter.default.post(EventChangedMessage.makeNotification(message))
        NotificationCenter.default.post(message, subject: self)
    }

    // MARK: By hand

    /// One round of every mirrored store, now. Returns whether all are equal with the service; a
    /// store that could not be mirrored is not, one that waits for a share with objects in it, nor
    /// is a container without any. Throws `CKError` for the first store that failed; the others
    /// were synced all the same.
    public final func sync() async throws -> Bool { try await each { try await $0.sync() } }

    /// As `sync()`, telling how far it is: each store is one unit of `progress`, whose total is
    /// set, with a child that counts records. Cancelling it ends the round that runs, and a request
    /// that waits for its answer; then `CKError.Code.operationCancelled` is thrown, and nothing is
    /// lost.
    public final func sync(reporting progress: Progress) async throws -> Bool {
        return try await each { mirror in
            guard !progress.isCancelled else { throw CKError(CancellationError()) }
            progress.totalUnitCount = Int64(self.mirrors.withLock { $0.count })
            let round = RoundProgress()
            progress.addChild(round.whole, withPendingUnitCount: 1)
            return try await mirror.sync(reporting: round)
        }
    }

    /// How far the round of a mirrored store is that runs now, by itself or by hand; nil between
    /// rounds, and for a store that is not mirrored. Any thread.
    public final func progress(of store: NSPersistentStore) -> RoundProgress? {
        mirror(of: store)?.session.roundProgress
    }

    /// Rounds of every mirrored store until nothing waits on either side, or what waits cannot go:
    /// records that the service refuses, conflicts that need a decision. Returns whether all are
    /// equal with the service. Throws as `sync` does.
    public final func syncUntilQuiescent() async throws -> Bool {
        try await each { try await $0.syncUntilQuiescent() }
    }

    private func each(_ round: (StoreMirror) async throws -> SyncSummary) async throws -> Bool {
        let isAny = mirrors.withLock { !$0.isEmpty } || awaiting.withLock { !$0.isEmpty }
        var areEqual = isAny && unmirrored.withLock { $0.isEmpty }
        var failure: (any Error)?
        do {
            try await bindAwaiting()
        } catch {
            failure = error
        }
        func run(_ chosen: [StoreMirror]) async {
            for mirror in chosen.sorted(by: { $0.storeIdentifier < $1.storeIdentifier }) {
                do {
                    areEqual = try await round(mirror).isInSync && areEqual
                } catch {
                    failure = failure ?? error
                }
            }
        }
        await run(Array(mirrors.withLock { $0 }.values))
        if (failure as? CKError)?.code != .operationCancelled {
            let further = await addFurtherStores()
            failure = failure ?? further.failure
            await run(further.added)
        }
        if let failure { throw failure }
        return areEqual && !areObjectsWaiting
    }

    /// Rounds begin no more by themselves, nor is the service asked for further shares; saves go on
    /// and wait. It holds for stores, too, that are mirrored only then.
    public final func pause() {
        isPaused.withLock { $0 = true }
        for mirror in mirrors.withLock({ $0 }).values { mirror.pause() }
    }

    /// Ends a pause, with a round at once.
    public final func resume() {
        isPaused.withLock { $0 = false }
        for mirror in mirrors.withLock({ $0 }).values { mirror.resume() }
        if watching.withLock({ $0 != nil }) { watchForShares() }
    }

    /// How a mirrored store stands towards its service; nil for one that is not mirrored.
    public final func status(of store: NSPersistentStore) throws -> MirrorStatus? {
        try mirroredStore(of: store)?.status()
    }

    /// The store under mirroring, with its conflict log and its rules; nil for one that is not
    /// mirrored. A store whose share has ended keeps its log until it takes part in another.
    public final func mirroredStore(of store: NSPersistentStore) -> MirroredStore? {
        if let mirror = mirror(of: store) { return mirror.session.store }
        return waits(store) ? try? MirroredStore.known(of: store) : nil
    }

    func mirror(of store: NSPersistentStore?) -> StoreMirror? {
        guard let store else { return nil }
        guard let mirror = mirrors.withLock({ $0[store.identifier] }), mirror.isOf(store) else {
            return nil
        }
        return mirror
    }

    var mirroredStores: [(store: NSPersistentStore, mirror: StoreMirror)] {
        persistentStoreCoordinator.persistentStores.compactMap { store in
            mirror(of: store).map { (store, $0) }
        }
    }
}
