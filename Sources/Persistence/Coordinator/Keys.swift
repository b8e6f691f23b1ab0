public import Foundation

// Names of options, metadata, notifications and their keys. Source: Apple, CoreData headers. The
// texts of options and metadata keys are those found in stores.

// MARK: Store types and options

/// A SQLite file of Apple's format.
public let NSSQLiteStoreType = "SQLite"
/// An XML file of Apple's format, held in memory as a whole; without history.
public let NSXMLStoreType = "XML"
/// A binary file, held in memory as a whole; without history. Its form is Diptych's own.
public let NSBinaryStoreType = "Binary"
/// Rows in memory, which end with the store.
public let NSInMemoryStoreType = "InMemory"

/// True opens the store for reading only: saves throw 134030.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// A dictionary of pragmas, for each opening of a SQLite store; 134070 for one that is not let
/// through.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// True lets SQLite gather what its planner wants to know, when the store is opened.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// True rewrites a SQLite file without its gaps when the store is opened. Cost: O(file).
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// True opens a store of another model version as it is, as long as it has what the model needs.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// True migrates a store of another model version when it is opened; else 134100.
public let NSMigratePersistentStoresAutomaticallyOption =
    "NSMigratePersistentStoresAutomaticallyOption"
/// True lets that migration work its mapping out where the program has none.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Seconds to wait for another process's lock before 134090; 10 unless it is set (240 at Apple).
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// True lets `destroyPersistentStore` remove a file that others have locked.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Taken and without effect: only Apple's phones encrypt single files.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Taken and without effect: connections for reading are opened as threads read at once.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// True keeps a history of saves, in SQLite and in memory. False keeps none, and a file that has
/// one can then only be read. Where it is not set, a file goes on as it is.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// True posts `NSPersistentStoreRemoteChange` after each save, the coordinator's own and others'.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"
/// Kept for old sources: XML stores are always validated as they are read.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Kept for old sources: binary stores are always decoded securely.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
    "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Classes that transformable values of a binary store may hold: a `Set` of class names or
/// classes. Here values are data, so that none is made while a store is read.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"

// MARK: Metadata

/// Which systems can open the store.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

/// `NSSQLiteStoreType`, another of the four, or a program's own type.
public let NSStoreTypeKey = "NSStoreType"
/// The store's identity, which is part of its objects' URIs; a copied file has the same.
public let NSStoreUUIDKey = "NSStoreUUID"
/// A dictionary of each entity's version hash, by which a store is found to be of a model.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The identifiers of the model that wrote the store; nothing is decided by them.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// The checksum of the model that wrote the store, by which staged migration finds its stage.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

// MARK: Keys of errors

/// In 1560 (`NSValidationMultipleErrorsError`): an array of the single errors.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The objects, or the IDs of objects, that an error is about.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The stores that an error is about.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// In 133020 the `NSMergeConflict`s, in 133021 the `NSConstraintConflict`s.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// In 1550…1690: the name of the property whose value is refused.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// In 1550…1690: the object.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// In 1550…1690: the `NSPredicate` that the value does not meet, where it was one.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// In 1550…1690: the refused value; absent where there is none.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The key of SQLite's extended result code, a number, in errors that a SQLite file caused.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

// MARK: Keys of notifications

/// New objects, a `Set<NSManagedObject>`.
public let NSInsertedObjectsKey = "inserted"
/// Changed objects, a `Set<NSManagedObject>`.
public let NSUpdatedObjectsKey = "updated"
/// Deleted objects, a `Set<NSManagedObject>`.
public let NSDeletedObjectsKey = "deleted"
/// Objects that took in others' values, a `Set<NSManagedObject>`.
public let NSRefreshedObjectsKey = "refreshed"
/// Objects that were invalidated one by one. Read when changes are merged; no context posts it.
public let NSInvalidatedObjectsKey = "invalidated"
/// After `reset()`: the IDs of all objects, an array.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// IDs of new objects, a `Set<NSManagedObjectID>`.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// IDs of changed objects, a `Set<NSManagedObjectID>`.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// IDs of deleted objects, a `Set<NSManagedObjectID>`.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// IDs of objects that took in others' values, a `Set<NSManagedObjectID>`.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// IDs of invalidated objects. Read when changes are merged; no context posts it.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// The query generation a context reads in. Taken from others' notifications; none posted here has
/// it.
public let NSManagedObjectContextQueryGenerationKey = "queryGeneration"
/// Stores that joined a coordinator, an array.
public let NSAddedPersistentStoresKey = "added"
/// Stores that left a coordinator, an array.
public let NSRemovedPersistentStoresKey = "removed"
/// Stores that changed their identity. No coordinator posts it here: IDs go along.
public let NSUUIDChangedPersistentStoresKey = "changed"
/// In `NSPersistentStoreRemoteChange`: where the store is.
public let NSPersistentStoreURLKey = "storeURL"
/// In `NSPersistentStoreRemoteChange`: the token of the store's newest transaction.
public let NSPersistentHistoryTokenKey = "historyToken"

// MARK: Notifications

extension NSNotification.Name {
    /// Posted on the context's queue before a save of changes, without `userInfo`; objects may
    /// still change.
    public static let NSManagedObjectContextWillSave = NSNotification.Name(
        "NSManagedObjectContextWillSaveNotification")
    /// Posted on the context's queue after a save, with the sets of objects that were really
    /// written.
    public static let NSManagedObjectContextDidSave = NSNotification.Name(
        "NSManagingContextDidSaveChangesNotification")
    /// Posted on the context's queue at the end of an event that changed objects, saved or not.
    public static let NSManagedObjectContextObjectsDidChange = NSNotification.Name(
        "NSObjectsChangedInManagingContextNotification")
    /// As `NSManagedObjectContextDidSave`, with IDs, which may pass to other queues.
    public static let NSManagedObjectContextDidSaveObjectIDs = NSNotification.Name(
        "NSManagedObjectContextDidSaveObjectIDsNotification")
    /// Posted on the context's queue after it took in what others saved, with IDs.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = NSNotification.Name(
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
    /// Posted by a coordinator, on any thread, after it or somebody else wrote to a store; see the
    /// option `NSPersistentStoreRemoteChangeNotificationPostOptionKey`.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name(
        "NSPersistentStoreRemoteChangeNotification")
    /// Posted at Apple when an iCloud account changes; never here.
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")
    /// Posted by a coordinator, on the thread of the change, after a store joined or left;
    /// `migratePersistentStore` does both.
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")
    /// Posted before a store leaves its coordinator, while its objects can still be read.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

extension NSManagedObjectContext {
    /// The newer name of `Notification.Name.NSManagedObjectContextWillSave`.
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    /// The newer name of `Notification.Name.NSManagedObjectContextDidSave`.
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    /// The newer name of `Notification.Name.NSManagedObjectContextObjectsDidChange`.
    public static let didChangeObjectsNotification =
        Notification.Name.NSManagedObjectContextObjectsDidChange
    /// The newer name of `Notification.Name.NSManagedObjectContextDidSaveObjectIDs`.
    public static let didSaveObjectIDsNotification =
        Notification.Name.NSManagedObjectContextDidSaveObjectIDs
    /// The newer name of `Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs`.
    public static let didMergeChangesObjectIDsNotification =
        Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

    /// The keys of a context's notifications.
    public enum NotificationKey: String, Sendable {
        /// `NSInsertedObjectsKey`.
        case insertedObjects = "inserted"
        /// `NSUpdatedObjectsKey`.
        case updatedObjects = "updated"
        /// `NSDeletedObjectsKey`.
        case deletedObjects = "deleted"
        /// `NSRefreshedObjectsKey`.
        case refreshedObjects = "refreshed"
        /// `NSInvalidatedObjectsKey`.
        case invalidatedObjects = "invalidated"
        /// `NSInvalidatedAllObjectsKey`.
        case invalidatedAllObjects = "invalidatedAll"
        /// `NSInsertedObjectIDsKey`.
        case insertedObjectIDs = "inserted_objectIDs"
        /// `NSUpdatedObjectIDsKey`.
        case updatedObjectIDs = "updated_objectIDs"
        /// `NSDeletedObjectIDsKey`.
        case deletedObjectIDs = "deleted_objectIDs"
        /// `NSRefreshedObjectIDsKey`.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// `NSInvalidatedObjectIDsKey`.
        case invalidatedObjectIDs = "invalidated_objectIDs"
        /// `NSManagedObjectContextQueryGenerationKey`.
        case queryGeneration
    }
}
