public import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteStore
internal import Stores

// Moving an open store to another place or type.
extension NSPersistentStoreCoordinator {
    /// Writes all of a store into a new one at `storeURL`, and opens that in its place.
    ///
    /// Rows get new keys; the old store leaves the coordinator, and its files stay. Nothing may be
    /// at the new place yet. Where it fails, the old store stays open and the new files are gone.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        guard store.persistentStoreCoordinator === self else {
            throw PersistenceErrors.make(
                NSPersistentStoreOperationError,
                "The store is not one of this coordinator; ask its own coordinator.")
        }
        var parameters = StoreParameters(
            type: storeType.rawValue, model: managedObjectModel, platform: platform)
        parameters.configuration = store.parameters.configuration
        parameters.url = storeURL
        parameters.options = options
        try checkIsFree(parameters)
        do {
            let made = NSPersistentStore(
                rowStore: try filled(parameters, from: store), description: parameters,
                coordinator: self)
            replace(store, with: made)
            return made
        } catch {
            throw PersistenceErrors.translate(error)
        }
    }

    /// Writes all of a store into a new one, and opens that in its place.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil,
        withType storeType: String
    ) throws -> NSPersistentStore {
        try migratePersistentStore(
            store, to: URL, options: options, type: .init(rawValue: storeType))
    }

    /// A new store with all that `store` holds. It gets its place when it is whole.
    private func filled(
        _ parameters: StoreParameters, from store: NSPersistentStore
    ) throws -> any RowStore {
        let factory = try StoreRegistry.factory(for: parameters.type)
        var writing = parameters
        writing.options = parameters.options?.filter {
            $0.key != AnyHashable(NSReadOnlyPersistentStoreOption)
        }
        guard parameters.type != NSInMemoryStoreType, let place = parameters.file else {
            let rows = try factory(writing)
            try fill(rows, from: store)
            return rows
        }
        let file = try StoreFileType(parameters.type)
        let draft = StoreFileType.draft(of: place, platform: platform)
        writing.url = draft
        do {
            // The draft closes with its rows.
            try fill(try factory(writing), from: store)
            if let source = store.parameters.file {
                FileAccess(of: source.path).apply(to: draft.path)
            }
            try platform.faults.reach("migrate.filled")
            try file.place(draft, at: place, platform: platform)
        } catch {
            file.discard(draft)
            throw error
        }
        do {
            return try factory(parameters)
        } catch {
            // Others may have opened it by now: it is emptied, not unlinked.
            try? file.destroy(place, isForced: false, timeout: 0, platform: .system)
            throw error
        }
    }

    private func fill(_ rows: any RowStore, from store: NSPersistentStore) throws {
        var copy = StoreCopy(from: store.rowStore, to: rows)
        try copy.run()
        guard copy.missingCount > 0 else { return }
        MissingValueNotice.write(
            "\(copy.missingCount) values are not in the new store: the files that held them are "
                + "gone from beside the old one.")
    }

    // MARK: Migrating what is opened

    /// What `open` opens; where the store is of another version of the model and the options say
    /// so, after it was migrated.
    final func migrated(
        _ parameters: StoreParameters, _ open: () throws -> any RowStore
    ) throws -> any RowStore {
        do {
            return try open()
        } catch let error as NSError
            where error.code == NSPersistentStoreIncompatibleVersionHashError
            && error.domain == NSCocoaErrorDomain
        {
            guard try AutomaticMigration(parameters).run() else {
                throw MigrationErrors.incompatible(error, parameters)
            }
            return try open()
        }
    }

    /// Finishes what a lightweight migration left for later. Here none does: it returns at once.
    public final func finishDeferredLightweightMigration() throws {}

    /// Does one task of what a lightweight migration left for later. Here none leaves any: it
    /// returns at once.
    public final func finishDeferredLightweightMigrationTask() throws {}

    private func checkIsFree(_ parameters: StoreParameters) throws {
        guard parameters.type != NSInMemoryStoreType, let file = parameters.file else { return }
        if parameters.type == NSSQLiteStoreType { try SQLiteRowStore.clearRemains(at: file) }
        guard let taken = try StoreFileType(parameters.type).firstTaken(at: file) else { return }
        throw PersistenceErrors.make(
            NSPersistentStoreOperationError,
            "There is a file at the new place already; remove it with destroyPersistentStore, or "
                + "choose another.", [NSFilePathErrorKey: taken.path])
    }
}
