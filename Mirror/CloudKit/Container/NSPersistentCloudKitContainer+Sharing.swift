internal import Foundation
internal import MirrorEngine
internal import ObjectModel
public import Persistence
internal import Platform

// Shares, of which the record service has none, and the removal of a zone.
extension NSPersistentCloudKitContainer {
    /// Always empty: the mirror shares no objects yet.
    public final func fetchShares(in persistentStore: NSPersistentStore?) throws -> [CKShare] { [] }

    /// Always empty: the mirror shares no objects yet.
    public final func fetchShares(
        matching objectIDs: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: CKShare] { [:] }

    /// Throws `CKError.Code.serverRejectedRequest`: the mirror shares no objects yet.
    public final func share(
        _ managedObjects: [NSManagedObject], to share: CKShare?
    ) async throws -> (Set<NSManagedObjectID>, CKShare, CKContainer) { throw CKError.noShares }

    /// Calls back with `CKError.Code.serverRejectedRequest`, at once.
    public final func share(
        _ managedObjects: [NSManagedObject], to share: CKShare?,
        completion:
            @escaping (Set<NSManagedObjectID>?, CKShare?, CKContainer?, (any Error)?) ->
            Void
    ) { completion(nil, nil, nil, CKError.noShares) }

    /// Throws `CKError.Code.serverRejectedRequest`: the mirror shares no objects yet.
    public final func acceptShareInvitations(
        from metadata: [CKShare.Metadata], into persistentStore: NSPersistentStore
    ) async throws -> [CKShare.Metadata] { throw CKError.noShares }

    /// Calls back with `CKError.Code.serverRejectedRequest`, at once.
    public final func acceptShareInvitations(
        from metadata: [CKShare.Metadata], into persistentStore: NSPersistentStore,
        completion: (([CKShare.Metadata]?, (any Error)?) -> Void)? = nil
    ) { completion?(nil, CKError.noShares) }

    /// Throws `CKError.Code.serverRejectedRequest`: the mirror shares no objects yet.
    public final func fetchParticipants(
        matching lookupInfos: [CKUserIdentity.LookupInfo], into persistentStore: NSPersistentStore
    ) async throws -> [CKShare.Participant] { throw CKError.noShares }

    /// Calls back with `CKError.Code.serverRejectedRequest`, at once.
    public final func fetchParticipants(
        matching lookupInfos: [CKUserIdentity.LookupInfo], into persistentStore: NSPersistentStore,
        completion: @escaping ([CKShare.Participant]?, (any Error)?) -> Void
    ) { completion(nil, CKError.noShares) }

    /// Throws `CKError.Code.serverRejectedRequest`: the mirror shares no objects yet.
    public final func persistUpdatedShare(
        _ share: CKShare, in persistentStore: NSPersistentStore
    ) async throws -> CKShare { throw CKError.noShares }

    /// Calls back with `CKError.Code.serverRejectedRequest`, at once.
    public final func persistUpdatedShare(
        _ share: CKShare, in persistentStore: NSPersistentStore,
        completion: ((CKShare?, (any Error)?) -> Void)? = nil
    ) { completion?(nil, CKError.noShares) }

    /// Deletes every object of the store and every record of its zone.
    ///
    /// Throws `CKError.Code.zoneNotFound` for a zone that the store is not mirrored with, and
    /// `CKError` where the service could not be told; the objects are gone then, and the next round
    /// tells it. Every device loses the objects, as by any deletion.
    public final func purgeObjectsAndRecordsInZone(
        with zoneID: CKRecordZone.ID, in persistentStore: NSPersistentStore?
    ) async throws -> CKRecordZone.ID {
        let stores = mirroredStores.filter {
            persistentStore == nil || $0.store === persistentStore
        }
        let chosen = stores.filter { Self.zone(of: $0.mirror) == zoneID }
        guard !chosen.isEmpty else {
            throw CKError(.zoneNotFound, "No store of this container is mirrored with that zone.")
        }
        for (store, mirror) in chosen {
            try await deleteObjects(of: store)
            _ = try await mirror.sync()
        }
        return zoneID
    }

    /// As the asynchronous call; calls back on a thread of the mirror.
    public final func purgeObjectsAndRecordsInZone(
        with zoneID: CKRecordZone.ID, in persistentStore: NSPersistentStore?,
        completion: ((CKRecordZone.ID?, (any Error)?) -> Void)? = nil
    ) {
        let done = completion.map(UncheckedCallback.init)
        _ = runner.run {
            do {
                let zone = try await self.purgeObjectsAndRecordsInZone(
                    with: zoneID, in: persistentStore)
                done?.call(zone, nil)
            } catch {
                done?.call(nil, error)
            }
        }
    }

    private func deleteObjects(of store: NSPersistentStore) async throws {
        let names = managedObjectModel.entities.filter { $0.superentity == nil }.compactMap(\.name)
        try await performBackgroundTask { context in
            for name in names {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.affectedStores = [store]
                request.fetchLimit = 1000
                while case let objects = try context.fetch(request), !objects.isEmpty {
                    objects.forEach(context.delete)
                    try context.save()
                    context.reset()
                }
            }
        }
    }
}

/// Carries an app's callback to the thread of the mirror on which it is promised to be called.
private struct UncheckedCallback: @unchecked Sendable {
    // @unchecked: called once, on one thread.
    let call: (CKRecordZone.ID?, (any Error)?) -> Void

    init(_ call: @escaping (CKRecordZone.ID?, (any Error)?) -> Void) { self.call = call }
}
