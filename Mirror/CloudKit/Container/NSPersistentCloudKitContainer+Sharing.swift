internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import ObjectModel
public import Persistence
internal import Platform
internal import RecordWire

// Shares. Unlike at Apple, objects do not move to a zone of their own: their records get a place
// below a record that is shared, and stay where they are.
extension NSPersistentCloudKitContainer {
    /// The shares of a store's zone, as the last round told them; of all stores without one. Any
    /// thread; cost: one look into each store.
    public final func fetchShares(in persistentStore: NSPersistentStore?) throws -> [CKShare] {
        try mirroredStores(near: persistentStore).flatMap { try $0.mirror.shares() }
    }

    /// The shares that objects are in; without those that are in none.
    public final func fetchShares(
        matching objectIDs: [NSManagedObjectID]
    ) throws -> [NSManagedObjectID: CKShare] {
        var found: [NSManagedObjectID: CKShare] = [:]
        for id in objectIDs {
            guard let mirror = mirror(of: id.persistentStore), let row = id.rowID,
                let share = try mirror.session.store.share(of: row)
            else { continue }
            found[id] = mirror.share(share)
        }
        return found
    }

    /// Shares saved objects, and all that is linked with them, directly or by others; later what is
    /// linked with one of them. Returns all of these, the share and its container, once the
    /// service knows. Nobody takes part before `persistUpdatedShare` tells whom.
    ///
    /// `share`: nil for a new one, else one of the store's; a new `CKShare(recordZoneID:)` shares
    /// the whole zone of the store, all its objects now and later. Throws `CKError`:
    /// `.alreadyShared` where an object is in another share, `.invalidArguments` for objects that
    /// are not saved, or not of one mirrored store, `.permissionFailure` in a zone of another's,
    /// `.unknownItem` where another device deleted them all.
    public final func share(
        _ managedObjects: [NSManagedObject], to share: CKShare?
    ) async throws -> (Set<NSManagedObjectID>, CKShare, CKContainer) {
        try await self.share(managedObjects.map(\.objectID), share)
    }

    /// As the asynchronous call; calls back on a thread of the mirror.
    public final func share(
        _ managedObjects: [NSManagedObject], to share: CKShare?,
        completion:
            @escaping (Set<NSManagedObjectID>?, CKShare?, CKContainer?, (any Error)?) -> Void
    ) {
        let ids = managedObjects.map(\.objectID)
        let carried = Carried((share, completion))
        perform {
            do {
                let (shared, share, container) = try await self.share(ids, carried.value.0)
                carried.value.1(shared, share, container, nil)
            } catch {
                carried.value.1(nil, nil, nil, error)
            }
        }
    }

    /// Takes part in shares, whose objects come into the store, one with `databaseScope` shared;
    /// where that has the zone of another owner they come into a further one beside it
    /// (`furtherStores(of:)`). Returns what the service says of them then. Throws `CKError`;
    /// `.zoneBusy`, before anything is accepted, where the store's options name another zone.
    public final func acceptShareInvitations(
        from metadata: [CKShare.Metadata], into persistentStore: NSPersistentStore
    ) async throws -> [CKShare.Metadata] {
        guard let place = sharedPlace(of: persistentStore) else {
            throw CKError(
                .invalidArguments,
                "Shares are accepted into a store whose databaseScope is shared.")
        }
        let (own, metadata) = (
            metadata.filter { $0.participantRole == .owner },
            metadata.filter { $0.participantRole != .owner }
        )
        let zones = metadata.map(\.zone)
        let isBound = place.awaiting.options.zoneName != nil
        guard !isBound || Set(zones + [place.zone].compactMap(\.self)).count <= 1 else {
            throw CKError(
                .zoneBusy,
                "The store's options name its zone, and this is another. Add a store with "
                    + "databaseScope shared for it, or name none.")
        }
        let found = try await accept(metadata, by: place.awaiting)
        for (index, zone) in zones.enumerated() where !zones[..<index].contains(zone) {
            _ = try await room(for: zone, persistentStore).sync()
        }
        return own + found.map { CKShare.Metadata($0, at: place.awaiting.address.url) }
    }

    private func accept(
        _ metadata: [CKShare.Metadata], by awaiting: AwaitingShare
    ) async throws -> [ShareMetadata] {
        guard !metadata.isEmpty else { return [] }
        do {
            let channel = try awaiting.address.channel(
                container: awaiting.options.containerIdentifier, deviceID: "")
            return try ZoneShares.metadata(
                try await channel.send(ZoneShares.acceptance(of: metadata.map(\.shortGUID))))
        } catch {
            throw CKError(error)
        }
    }

    /// The mirror of a zone: of the store, of one beside it that has the zone already, or of one
    /// that is added.
    private func room(for zone: ZoneID, _ store: NSPersistentStore) throws -> StoreMirror {
        if let known = mirror(of: zone, near: store) { return known }
        if let waiting = awaiting.withLock({ $0[store.identifier] }),
            let bound = try bind(store, to: zone, waiting)
        {
            return bound
        }
        guard let place = sharedPlace(of: store) else { throw CKError.unexpected }
        return try addStore(for: zone, beside: store, place.awaiting)
    }

    /// As the asynchronous call; calls back on a thread of the mirror.
    public final func acceptShareInvitations(
        from metadata: [CKShare.Metadata], into persistentStore: NSPersistentStore,
        completion: (([CKShare.Metadata]?, (any Error)?) -> Void)? = nil
    ) {
        let carried = Carried((metadata, completion))
        perform {
            do {
                let found = try await self.acceptShareInvitations(
                    from: carried.value.0, into: persistentStore)
                carried.value.1?(found, nil)
            } catch {
                carried.value.1?(nil, error)
            }
        }
    }

    /// Participants to invite, one for each, with permission to write. Whom the service knows, and
    /// who lets others find them, has a name; the others are invited by what they were looked for.
    /// Throws `CKError`.
    public final func fetchParticipants(
        matching lookupInfos: [CKUserIdentity.LookupInfo], into persistentStore: NSPersistentStore
    ) async throws -> [CKShare.Participant] {
        let mirror = try required(persistentStore)
        let request = UserLookup(.discover, lookupInfos.map(\.wire))
        guard case .users(let reply) = try await mirror.ask(.lookupUsers(request)) else {
            throw CKError.unexpected
        }
        return lookupInfos.map { info in
            let known = reply.users.first { $0.lookupInfo == info.wire }
            return CKShare.Participant(
                ShareParticipant(
                    identity: known ?? UserIdentity(lookupInfo: info.wire), permission: .readWrite))
        }
    }

    /// As the asynchronous call; calls back on a thread of the mirror.
    public final func fetchParticipants(
        matching lookupInfos: [CKUserIdentity.LookupInfo], into persistentStore: NSPersistentStore,
        completion: @escaping ([CKShare.Participant]?, (any Error)?) -> Void
    ) {
        let carried = Carried(completion)
        perform {
            do {
                let found = try await self.fetchParticipants(
                    matching: lookupInfos, into: persistentStore)
                carried.value(found, nil)
            } catch {
                carried.value(nil, error)
            }
        }
    }

    /// Tells the service of a share's participants, permissions and title. Returns it as it stands
    /// then. Throws `CKError`: `.serverRecordChanged` where it was changed since it was fetched,
    /// `.permissionFailure` for who does not own it.
    public final func persistUpdatedShare(
        _ share: CKShare, in persistentStore: NSPersistentStore
    ) async throws -> CKShare {
        let mirror = try required(persistentStore, with: share)
        return mirror.share(
            try await mirror.write(share.wire, share.recordChangeTag == nil ? .create : .update))
    }

    /// As the asynchronous call; calls back on a thread of the mirror.
    public final func persistUpdatedShare(
        _ share: CKShare, in persistentStore: NSPersistentStore,
        completion: ((CKShare?, (any Error)?) -> Void)? = nil
    ) {
        let carried = Carried((share, completion))
        perform {
            do {
                let stored = try await self.persistUpdatedShare(
                    carried.value.0, in: persistentStore)
                carried.value.1?(stored, nil)
            } catch {
                carried.value.1?(nil, error)
            }
        }
    }

    /// Ends a share: nobody takes part any more, and its objects leave the stores of those who did.
    /// Here they stay. Not Apple's. Throws `CKError`.
    public final func endSharing(
        _ share: CKShare, in persistentStore: NSPersistentStore
    ) async throws {
        let mirror = try required(persistentStore, with: share)
        try await mirror.end(share.recordID.recordName)
    }

    /// In the store's own zone: deletes every object of the store, every record of its zone and its
    /// shares. In a zone of another's: leaves it; its objects leave this store, and stay with their
    /// owner. In the public database: deletes what the user made, after a round; others' stays.
    ///
    /// Throws `CKError.Code.zoneNotFound` for a zone that the store is not mirrored with, and
    /// `CKError` where the service could not be told; the objects of an own zone are gone then, and
    /// the next round tells it.
    public final func purgeObjectsAndRecordsInZone(
        with zoneID: CKRecordZone.ID, in persistentStore: NSPersistentStore?
    ) async throws -> CKRecordZone.ID {
        let chosen = mirroredStores(near: persistentStore)
            .filter { Self.zone(of: $0.mirror) == zoneID }
        guard !chosen.isEmpty else {
            throw CKError(.zoneNotFound, "No store of this container is mirrored with that zone.")
        }
        for (store, mirror) in chosen {
            guard !mirror.isShared else {
                try await mirror.leave()
                continue
            }
            let shares = try mirror.shares()
            let maker = try await mirror.onlyMaker()
            do {
                try MirrorSession.deleteObjects(of: store, madeBy: maker)
            } catch {
                throw CKError(error)
            }
            for share in shares { try await mirror.end(share.recordID.recordName) }
            _ = try await mirror.sync()
            // What is left of the public database is others'.
            if !mirror.isPublic, try await mirror.deleteRecords() { _ = try await mirror.sync() }
        }
        return zoneID
    }

    /// As the asynchronous call; calls back on a thread of the mirror.
    public final func purgeObjectsAndRecordsInZone(
        with zoneID: CKRecordZone.ID, in persistentStore: NSPersistentStore?,
        completion: ((CKRecordZone.ID?, (any Error)?) -> Void)? = nil
    ) {
        let carried = Carried(completion)
        perform {
            do {
                let zone = try await self.purgeObjectsAndRecordsInZone(
                    with: zoneID, in: persistentStore)
                carried.value?(zone, nil)
            } catch {
                carried.value?(nil, error)
            }
        }
    }

    private func perform(_ work: @escaping @Sendable () async -> Void) {
        _ = runner.run(work)
    }
}

// How sharing is done.
extension NSPersistentCloudKitContainer {
    private func share(
        _ ids: [NSManagedObjectID], _ share: CKShare?
    ) async throws -> (Set<NSManagedObjectID>, CKShare, CKContainer) {
        let stores = Set(ids.compactMap { $0.persistentStore?.identifier })
        let rows = ids.compactMap(\.rowID)
        let store =
            ids.first?.persistentStore
            ?? mirroredStores.first { Self.zone(of: $0.mirror) == share?.recordID.zoneID }?.store
        guard let store, stores.count <= 1, rows.count == ids.count else {
            throw CKError(
                .invalidArguments, "Share saved objects of one store; save the context first.")
        }
        let mirror = try required(store)
        guard !mirror.isShared else {
            throw CKError(.permissionFailure, "Only the owner of a zone shares its objects.")
        }
        guard !mirror.isPublic else {
            throw CKError(
                .invalidArguments,
                "Everybody has the records of the public database; share those of a private one.")
        }
        let container = CKContainer(identifier: mirror.containerIdentifier)
        // The zone has to be there.
        _ = try await mirror.sync()
        if let share, share.rootName == nil {
            let isNew = share.recordChangeTag == nil
            let stored = isNew ? mirror.share(try await mirror.write(share.wire, .create)) : share
            return (Set(ids), stored, container)
        }
        let stored: CKShare
        if let share { stored = share } else { stored = try await mirror.makeShare() }
        do {
            guard let root = stored.rootName else { throw CKError.unexpected }
            let shared = try mirror.session.store.share(rows, below: root)
            _ = try await mirror.sync()
            try mirror.session.store.checkShared(shared, below: root)
            return (Set(shared.map(store.id(for:))), stored, container)
        } catch {
            // A share that was made for these objects alone is of no use.
            if share == nil { try? await mirror.end(stored.recordID.recordName) }
            throw CKError(error)
        }
    }

    /// The mirror of a store, or that of the one beside it which has the share's zone.
    private func required(
        _ store: NSPersistentStore, with share: CKShare
    ) throws -> StoreMirror {
        let near = mirroredStores(near: store).map(\.mirror)
        return try near.first { Self.zone(of: $0) == share.recordID.zoneID } ?? required(store)
    }

    private func required(_ store: NSPersistentStore) throws -> StoreMirror {
        guard let mirror = mirror(of: store) else {
            throw CKError(
                .invalidArguments,
                "The store is mirrored with no zone; load it with cloudKitContainerOptions, or "
                    + "accept a share into it.")
        }
        return mirror
    }

    private func sharedPlace(
        of store: NSPersistentStore
    ) -> (awaiting: AwaitingShare, zone: ZoneID?)? {
        if let mirror = mirror(of: store) {
            guard mirror.isShared else { return nil }
            return (
                AwaitingShare(mirror.options, mirror.address), mirror.session.store.zoneID
            )
        }
        return awaiting.withLock { $0[store.identifier] }.map { ($0, nil) }
    }
}

/// Carries what an app gave to the thread of the mirror on which its callback is promised.
private struct Carried<Value>: @unchecked Sendable {
    // @unchecked: used once, on one thread, after the app let go of it.
    let value: Value

    init(_ value: Value) { self.value = value }
}
