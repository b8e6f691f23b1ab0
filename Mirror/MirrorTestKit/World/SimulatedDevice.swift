internal import Foundation
internal import MirrorEngine
internal import ObjectModel
internal import Persistence
internal import Platform
internal import RecordWire
internal import SQLiteDriver
internal import SQLiteStore
internal import Stores

/// One device of a simulated world: a real store in a file, and one or two processes that mirror
/// it.
final class SimulatedDevice {
    let name: String
    let platform: Environment
    private let settings: WorldSettings
    private let assets: (any AssetCarrier)?
    private var files: (current: URL, restores: Int)
    var file: URL { files.current }
    private(set) var sessions: [SimulatedSession] = []
    private var place: Place
    /// Says when it is updated: a stream of its own, so that a seed is the same world but for it.
    let updateDice: SeededRandomness
    /// Says when it works ahead, likewise.
    private let aheadDice: SeededRandomness
    /// Says when its keys change, likewise.
    let keyDice: SeededRandomness
    /// The numbers of the sealing keys it has.
    private(set) var keyNumbers: Set<UInt8> = []
    /// Whether its app has the world's later model.
    private(set) var isLater: Bool
    private var model: NSManagedObjectModel {
        isLater ? settings.laterModel ?? settings.model : settings.model
    }

    /// The first process, in which the app edits.
    var session: SimulatedSession { sessions[0] }
    var mirrored: MirroredStore { session.mirrored }
    var store: SQLiteRowStore { mirrored.store }

    init(
        name: String, file: URL, settings: WorldSettings, platform: Environment,
        updateDice: SeededRandomness, aheadDice: SeededRandomness,
        keyDice: SeededRandomness = SeededRandomness(seed: 0), isLater: Bool,
        user: String? = nil, assets: (any AssetCarrier)? = nil
    ) throws {
        place = Place(user: user)
        self.assets = assets
        self.keyDice = keyDice
        if let sealing = settings.faults.devices.sealing,
            !keyDice.chance(percent: sealing.keylessPercent)
        {
            keyNumbers = [Self.firstKey]
        }
        self.updateDice = updateDice
        self.aheadDice = aheadDice
        self.isLater = isLater
        self.name = name
        files = (file, 0)
        self.settings = settings
        self.platform = platform
        try restart()
        if user == nil { _ = try mirrored.prepare(container: SimulatedService.container) }
    }

    /// Whose it is, which zone it is mirrored with, and what it sends.
    private struct Place {
        let user: String?
        var sharedZone: ZoneID?
        var selection: SyncSelection?
        /// What it sent before, as far as its store may not have heard of the change.
        var former: [SyncSelection?] = []
    }

    /// The other user whose device it is; nil for the owner's.
    var user: String? { place.user }
    /// What it sends; nil: everything.
    var selection: SyncSelection? { place.selection }
    /// Whether it is another user's and takes part in nothing.
    var waitsForShare: Bool { user != nil && place.sharedZone == nil }

    /// Is mirrored with a zone that somebody shares from now on, or with none.
    func join(_ zone: ZoneID?) throws {
        place.sharedZone = zone
        try restart()
        guard zone != nil else { return }
        _ = try mirrored.prepare(container: SimulatedService.container)
    }

    /// Sends what is chosen from its next start on, which is now.
    func choose(_ selection: SyncSelection?, calm: Bool = false) throws {
        place.former.append(place.selection)
        place.selection = selection
        try restart(calm: calm)
    }

    /// Its store was looked at by a round.
    func noteLook() { place.former = [] }

    /// Its file is another's from now on, which may not have heard of what that one sends.
    func takeSelections(of other: SimulatedDevice) {
        place.former += other.place.former + [other.place.selection]
    }

    /// Whether all objects of an entity are sent, so that a deletion of one is told: also by what
    /// its store knows, which goes by what is chosen when a round looks at it.
    func sendsAll(of entity: NSEntityDescription) -> Bool {
        (place.former + [selection]).allSatisfy { $0?.sendsAll(of: entity) ?? true }
    }

    private func open() throws -> MirroredStore {
        var options = SQLiteStoreOptions()
        options.synchronous = .off
        let store = try SQLiteRowStore(
            url: file, model: model, options: options, platform: platform)
        let sizes = settings.sizes
        return try MirroredStore(
            store: store, policy: settings.policy, zoneName: place.sharedZone?.zoneName,
            zoneOwner: place.sharedZone?.ownerRecordName, keys: keys, platform: platform,
            selecting: .given(selection)
        ) {
            $0.batchRecordsMax = sizes.batchRecordsMax
            $0.historyTransactionsMax = sizes.historyTransactionsMax
            if let bytes = sizes.assetValueBytesMax { $0.sizes.valueBytesMax = bytes }
        }
    }

    /// The processes die and start again: what was in memory is gone, the file is as the last
    /// commit left it. Once the world calms down there is one process.
    func restart(calm: Bool = false) throws {
        sessions = [try openSession()]
        if settings.faults.devices.hasSecondProcess && !calm {
            sessions.append(try openSession())
        }
    }

    private func openSession() throws -> SimulatedSession {
        SimulatedSession(
            mirrored: try open(), dialect: settings.dialect,
            dice: settings.worksAhead ? aheadDice : nil, assets: assets)
    }

    /// Starts again over a copy of `other`, which may be an earlier one of its own. `isLater` tells
    /// of which version of the model it is; an older one is migrated, a newer one brings its app.
    func restart(over other: URL, isLater: Bool) throws {
        let next = nextFile()
        try SimulatedFiles.copy(other, to: next)
        files.current = next
        guard self.isLater, !isLater else {
            self.isLater = isLater
            try beginAgain()
            return
        }
        self.isLater = false
        try update(byMapping: false)
    }

    /// Starts again over another file than before; a guest's is looked at at once.
    func beginAgain() throws {
        try restart()
        guard place.sharedZone != nil else { return }
        _ = try mirrored.prepare(container: SimulatedService.container)
    }

    private func nextFile() -> URL {
        files.restores += 1
        return file.deletingLastPathComponent()
            .appendingPathComponent("\(name)-\(files.restores).sqlite")
    }

    /// The app is updated, and its store migrated to the later model: within its file, or by a
    /// mapping model into a new one. A kill leaves the store as it was.
    func update(byMapping: Bool, calm: Bool = false) throws {
        guard !isLater, let later = settings.laterModel else { return }
        sessions = []
        if byMapping {
            let manager = NSMigrationManager(
                sourceModel: settings.model, destinationModel: later)
            manager.platform = platform
            let next = nextFile()
            try manager.migrateStore(
                from: file, type: .sqlite,
                mapping: .inferredMappingModel(
                    forSourceModel: settings.model, destinationModel: later),
                to: next, type: .sqlite)
            files.current = next
        } else {
            try SQLiteRowStore.upgrade(
                file, from: settings.model, to: later, configuration: nil,
                mapping: InferredMapping(from: settings.model.entities, to: later.entities),
                platform: platform, defaults: { $0.storedDefault })
        }
        isLater = true
        try restart(calm: calm)
    }

    // MARK: Keys

    /// The key that the world begins with.
    static let firstKey: UInt8 = 1

    private var keys: SealingKeys? {
        get throws {
            guard !keyNumbers.isEmpty else { return nil }
            return try SealingKeys(
                keyNumbers.sorted().map {
                    try SealingKey(secret: Data(repeating: $0, count: 32))
                })
        }
    }

    /// Has these keys too from its next start on.
    func take(_ keys: Set<UInt8>) { keyNumbers.formUnion(keys) }

    /// Whether it was updated, and nothing looked at the store since: what came for the later model
    /// is not in the rows yet.
    func waitsForModel() throws -> Bool {
        let known = try store.read { try ledger(in: $0).setting(.modelDigest)?.string }
        return known != nil && known != mirrored.settings.modelDigest
    }

    /// Whether it has keys that no round has opened the rows' values with.
    func waitsForUnlocking() throws -> Bool {
        guard let keys = try keys else { return false }
        let opened = try store.read { try ledger(in: $0).setting(.sealingKeys)?.string ?? "" }
        return !Set(keys.keys.map(\.description)).isSubset(
            of: opened.split(separator: " ").map(String.init))
    }

    // MARK: Edits

    /// Saves what `body` makes of the store, as an app would. With `takesBack` it is undone before
    /// it is committed.
    func edit(
        takesBack: Bool = false, _ body: (StoreTransaction) throws -> ChangeSet
    ) throws {
        try store.write { transaction in
            var changes = try body(transaction)
            guard !changes.isEmpty else { return }
            changes.author = "app"
            _ = try transaction.apply(changes)
            if takesBack { throw EditTakenBack() }
        }
    }

    /// The record name of a row, made up now when it has none.
    func recordName(of row: RowID) throws -> String {
        try store.write { try recordName(of: row, in: $0) }
    }

    /// The same within an edit, so that either both happen or neither.
    func recordName(of row: RowID, in transaction: StoreTransaction) throws -> String {
        try ledger(in: transaction).recordName(for: row)
    }

    func ledger(in transaction: StoreTransaction) -> Ledger {
        Ledger(connection: transaction.connection, platform: platform)
    }
}

/// The app changed its mind before it committed.
struct EditTakenBack: Error {}
