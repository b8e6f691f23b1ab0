/// The keys of a store's metadata that are the store's own.
package enum StoreMetadataKey {
    /// True while a migration has left work for later.
    package static let deferredMigration = "NSPersistentStoreDeferredLightweightMigrationOptionKey"

    /// Whether an application may not set the key, and no other store takes it over.
    package static func isOwn(_ key: String) -> Bool {
        ["NSStore", "_NS", "NSPersistence"].contains(where: key.hasPrefix)
            || key == deferredMigration
    }
}
