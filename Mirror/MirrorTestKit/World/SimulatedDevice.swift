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
    private(set) var file: URL
    private(set) var sessions: [SimulatedSession] = []
    private var restores = 0
    /// Says when it is updated: a stream of its own, so that a seed is the same world but for it.
    let updateDice: SeededRandomness
    /// Says when it works ahead, likewise.
    private let aheadDice: SeededRandomness
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
        updateDice: SeededRandomness, aheadDice: SeededRandomness, isLater: Bool,
        assets: (any AssetCarrier)? = nil
    ) throws {
        self.assets = assets
        self.updateDice = updateDice
        self.aheadDice = aheadDice
        self.isLater = isLater
        self.name = name
        self.file = file
        self.settings = settings
        self.platform = platform
        try restart()
        _ = try mirrored.prepare(container: SimulatedService.container)
    }

    private func open() throws -> MirroredStore {
        var options = SQLiteStoreOptions()
        options.synchronous = .off
        let store = try SQLiteRowStore(
            url: file, model: model, options: options, platform: platform)
        let sizes = settings.sizes
        return try MirroredStore(store: store, policy: settings.policy, platform: platform) {
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
        file = next
        guard self.isLater, !isLater else {
            self.isLater = isLater
            return try restart()
        }
        self.isLater = false
        try update(byMapping: false)
    }

    private func nextFile() -> URL {
        restores += 1
        return file.deletingLastPathComponent()
            .appendingPathComponent("\(name)-\(restores).sqlite")
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
            file = next
        } else {
            try SQLiteRowStore.upgrade(
                file, from: settings.model, to: later, configuration: nil,
                mapping: InferredMapping(from: settings.model.entities, to: later.entities),
                platform: platform, defaults: { $0.storedDefault })
        }
        isLater = true
        try restart(calm: calm)
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
