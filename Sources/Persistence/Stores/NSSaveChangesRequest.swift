/// What a save asks of an incremental store. Source: Apple, NSSaveChangesRequest.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    public final let insertedObjects: Set<NSManagedObject>?
    public final let updatedObjects: Set<NSManagedObject>?
    public final let deletedObjects: Set<NSManagedObject>?
    /// Objects whose version must not have changed; always empty here.
    public final let lockedObjects: Set<NSManagedObject>?

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
