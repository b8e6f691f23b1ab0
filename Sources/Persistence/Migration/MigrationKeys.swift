/// The variable of a mapping's expressions that is the migration manager. Values here are Apple's.
public let NSMigrationManagerKey = "manager"
/// The variable that is the source object.
public let NSMigrationSourceObjectKey = "source"
/// The variable that is the new object.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable that is the entity mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable that is the property mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable that is the migration policy.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// The option that carries a store's `NSStagedMigrationManager`.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
    "NSPersistentStoreStagedMigrationManagerOptionKey"
/// With true, a lightweight migration of a SQLite store leaves for later what nobody waits for:
/// dropping tables, dropping columns, making the indexes of fetches. The store's metadata have true
/// under the same key as long as something is left; see
/// `NSPersistentStoreCoordinator.finishDeferredLightweightMigration()`. The next migration does
/// what is left of the one before.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// Not Apple's: with true, a store is copied before it is migrated. The copy lies beside it, named
/// by the version it is of: `Library-before-2.0.sqlite`, or with the first digits of the version's
/// checksum where the model has no identifier. One of the same version is replaced.
public let NSPersistentStoreMigrationBackupOption = "NSPersistentStoreMigrationBackupOption"
