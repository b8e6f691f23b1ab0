internal import Foundation
internal import ObjectModel
internal import Platform
internal import Stores

// What a program's own stores have in common.
extension NSPersistentStore {
    /// Gives the metadata of a loaded store what it lacks, and holds its version hashes against the
    /// model's.
    final func completeMetadata(platform: Environment) throws {
        var metadata: [String: Any] = self.metadata
        let hashesKey = NSStoreModelVersionHashesKey
        let model = parameters.model
        let ignoresVersioning = parameters.flag(NSIgnorePersistentStoreVersioningOption) ?? false
        if metadata[hashesKey] != nil, !ignoresVersioning,
            !model.isConfiguration(
                withName: parameters.configuration, compatibleWithStoreMetadata: metadata)
        {
            throw StoreError(
                .modelMismatch,
                "The store was written with another model; open it with the model it was made "
                    + "for, or copy its objects into a new store.",
                fields: ["path": url?.path ?? ""])
        }
        if metadata[NSStoreUUIDKey] as? String == nil {
            metadata[NSStoreUUIDKey] = platform.randomness.uuid().uuidString
        }
        metadata[NSStoreTypeKey] = type
        let entities = model.entities(forConfigurationName: parameters.configuration) ?? []
        metadata[hashesKey] = NSManagedObjectModel.hashes(of: entities)
        self.metadata = metadata
    }
}
