public import Foundation
public import ObjectModel
internal import SQLiteStore

extension NSPersistentStoreCoordinator {
    /// The model that a SQLite store keeps a copy of. Opens the file for reading only.
    ///
    /// Throws 134130 where the store keeps none, as one written by other tools may, and the store's
    /// failures where it cannot be read. `options` are not needed. Source: Apple,
    /// NSPersistentStoreCoordinator. Cost: reads, inflates and links one model.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        let model: NSManagedObjectModel?
        do {
            model = try SQLiteRowStore.cachedModel(at: url)
        } catch {
            throw PersistenceErrors.translate(error)
        }
        guard let model else {
            throw PersistenceErrors.make(
                NSMigrationMissingSourceModelError,
                "The store keeps no copy of its model; use the program's own model.",
                [NSURLErrorKey: url])
        }
        return model
    }
}
