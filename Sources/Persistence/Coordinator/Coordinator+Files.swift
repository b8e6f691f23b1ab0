public import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

// Store files that are not open.
extension NSPersistentStoreCoordinator {
    // A store at `/dev/null` is one in memory and has no file.

    // MARK: Metadata

    /// The metadata of a store's file, without opening it for work. `options` are not needed.
    /// Throws 134000 for a type without files, 134010 for a store of another type; of Foundation's
    /// codes 260 where there is no file, 259 for one that is damaged or no store, 257 where it may
    /// not be read, 256 where it cannot be; 134080 for a folder and its like. Cost: a few rows of
    /// SQLite; other files are read, and parsed as far as their metadata.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreFileType(storeType.rawValue).metadata(at: storeURL)
    }

    /// As `metadataForPersistentStore(type:at:options:)`. Throws 134000, 134010, 134080, 256, 257,
    /// 259, 260. Cost: the same.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreFileType(storeType).metadata(at: url)
    }

    /// The metadata of a store's file, whose type is told by its contents. Throws 260 where there
    /// is none, 259 for one that is damaged or no store, 257 where it may not be read. Cost: a few
    /// rows of SQLite; other files are read, and parsed as far as their metadata.
    public class func metadataForPersistentStore(with url: URL) throws -> [AnyHashable: Any] {
        try StoreFileType(recognizing: url).metadata(at: url)
    }

    /// Replaces the application's metadata of a store's file, which must not be open. The store's
    /// own keys stay as they are. Throws 134000, 134010, 259 for what is no store, 134030 where it
    /// may not be written, 134070 for values that are no property list. Cost: one row of SQLite;
    /// other files are read and written whole.
    public class func setMetadata(
        _ metadata: [String: Any]?, type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreFileType(storeType.rawValue).setMetadata(metadata ?? [:], at: storeURL)
    }

    /// As `setMetadata(_:type:at:options:)`; without a type the contents tell it. Throws 134000,
    /// 134010, 134030, 134070, 134080, 257, 259, 260. Cost: the same.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        let file = try storeType.map(StoreFileType.init) ?? StoreFileType(recognizing: url)
        try file.setMetadata(metadata ?? [:], at: url)
    }

    // MARK: Removing and replacing

    /// Destroys a store with all it holds: a SQLite file is emptied, since others may have it open,
    /// its large values and the files of other types are removed.
    ///
    /// The store leaves all coordinators of the process; one that is not there is no error, and
    /// what is no store stays as it is. Where somebody else holds a lock on it for longer than
    /// `NSPersistentStoreTimeoutOption` says, this fails, unless
    /// `NSPersistentStoreForceDestroyOption` is set.
    ///
    /// Throws 134000 for an unknown type, 134010 for a store of another type, 259 for a file that
    /// is no store, 134080 for what is no file, 134090 for the lock. Cost: O(1), and one file for
    /// each large value.
    public final func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType,
        options: [AnyHashable: Any]? = nil
    ) throws {
        let asked = parameters(storeType, at: url, options)
        try asked.check()
        // Looked up now: a link to a file that is gone leads nowhere.
        let destroyed = stores(destroyedWith: asked)
        for (_, store) in destroyed { store.rowStore.endSnapshots() }
        if storeType != .inMemory, let file = asked.file {
            try StoreFileType(storeType.rawValue).destroy(
                file, isForced: asked.flag(NSPersistentStoreForceDestroyOption) ?? false,
                timeout: asked.sqliteOptions.busyMilliseconds, platform: platform)
        }
        for (coordinator, store) in destroyed {
            try coordinator.remove(store)
            store.close()
        }
    }

    /// The stores that end where what `parameters` describes is destroyed.
    private func stores(
        destroyedWith parameters: StoreParameters
    ) -> [(NSPersistentStoreCoordinator, NSPersistentStore)] {
        Self.all.flatMap { coordinator in
            coordinator.persistentStores.filter { $0.isDestroyed(with: parameters, by: self) }
                .map { (coordinator, $0) }
        }
    }

    /// As `destroyPersistentStore(at:type:options:)`. Throws as that. Cost: the same.
    public final func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, type: .init(rawValue: storeType), options: options)
    }

    /// Puts a copy of one store in the place of another, or where none was. The source may be open;
    /// the destination must not be. Identifier and metadata are those of the source. A crash
    /// meanwhile leaves the old store or the new one. Throws 134070 where the destination is open
    /// in this coordinator, 134080 where there is no source, 259 for one that is no store, 134090
    /// for a lock, 134030 for a full disk. Cost: copies the file and each large value.
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws {
        try checkIsClosed(destinationURL)
        for url in [destinationURL, sourceURL] where url.isNullDevice {
            throw StoreFileType.noFile(at: url)
        }
        try StoreFileType(sourceType.rawValue)
            .replace(
                destinationURL, with: sourceURL,
                timeout: parameters(sourceType, at: destinationURL, destinationOptions)
                    .sqliteOptions.busyMilliseconds, platform: platform)
    }

    /// As
    /// `replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:type:)`.
    /// Throws 134070, 134080, 134090, 134030. Cost: the same.
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        ofType storeType: String
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions,
            withPersistentStoreFrom: sourceURL, sourceOptions: sourceOptions,
            type: .init(rawValue: storeType))
    }

    private func parameters(
        _ type: NSPersistentStore.StoreType, at url: URL, _ options: [AnyHashable: Any]?
    ) -> StoreParameters {
        var parameters = StoreParameters(
            type: type.rawValue, model: managedObjectModel, platform: platform)
        parameters.url = url
        parameters.options = options
        return parameters
    }

    private func checkIsClosed(_ url: URL) throws {
        guard persistentStore(for: url) == nil else {
            throw PersistenceErrors.make(
                NSPersistentStoreOperationError,
                "The store is open; remove it from the coordinator first.")
        }
    }

    // MARK: Moving an open store

    /// Gives an open store another place. Query generations of a SQLite store end.
    ///
    /// An XML or binary store is written there by its next save. A SQLite store must exist there
    /// already; it is opened in place of the former. False where that failed, and where another
    /// store or file stands there: it would be written over, or its objects taken for this one's.
    @discardableResult
    public final func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        guard store.persistentStoreCoordinator === self else { return false }
        if store.filePath != nil {
            guard url.isFileURL, !url.isNullDevice, StoreFileType.isPlace(url),
                isOpen(url, to: store)
            else { return false }
        }
        switch store.rowStore {
        case let rows as XMLRowStore:
            rows.relocate(to: url)
            store.move(to: url, nil)
        case let rows as BinaryRowStore:
            rows.relocate(to: url)
            store.move(to: url, nil)
        case is SQLiteRowStore:
            var parameters = store.parameters
            parameters.url = url
            guard FileManager.default.fileExists(atPath: url.path),
                let rows = try? StoreRegistry.factory(for: parameters.type)(parameters),
                rows.identifier == store.identifier
            else { return false }
            store.move(to: url, rows)
        default: store.move(to: url, nil)
        }
        watch(store)
        return true
    }

    /// Whether nothing is at a place, or the store itself, moved there or copied. What the place of
    /// a program's own store means only the program knows.
    private func isOpen(_ url: URL, to store: NSPersistentStore) -> Bool {
        let own = [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType]
        guard own.contains(store.type), FileKind(at: url.path) != .nothing else { return true }
        let metadata = try? StoreFileType(store.type).metadata(at: url)
        return metadata?[NSStoreUUIDKey] as? String == store.identifier
    }
}
