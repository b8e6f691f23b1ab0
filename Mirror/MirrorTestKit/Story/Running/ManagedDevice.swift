internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Persistence
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// A device on which an app edits managed objects: a coordinator, a context, and the mirror of
/// their store. Classes of the app's, `willSave` and validation take part.
final class ManagedDevice {
    /// What a device is made of, and what stays when it starts again.
    struct Setting {
        var name: String
        var file: URL
        var model: NSManagedObjectModel
        var policy: MergePolicy
        var platform: Environment
        /// Service and container, as the ledger knows them.
        var container: String
        var place = Place()
        /// The keys of sealed values, where it has them.
        var keys: SealingKeys?
        /// Bytes of a value above which it is an asset, where the story says so.
        var assetValueBytesMax: Int?
        var assets: (any AssetCarrier)?
        /// Whether the context records what can be undone.
        var undoes = false
    }

    /// Whose device it is, which zone it is mirrored with, and what is sent to it.
    struct Place {
        var zone: String?
        /// Another user than the zone's owner; the store waits then, until there is a zone.
        var user: String?
        var zoneOwner: String?
        /// nil for everything.
        var selection: SyncSelection?
        /// Whether it is the zone of the public database, whoever's device it is.
        var isPublic = false

        /// Whether all records of the zone come to the device, without a share.
        var seesAll: Bool { isPublic || user == nil }
    }

    private(set) var setting: Setting
    var name: String { setting.name }
    private(set) var context: NSManagedObjectContext
    private(set) var store: NSPersistentStore
    private(set) var session: SimulatedSession
    /// Objects that were made and not saved.
    var unsaved: [String: NSManagedObject] = [:]
    /// Whether edits wait for `save`.
    var holdsEdits = false
    private var restores = 0

    var mirrored: MirroredStore { session.mirrored }

    /// Opens the store, or makes it where there is no file; a new one begins to be mirrored.
    init(_ setting: Setting, isNew: Bool = true) throws {
        self.setting = setting
        (context, store, session) = try Self.open(setting)
        if isNew && !waitsForShare { _ = try mirrored.prepare(container: setting.container) }
    }

    /// Whether it is another user's and takes part in nothing.
    var waitsForShare: Bool { !setting.place.seesAll && setting.place.zoneOwner == nil }

    private static func open(
        _ setting: Setting
    ) throws -> (NSManagedObjectContext, NSPersistentStore, SimulatedSession) {
        let coordinator = NSPersistentStoreCoordinator(
            model: setting.model, platform: setting.platform)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: setting.file,
            options: [
                NSPersistentHistoryTrackingKey: true,
                NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
                NSSQLitePragmasOption: ["synchronous": "OFF"],
            ])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "app"
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        if setting.undoes { context.undoManager = UndoManager() }
        guard let rows = store.rowStore as? SQLiteRowStore else {
            throw StoryError("\(setting.name) has no SQLite store.")
        }
        let mirrored = try MirroredStore(
            store: rows, policy: setting.policy,
            database: setting.place.isPublic ? .public : nil, zoneName: setting.place.zone,
            zoneOwner: setting.place.zoneOwner, keys: setting.keys, platform: setting.platform,
            selecting: .given(setting.place.selection)
        ) { settings in
            if let bytes = setting.assetValueBytesMax {
                settings.sizes.valueBytesMax = bytes
            }
        }
        let session = SimulatedSession(
            mirrored: mirrored, container: setting.container, assets: setting.assets)
        return (context, store, session)
    }

    // MARK: Processes and files

    /// The process dies and starts again over its file: what was not saved is gone.
    func restart() throws {
        unsaved = [:]
        holdsEdits = false
        (context, store, session) = try Self.open(setting)
    }

    /// Starts again over a copy of `file`, which may be an earlier one of its own.
    func restart(over file: URL) throws {
        restores += 1
        let next = setting.file.deletingLastPathComponent()
            .appendingPathComponent("\(name)-\(restores).sqlite")
        try SimulatedFiles.copy(file, to: next)
        setting.file = next
        try restart()
    }

    /// Starts again with another model; the store is migrated.
    func restart(with model: NSManagedObjectModel) throws {
        setting.model = model
        try restart()
    }

    /// Starts again with the zone of another's, or with none.
    func restart(in zone: ZoneID?) throws {
        setting.place.zone = zone?.zoneName
        setting.place.zoneOwner = zone?.ownerRecordName
        try restart()
        if zone != nil { _ = try mirrored.prepare(container: setting.container) }
    }

    /// Starts again, and sends what is chosen from now on.
    func restart(sending selection: SyncSelection?) throws {
        setting.place.selection = selection
        try restart()
    }

    /// Another process of this device goes on in the same file.
    func restart(sharing other: ManagedDevice) throws {
        setting.file = other.setting.file
        try restart()
    }

    // MARK: Edits

    /// Runs `body` on the context's queue and saves, unless edits wait. What the model or the app
    /// refuses is forgotten and thrown.
    func edit(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try context.performAndWait {
            do {
                try body(context)
                if !holdsEdits { try context.save() }
            } catch {
                if !holdsEdits { context.rollback() }
                throw error
            }
        }
    }

    func save() throws {
        holdsEdits = false
        try edit { _ in }
    }

    func rollback() {
        holdsEdits = false
        unsaved = [:]
        context.performAndWait { context.rollback() }
    }

    /// The context takes in what a round brought.
    func refresh() { context.performAndWait { context.refreshAllObjects() } }

    /// The object of a row; nil where there is none.
    func object(of row: RowID) -> NSManagedObject? {
        try? context.existingObject(with: store.id(for: row))
    }

    func ledger(in transaction: StoreTransaction) throws -> Ledger? {
        guard try Ledger.exists(in: transaction.connection) else { return nil }
        return Ledger(connection: transaction.connection, platform: setting.platform)
    }
}

/// A device's clock, which a story can set.
final class StoryClock: Clock, Sendable {
    private let world: VirtualClock
    private let ahead: Lock<Double>

    init(world: VirtualClock, ahead: Double) {
        self.world = world
        self.ahead = Lock(ahead)
    }

    func now() -> Date { world.now() + ahead.withLock { $0 } }
    func set(ahead seconds: Double) { ahead.withLock { $0 = seconds } }
}
