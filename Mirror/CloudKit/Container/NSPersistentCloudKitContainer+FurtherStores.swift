internal import Foundation
internal import MirrorEngine
internal import ObjectModel
public import Persistence
internal import Platform
internal import RecordWire

// Each store of the shared database holds the zone of one owner. What further owners share comes
// into stores that the container makes beside it, one file for each zone, opens with it and mirrors
// by itself. Where options name a zone, the store has that one alone.
extension NSPersistentCloudKitContainer {
    /// The stores that the container has beside a store of the shared database, for what further
    /// owners share; by the names of their files, none for other stores. Fetches without
    /// `affectedStores` find their objects, too. Not Apple's, whose store holds all zones.
    public final func furtherStores(of persistentStore: NSPersistentStore) -> [NSPersistentStore] {
        persistentStoreCoordinator.persistentStores
            .filter { Self.isFurther($0, of: persistentStore) }
            .sorted { $0.url?.path ?? "" < $1.url?.path ?? "" }
    }

    /// A store and those beside it.
    final func family(of store: NSPersistentStore) -> [NSPersistentStore] {
        [store] + furtherStores(of: store)
    }

    /// The mirrored stores of a family, or all.
    final func mirroredStores(
        near store: NSPersistentStore?
    ) -> [(store: NSPersistentStore, mirror: StoreMirror)] {
        guard let store else { return mirroredStores }
        return family(of: store).compactMap { member in
            mirror(of: member).map { (member, $0) }
        }
    }

    /// The mirrored member of a store's family that has a zone; nil where none has it.
    final func mirror(of zone: ZoneID, near store: NSPersistentStore) -> StoreMirror? {
        mirroredStores(near: store).map(\.mirror).first { $0.session.store.zoneID == zone }
    }

    /// Opens the stores that were made beside one before. Throws for the first that cannot be
    /// opened or mirrored; the others are all the same.
    final func openFurther(
        of store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions,
        at address: RecordServiceAddress
    ) throws {
        guard options.zoneName == nil, let url = store.url else { return }
        var failure: (any Error)?
        for file in try FurtherStoreFile.all(beside: url) {
            do {
                let further = try open(file, like: store)
                guard let zone = try knownZone(of: further, options) else { continue }
                try begin(further, options, at: address, zone: zone)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Makes room for a zone beside a store that has another, and begins to mirror it.
    @discardableResult
    final func addStore(
        for zone: ZoneID, beside store: NSPersistentStore, _ awaiting: AwaitingShare
    ) throws -> StoreMirror {
        guard let url = store.url.map({ FurtherStoreFile.place(of: zone, beside: $0) }) else {
            throw CKError(
                .invalidArguments,
                "A store in memory holds the zone of one owner; give it a file.")
        }
        do {
            return try adding.withLock { _ in
                if let mirror = mirror(of: zone, near: store) { return mirror }
                let further = try open(url, like: store)
                return try begin(further, awaiting.options, at: awaiting.address, zone: zone)
            }
        } catch {
            throw CKError(error)
        }
    }

    /// Looks for zones that no store has yet, for the stores that have one. Returns the mirrors of
    /// the stores that were added, and the `CKError` of the first store for which that failed.
    final func addFurtherStores() async -> (added: [StoreMirror], failure: (any Error)?) {
        var added: [StoreMirror] = []
        var failure: (any Error)?
        for (store, mirror) in mirroredStores where takesFurther(store, mirror) {
            let awaiting = AwaitingShare(mirror.options, mirror.address)
            do {
                for zone in try await freeZones(for: awaiting) {
                    added.append(try addStore(for: zone, beside: store, awaiting))
                }
            } catch {
                failure = failure ?? error
            }
        }
        return (added, failure)
    }

    private func takesFurther(_ store: NSPersistentStore, _ mirror: StoreMirror) -> Bool {
        mirror.isShared && mirror.options.zoneName == nil && !isFurther(store)
    }

    /// Whether the container made a store beside another one, of which the condition holds.
    final func isFurther(
        _ store: NSPersistentStore, where condition: (NSPersistentStore) -> Bool = { _ in true }
    ) -> Bool {
        persistentStoreCoordinator.persistentStores
            .contains { Self.isFurther(store, of: $0) && condition($0) }
    }

    private func open(_ url: URL, like store: NSPersistentStore) throws -> NSPersistentStore {
        let coordinator = persistentStoreCoordinator
        return try coordinator.persistentStore(for: url)
            ?? coordinator.addPersistentStore(
                ofType: store.type, configurationName: configuration(of: store), at: url,
                options: store.options)
    }

    private func configuration(of store: NSPersistentStore) -> String? {
        let name = store.configurationName
        return managedObjectModel.entities(forConfigurationName: name) == nil ? nil : name
    }

    private static func isFurther(_ store: NSPersistentStore, of first: NSPersistentStore) -> Bool {
        guard let url = store.url, let firstURL = first.url else { return false }
        return FurtherStoreFile.isBeside(url, firstURL)
    }
}
