public import Foundation
internal import ObjectModel
internal import SQLiteStore
internal import Stores

// Store files that are not open.
extension NSPersistentStoreCoordinator {
    /// The metadata of a store's file, without opening it for work.
    public class func metadataForPersistentStore(
        type storeType: NSPersistentStore.StoreType, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        guard storeType == .sqlite else {
            throw PersistenceErrors.make(
                NSPersistentStoreInvalidTypeError,
                "Only files of type \(NSSQLiteStoreType) can be read here.",
                ["type": storeType.rawValue])
        }
        do {
            return try SQLiteRowStore.metadata(at: storeURL)
        } catch {
            throw PersistenceErrors.translate(error)
        }
    }

    /// The metadata of a store's file, without opening it for work.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(type: .init(rawValue: storeType), at: url, options: options)
    }

    /// Removes a store's files: the database, its journals, and the folder of its external values.
    ///
    /// The store must not be open in this coordinator; one that is not there is no error.
    public final func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType,
        options: [AnyHashable: Any]? = nil
    ) throws {
        guard persistentStore(for: url) == nil else {
            throw PersistenceErrors.make(
                NSPersistentStoreOperationError,
                "The store is open; remove it from the coordinator first.")
        }
        let name = url.deletingPathExtension().lastPathComponent
        let folder = url.deletingLastPathComponent()
        let files =
            ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: url.path + $0) }
            + [folder.appendingPathComponent(".\(name)_SUPPORT")]
        for file in files where FileManager.default.fileExists(atPath: file.path) {
            try FileManager.default.removeItem(at: file)
        }
    }

    /// Removes a store's files.
    public final func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, type: .init(rawValue: storeType), options: options)
    }
}
