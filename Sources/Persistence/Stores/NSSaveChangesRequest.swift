/// What a save asks of an incremental store. Source: Apple, NSSaveChangesRequest. Queue: that of
/// the saving context.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// New objects of the store, with permanent IDs.
    public final let insertedObjects: Set<NSManagedObject>?
    /// Objects of the store whose values or links changed.
    public final let updatedObjects: Set<NSManagedObject>?
    /// Objects of the store that end.
    public final let deletedObjects: Set<NSManagedObject>?
    /// Objects without changes whose version must not have changed (`detectConflicts(for:)`): it
    /// was compared just before.
    public final let lockedObjects: Set<NSManagedObject>?

    /// For tests of stores; saves make them by themselves.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?,
        updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
