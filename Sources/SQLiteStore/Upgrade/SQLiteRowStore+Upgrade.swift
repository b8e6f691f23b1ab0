package import Foundation
package import ObjectModel
package import Platform
internal import SQLiteDriver
package import Stores

// From one version of a model to the next, within the file.
extension SQLiteRowStore {
    /// Rewrites the tables of the store at `url`, which was made with `source`, for another version
    /// of its model, in one transaction: where it throws, or the process ends, the store is as it
    /// was. Objects keep their keys, and the history, the metadata of applications and large values
    /// stay. Returns at once where the store has that version already.
    ///
    /// With `defers`, tables and columns that nobody reads any more and indexes of requests are
    /// left for `finishDeferredWork()`, as the metadata say then.
    ///
    /// `defaults` gives an attribute's default value in its stored form; `tell` is told which share
    /// of the rows is done. Cost: O(rows) of the
    /// entities that changed; the file needs room for a second copy of their tables. Throws
    /// `UpgradeRefusal` where rows do not fit, `StoreError` as opening does.
    package static func upgrade(
        _ url: URL, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        configuration: String?, mapping: InferredMapping, defers: Bool = false,
        options: SQLiteStoreOptions = .init(), platform: Environment = .system,
        defaults: @escaping (NSAttributeDescription) -> AttributeValue,
        telling tell: ((Float) -> Void)? = nil
    ) throws {
        var options = options
        options.vacuumsOnOpening = false
        options.analyzesOnOpening = false
        let file = StoreFile(url: url, options: options)
        try StoreError.mapping(path: file.path) {
            try StoreUpgrade(
                file: file, source: source, destination: destination, configuration: configuration,
                mapping: mapping, platform: platform, defaults: defaults, tell: tell,
                defers: defers
            ).run()
        }
    }

    /// Hands what a mirror keeps in the store at `source` on to the one at `destination`, a new
    /// file that a mapping made of it; does nothing where there is no mirror. `entities` says what
    /// the entities that were taken along have become, `history` when edits were made that the
    /// mirror has not looked at, and `rows` tells each old row with what came of it. May be called
    /// again with more rows. Cost: O(lines of the mirror, edits since its last round).
    package static func handOnMirror(
        from source: URL, to destination: URL, entities: [String: String],
        history: FormerHistory, platform: Environment = .system,
        rows: ((RowID, RowID) throws -> Void) throws -> Void
    ) throws {
        let options = SQLiteStoreOptions()
        let (old, new) = (
            StoreFile(url: source, options: options), StoreFile(url: destination, options: options)
        )
        try StoreError.mapping(path: new.path) {
            let reading = try old.openForReading()
            guard try MirrorTables.exist(in: reading) else { return }
            let metadata = try StoreMetadata(reading: reading, path: old.path)
            try MirrorTables(
                source: reading, identifier: metadata.identifier, destination: new.open(),
                entities: entities, history: history, faults: platform.faults
            ).handOn(rows: rows)
        }
    }

    /// How many objects of the mirrored store at `url` have edits that no round of its mirror has
    /// sent; 0 where there is no mirror. Only reads. Cost: O(lines that wait, history since the
    /// mirror's last look).
    package static func objectsWaitingForMirror(at url: URL) throws -> Int {
        let file = StoreFile(url: url, options: SQLiteStoreOptions())
        return try StoreError.mapping(path: file.path) {
            let reading = try file.openForReading()
            guard try MirrorTables.exist(in: reading) else { return 0 }
            return try MirrorTables.waitingObjects(in: reading)
        }
    }

    /// Does one piece of what an upgrade left for later, in a transaction of its own, and returns
    /// whether there was any. Throws `.readOnly`, `.busy`, `.diskFull`. Cost: one look at the
    /// metadata where nothing was left; else O(rows) of one table.
    public func finishDeferredWork() throws -> Bool {
        guard try metadata()[StoreMetadataKey.deferredMigration] as? Bool ?? false else {
            return false
        }
        return try write { transaction in
            try DeferredWork(
                connection: transaction.connection, schema: open.schema, path: open.path
            )
            .doNext()
        }
    }

    /// What `upgrade` would do to the tables of the store at `url`, which is only read.
    package static func upgradeForecast(
        of url: URL, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        configuration: String?, mapping: InferredMapping,
        options: SQLiteStoreOptions = .init(), platform: Environment = .system,
        defaults: @escaping (NSAttributeDescription) -> AttributeValue
    ) throws -> UpgradeForecast {
        var options = options
        options.isReadOnly = true
        let file = StoreFile(url: url, options: options)
        return try StoreError.mapping(path: file.path) {
            try StoreUpgrade(
                file: file, source: source, destination: destination, configuration: configuration,
                mapping: mapping, platform: platform, defaults: defaults, tell: nil
            ).forecast()
        }
    }
}
