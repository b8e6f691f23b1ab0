internal import Foundation
public import MirrorEngine
public import Persistence
internal import RecordWire

// The records of objects.
extension NSPersistentCloudKitContainer {
    /// An object's record as it was last exchanged with the service; nil for an object that is not
    /// mirrored or was never sent. Any thread; cost: one look into the store.
    public final func record(for managedObjectID: NSManagedObjectID) -> CKRecord? {
        guard let mirror = mirror(of: managedObjectID.persistentStore),
            let row = managedObjectID.rowID,
            let base = try? mirror.session.store.exchangedRecord(of: row)
        else { return nil }
        return CKRecord(base, in: Self.zone(of: mirror))
    }

    /// The records of those objects that have one.
    public final func records(
        for managedObjectIDs: [NSManagedObjectID]
    ) -> [NSManagedObjectID: CKRecord] {
        pairs(managedObjectIDs) { self.record(for: $0) }
    }

    /// The name of an object's record; nil for an object that is not mirrored or waits for its
    /// first export.
    public final func recordID(for managedObjectID: NSManagedObjectID) -> CKRecord.ID? {
        guard let mirror = mirror(of: managedObjectID.persistentStore),
            let row = managedObjectID.rowID,
            let name = try? mirror.session.store.sentName(of: row)
        else { return nil }
        return CKRecord.ID(recordName: name, zoneID: Self.zone(of: mirror))
    }

    /// The record names of those objects that have one.
    public final func recordIDs(
        for managedObjectIDs: [NSManagedObjectID]
    ) -> [NSManagedObjectID: CKRecord.ID] {
        pairs(managedObjectIDs) { self.recordID(for: $0) }
    }

    /// Whether an edit of the object could be saved and sent: its store can be written to, and
    /// where it is another's the share lets the user write; of the public database, the user, who
    /// is signed in, made the record, or nobody sent it yet. As the last round told it: what roles
    /// grant beyond that, the service knows alone.
    public final func canUpdateRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool {
        objectID.persistentStore.map { mayWrite(objectID, in: $0) } ?? true
    }

    /// Whether a deletion of the object could be saved and sent.
    public final func canDeleteRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool {
        canUpdateRecord(forManagedObjectWith: objectID)
    }

    /// Whether objects of the store can be made and changed; of another's zone, those of a share at
    /// least.
    public final func canModifyManagedObjects(in store: NSPersistentStore) -> Bool {
        mayWrite(nil, in: store)
    }

    private func mayWrite(_ objectID: NSManagedObjectID?, in store: NSPersistentStore) -> Bool {
        guard !store.isReadOnly else { return false }
        guard let mirror = mirror(of: store) else { return true }
        if mirror.isPublic { return mirror.address.isSignedIn && isOwn(objectID, mirror) }
        let mirrored = mirror.session.store
        // Of a zone of one's own nothing is asked; what is not known is the service's to say.
        let permission = try? mirrored.permission(of: objectID?.rowID)
        return permission != .readOnly && permission != ShareParticipant.Permission.none
    }

    private func isOwn(_ objectID: NSManagedObjectID?, _ mirror: StoreMirror) -> Bool {
        guard let row = objectID?.rowID, let user = mirror.userName,
            let record = try? mirror.session.store.exchangedRecord(of: row),
            let creator = record.created?.userRecordName
        else { return true }
        return creator == user
    }

    /// How an object stands towards the service; nil for one that is not mirrored or not saved. Any
    /// thread; cost: a few looks into the store. Throws what the store throws.
    public final func syncState(
        forManagedObjectWith objectID: NSManagedObjectID
    ) throws -> ObjectSyncState? {
        guard let mirror = mirror(of: objectID.persistentStore), let row = objectID.rowID else {
            return nil
        }
        return try mirror.session.store.syncState(of: row)
    }

    private func pairs<Value>(
        _ ids: [NSManagedObjectID], _ value: (NSManagedObjectID) -> Value?
    ) -> [NSManagedObjectID: Value] {
        var found: [NSManagedObjectID: Value] = [:]
        for id in ids { found[id] = value(id) }
        return found
    }

    static func zone(of mirror: StoreMirror) -> CKRecordZone.ID {
        CKRecordZone.ID(mirror.session.store.zoneID)
    }
}
