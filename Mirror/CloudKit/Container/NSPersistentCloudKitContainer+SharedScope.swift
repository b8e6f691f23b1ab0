public import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Persistence
internal import Platform
internal import RecordWire

/// A store of the shared database that waits for a share.
struct AwaitingShare: Sendable {
    let given: GivenOptions
    let address: RecordServiceAddress

    init(_ options: NSPersistentCloudKitContainerOptions, _ address: RecordServiceAddress) {
        given = GivenOptions(options)
        self.address = address
    }

    var options: NSPersistentCloudKitContainerOptions { given.options }
}

/// Options as they stood when they were given.
struct GivenOptions: @unchecked Sendable {
    // @unchecked: a copy that nobody changes.
    let options: NSPersistentCloudKitContainerOptions

    init(_ options: NSPersistentCloudKitContainerOptions) {
        self.options = options.copy() as? NSPersistentCloudKitContainerOptions ?? options
    }
}

// Stores whose databaseScope is shared: each is mirrored with one zone of another user's, the one
// that it was mirrored with before, the one that its options name, or the first that is shared with
// the user and in no other store of the container. Others have further stores.
extension NSPersistentCloudKitContainer {
    /// What the address of a share leads to, asked of the service of this container's stores.
    /// Throws `CKError`: `.unknownItem` where there is no such share for this user.
    public final func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        let stores =
            awaiting.withLock { $0 }.values.map(\.address)
            + mirroredStores.map(\.mirror.address)
        let containers =
            awaiting.withLock { $0 }.values.map(\.options.containerIdentifier)
            + mirroredStores.map(\.mirror.containerIdentifier)
        guard let address = stores.first, let container = containers.first else {
            throw CKError.noService
        }
        return try await address.shareMetadata(for: url, container: container)
    }

    /// Which zone a store of the shared database is mirrored with, as far as is known without
    /// asking anybody.
    final func knownZone(
        of store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions
    ) throws -> ZoneID? {
        if let known = try MirroredStore.boundZone(of: store), known.ownerRecordName != nil {
            return known
        }
        guard let name = options.zoneName, let owner = options.zoneOwnerName else { return nil }
        return ZoneID(zoneName: name, ownerRecordName: owner)
    }

    /// Whether a store has no zone, and takes one that is shared: any, or, where the container made
    /// it beside another, the one that it had.
    final func waits(_ store: NSPersistentStore) -> Bool {
        guard mirror(of: store) == nil else { return false }
        if awaiting.withLock({ $0[store.identifier] != nil }) { return true }
        return isFurther(store) { first in
            mirror(of: first) != nil || awaiting.withLock { $0[first.identifier] != nil }
        } && (try? MirroredStore.boundZone(of: store)) == nil
    }

    /// Whether a store that waits for a share has objects, which are on this device alone.
    final var areObjectsWaiting: Bool {
        persistentStoreCoordinator.persistentStores.contains { store in
            // Others than SQLite stores are never mirrored, which binding them tells.
            waits(store) && (try? MirrorSession.hasObjects(in: store)) ?? false
        }
    }

    /// Looks for zones for the stores that wait for one. Throws `CKError` for the first for which
    /// none can be looked for; the others have theirs all the same.
    final func bindAwaiting() async throws {
        let waiting = awaiting.withLock { $0 }.sorted { $0.key < $1.key }
        var failure: (any Error)?
        for (identifier, awaiting) in waiting {
            let stores = persistentStoreCoordinator.persistentStores
            guard let store = stores.first(where: { $0.identifier == identifier }) else { continue }
            do {
                guard let zone = try await freeZones(for: awaiting).first else { continue }
                try bind(store, to: zone, awaiting)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// The zones that are shared with the user and in no store of the container, by owner.
    final func freeZones(for awaiting: AwaitingShare) async throws -> [ZoneID] {
        let taken = Set(mirroredStores.map(\.mirror.session.store.zoneID))
        do {
            let channel = try awaiting.address.channel(
                container: awaiting.options.containerIdentifier, deviceID: "", database: "shared")
            guard case .zones(let zones) = try await channel.send(.listZones) else {
                throw CKError.unexpected
            }
            let found = zones.compactMap { result -> ZoneID? in
                if case .zone(let zone) = result, !zone.deleted { zone.zoneID } else { nil }
            }
            return found.filter { !taken.contains($0) }.sorted {
                ($0.ownerRecordName ?? "", $0.zoneName) < ($1.ownerRecordName ?? "", $1.zoneName)
            }
        } catch {
            throw CKError(error)
        }
    }

    /// Begins to mirror a store of the shared database with a zone. Returns nil where the store, or
    /// the zone, was taken while somebody asked the service.
    @discardableResult
    final func bind(
        _ store: NSPersistentStore, to zone: ZoneID, _ awaiting: AwaitingShare
    ) throws -> StoreMirror? {
        do {
            return try adding.withLock { _ in
                guard self.awaiting.withLock({ $0[store.identifier] != nil }),
                    mirror(of: zone, near: store) == nil
                else { return nil }
                let mirror = try begin(store, awaiting.options, at: awaiting.address, zone: zone)
                _ = self.awaiting.withLock { $0.removeValue(forKey: store.identifier) }
                return mirror
            }
        } catch {
            throw CKError(error)
        }
    }

    /// The zone of a store is shared no more: the store waits for another; one that the container
    /// made stays, with its log, until that zone is shared again.
    final func shareEnded(_ mirror: StoreMirror) {
        // A call that waited for its turn may come when the store has its next zone.
        guard remove(mirror) else { return }
        mirror.stop()
        let identifier = mirror.storeIdentifier
        let stores = persistentStoreCoordinator.persistentStores
        if let store = stores.first(where: { $0.identifier == identifier }), isFurther(store) {
            return
        }
        awaiting.withLock { $0[identifier] = AwaitingShare(mirror.options, mirror.address) }
    }

    /// Looks for zones now and then: for the stores that wait for one, and those of further owners.
    final func watchForShares() {
        let sleeper = sleeper
        let task = runner.run { [weak self] in
            while !Task.isCancelled {
                guard let self else { return }
                // A service that cannot be reached is asked again.
                if !self.isPaused.withLock({ $0 }) {
                    try? await self.bindAwaiting()
                    _ = await self.addFurtherStores()
                }
                try? await sleeper.sleep(seconds: 30)
            }
        }
        watching.withLock { former in
            former?.cancel()
            former = task
        }
    }
}
