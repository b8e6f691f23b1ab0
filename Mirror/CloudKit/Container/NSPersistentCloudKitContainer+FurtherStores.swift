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

    /// The mirrored member of a store's family that has a zone; nil where none has it.
    final func mirror(of zone: ZoneID, near store: NSPersistentStore) -> StoreMirror? {
        family(of: store).lazy.compactMap { self.mirror(of: $0) }
            .first { $0.session.store.zoneID == zone }
    }

    /// Opens the stores that were made beside one before. Throws for the first that cannot be
    /// opened or mirrored; the others are all the same.
    final func openFurther(
        of store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions,
        at address: RecordServiceAddress
    ) throws {
        guard options.zoneName == nil, let url = store.url else { return }
        let folder = url.deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        var failure: (any Error)?
        for file in names.map(folder.appendingPathComponent) where Self.isFurther(file, of: url) {
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
    final func addFurther(
        _ zone: ZoneID, beside store: NSPersistentStore, _ awaiting: AwaitingShare
    ) throws -> StoreMirror {
        guard let url = store.url.map({ Self.place(of: zone, beside: $0) }) else {
            throw CKError(.invalidArguments, "A store in memory holds the zone of one owner.")
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
    /// the stores that were added. Throws `CKError`.
    final func addFurther() async throws -> [StoreMirror] {
        var added: [StoreMirror] = []
        for (store, mirror) in mirroredStores where takesFurther(store, mirror) {
            let awaiting = AwaitingShare(mirror.options, mirror.address)
            for zone in try await freeZones(for: awaiting) {
                added.append(try addFurther(zone, beside: store, awaiting))
            }
        }
        return added
    }

    private func takesFurther(_ store: NSPersistentStore, _ mirror: StoreMirror) -> Bool {
        mirror.isShared && mirror.options.zoneName == nil && !isFurther(store)
    }

    /// Whether the container made a store beside another one.
    final func isFurther(_ store: NSPersistentStore) -> Bool {
        persistentStoreCoordinator.persistentStores.contains { Self.isFurther(store, of: $0) }
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

    // MARK: Files

    private static let digits = 16

    /// `Shared.sqlite` has `Shared-0123456789abcdef.sqlite` beside it: the digits are of a digest
    /// of the zone.
    private static func place(of zone: ZoneID, beside url: URL) -> URL {
        let name = [zone.ownerRecordName ?? "", zone.zoneName].joined(separator: "\0")
        let digest = SHA2.sha256(Array(name.utf8)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
        }
        let base = url.deletingPathExtension().lastPathComponent
        let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return url.deletingLastPathComponent()
            .appendingPathComponent("\(base)-\(digest.joined().prefix(digits))\(suffix)")
    }

    private static func isFurther(_ store: NSPersistentStore, of first: NSPersistentStore) -> Bool {
        guard let url = store.url, let firstURL = first.url else { return false }
        return isFurther(url, of: firstURL)
    }

    private static func isFurther(_ url: URL, of first: URL) -> Bool {
        guard url.deletingLastPathComponent().path == first.deletingLastPathComponent().path,
            url.pathExtension == first.pathExtension
        else { return false }
        let base = first.deletingPathExtension().lastPathComponent + "-"
        let name = url.deletingPathExtension().lastPathComponent
        let rest = name.dropFirst(base.count)
        return name.hasPrefix(base) && rest.utf8.count == digits
            && rest.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
