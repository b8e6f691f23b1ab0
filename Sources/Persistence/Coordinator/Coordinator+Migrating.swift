public import Foundation
internal import ObjectModel
internal import Platform
internal import SQLiteStore
internal import Stores

// Moving an open store to another place or type.
extension NSPersistentStoreCoordinator {
    /// Writes all of a store into a new one at `storeURL`, and opens that in its place.
    ///
    /// Contexts go on with the new store: their objects stay, unsaved changes and all, and are
    /// saved there; IDs stay the same, but for the store in their URIs, and in XML and binary files
    /// for their keys. A mirrored SQLite store that moves to a SQLite store with history is copied
    /// as it is, with its history, and its mirror can go on there; in any other, all objects are
    /// new to a mirror. What another context saves meanwhile is in the new store wholly or not at
    /// all. Values whose files are gone and links that lead to no row are left out, and counted on
    /// standard error. The old store leaves the coordinator, and its files stay. Nothing may be at
    /// the new place yet: of two that move a store there at once, one gets it. Where it fails, the
    /// old store stays open and the new files are gone. Throws 134070 for a store of another
    /// coordinator or a place that is taken, 134000 for an unknown type, 134030 for a full disk,
    /// 134091 for what the other type cannot hold, for an incremental store, and for a file with
    /// rows of entities that the model does not have, which the copy would be without; a
    /// `CancellationError` where the task that calls it is cancelled. Cost: O(rows), written in one
    /// transaction; what is read is let go of on the way.
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
        try parameters.check()
        try checkIsFree(parameters)
        do {
            var copying = parameters
            copying.former = try formerRows(of: store)
            let rows = try filled(copying, from: store)
            let keepsIDs =
                rows is any KeyKeeping && numbers(in: rows) == copying.former?.numbers
            let made = NSPersistentStore(
                rowStore: rows, description: parameters, coordinator: self,
                inPlaceOf: keepsIDs ? store : nil)
            replace(store, with: made, takingIDs: keepsIDs)
            return made
        } catch {
            throw PersistenceErrors.translate(error)
        }
    }

    /// As `migratePersistentStore(_:to:options:type:)`. Throws 134000, 134030, 134070, 134091.
    /// Cost: the same.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil,
        withType storeType: String
    ) throws -> NSPersistentStore {
        try migratePersistentStore(
            store, to: URL, options: options, type: .init(rawValue: storeType))
    }

    /// What the copy of a store goes on with: but for the rows, which the copy itself tells.
    private func formerRows(of store: NSPersistentStore) throws -> FormerRows {
        var former = FormerRows()
        former.numbers = numbers(in: store.rowStore)
        former.lastKey = try store.rowStore.layout.entities.map(store.lastKey).max() ?? 0
        return former
    }

    private func numbers(in rows: any RowStore) -> [String: Int32] {
        Dictionary(
            rows.layout.members.map { ($0.entity.name ?? "", $0.number) },
            uniquingKeysWith: { first, _ in first })
    }

    /// A new store with all that `store` holds. It gets its place when it is whole.
    private func filled(
        _ parameters: StoreParameters, from store: NSPersistentStore
    ) throws -> any RowStore {
        var parameters = parameters
        let factory = try StoreRegistry.factory(for: parameters.type)
        var writing = parameters
        writing.options = parameters.options?.filter {
            $0.key != AnyHashable(NSReadOnlyPersistentStoreOption)
        }
        guard parameters.type != NSInMemoryStoreType, let place = parameters.file else {
            let rows = try factory(writing)
            _ = try fill(rows, from: store)
            try raiseKeys(of: rows, over: store)
            return rows
        }
        let file = try StoreFileType(parameters.type)
        let draft = StoreFileType.draft(of: place, platform: platform)
        writing.url = draft
        writing.access = store.parameters.file.map { FileAccess(of: $0.path) }
        do {
            if let mirrored = try mirroredFile(of: store, movingTo: parameters) {
                try Task.checkCancellation()
                try SQLiteRowStore.copyMirrored(
                    mirrored, to: draft,
                    busyMilliseconds: parameters.sqliteOptions.busyMilliseconds, platform: platform)
            } else {
                // The draft closes with its rows.
                parameters.former?.rows = try fill(try factory(writing), from: store)
            }
            // A program's own store may have made its file as it likes.
            writing.access?.apply(to: draft.path)
            try platform.faults.reach("migrate.filled")
            // Stores that are written whole take their time after the last batch of rows.
            try Task.checkCancellation()
            try file.place(draft, at: place, platform: platform)
        } catch {
            file.discard(draft)
            throw error
        }
        do {
            let rows = try factory(parameters)
            if !parameters.isReadOnly { try raiseKeys(of: rows, over: store) }
            return rows
        } catch {
            // Others may have opened it by now: it is emptied, not unlinked.
            try? file.destroy(place, isForced: false, timeout: 0, platform: .system)
            throw error
        }
    }

    /// The file of a store whose mirror is to go on in the new one; nil where it cannot. Without
    /// its ledger the mirror would take every object for a new one.
    private func mirroredFile(
        of store: NSPersistentStore, movingTo parameters: StoreParameters
    ) throws -> URL? {
        guard parameters.type == NSSQLiteStoreType, parameters.tracksHistory != false,
            let rows = store.rowStore as? SQLiteRowStore, rows.keepsHistory,
            let file = store.parameters.file, try rows.isMirrored()
        else { return nil }
        return file
    }

    /// Returns what rows with other keys were before.
    private func fill(
        _ rows: any RowStore, from store: NSPersistentStore
    ) throws -> [Int64: FormerRows.Place] {
        try (store.rowStore as? SQLiteRowStore)?.checkEntityNumbers()
        let copy = try StoreCopy.run(from: store.rowStore, to: rows)
        if copy.lostValues > 0 {
            MissingValueNotice.write(
                "\(copy.lostValues) values are not in the new store: the files that held them are "
                    + "gone from beside the old one.")
        }
        if copy.lostLinks > 0 {
            MissingValueNotice.write(
                "\(copy.lostLinks) links are not in the new store: the objects that they lead to "
                    + "are not in the old one.")
        }
        return copy.rows
    }

    /// The keys of objects that contexts are still to save are theirs in the new store, too, and
    /// those of what was saved in the old one after the copy are no other object's.
    private func raiseKeys(of rows: any RowStore, over store: NSPersistentStore) throws {
        guard let rows = rows as? any KeyKeeping else { return }
        for entity in store.rowStore.layout.entities {
            guard let number = rows.layout.entity(named: entity.name)?.number else { continue }
            let last = try store.lastKey(entity)
            guard try rows.lastKey(entity: number) < last else { continue }
            try rows.raiseKeys(entity: number, to: last)
        }
    }

    // MARK: Migrating what is opened

    /// What `open` opens; where the store is of another version of the model and the options say
    /// so, after it was migrated.
    final func migrated(
        _ parameters: StoreParameters, _ open: () throws -> any RowStore
    ) throws -> any RowStore {
        do {
            try AutomaticMigration(parameters).finishStage()
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

    /// Does all that lightweight migrations of this coordinator's stores have left for later (see
    /// `NSPersistentStoreDeferredLightweightMigrationOptionKey`), each task in a transaction of its
    /// own; what ends in between goes on with the next call. Returns at once where nothing is left.
    ///
    /// Any queue; others save between two tasks. Throws 134030 for a store that may not be written,
    /// and its failures (at Apple 134110). Cost: O(rows) of each table that is dropped, loses a
    /// column, or gets an index.
    public final func finishDeferredLightweightMigration() throws {
        try translating {
            for store in persistentStores { while try store.rowStore.finishDeferredWork() {} }
        }
    }

    /// Does one task of what lightweight migrations have left for later. As
    /// `finishDeferredLightweightMigration()`. Throws 134030, and the store's failures. Cost: that
    /// of one table, O(rows).
    public final func finishDeferredLightweightMigrationTask() throws {
        try translating {
            for store in persistentStores where try store.rowStore.finishDeferredWork() { return }
        }
    }

    private func checkIsFree(_ parameters: StoreParameters) throws {
        guard parameters.type != NSInMemoryStoreType, let file = parameters.file else { return }
        if parameters.type == NSSQLiteStoreType { try SQLiteRowStore.clearRemains(at: file) }
        guard let taken = try StoreFileType(parameters.type).firstTaken(at: file) else { return }
        throw StoreFileType.taken(taken, for: file)
    }
}
