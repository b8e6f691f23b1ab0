import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import RecordWire
import SQLiteStore
import Stores

/// Devices with two versions of one model and their service; a device may be updated at any time.
final class VersionedWorld {
    let service: SimulatedService
    let folder: URL
    private var files: [ObjectIdentifier: URL] = [:]
    private var made: UInt64 = 0
    /// From how many bytes on values are assets; nil for none.
    var assetsAbove: Int?
    let former: NSManagedObjectModel
    let later: NSManagedObjectModel

    init(
        from former: NSManagedObjectModel = SampleModel.make(),
        to later: NSManagedObjectModel = SampleModel.makeLater(),
        service: SimulatedService? = nil
    ) throws {
        (self.former, self.later) = (former, later)
        self.service = try service ?? Device.service()
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("versions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A device of the older version, or of the newer one.
    func device(isLater: Bool = false, policy: MergePolicy = MergePolicy()) throws -> Device {
        try open(
            folder.appendingPathComponent("device\(made).sqlite"), isLater ? later : former, policy)
    }

    func open(
        _ file: URL, _ model: NSManagedObjectModel, _ policy: MergePolicy = MergePolicy(),
        keys: SealingKeys? = nil
    ) throws -> Device {
        made += 1
        let device = try Device(
            made, service, model: model, policy: policy, file: file, keys: keys,
            assetsAbove: assetsAbove)
        files[ObjectIdentifier(device)] = file
        return device
    }

    /// The device after an update of its app: the store is migrated within its file.
    func updated(
        _ device: Device, to model: NSManagedObjectModel? = nil,
        policy: MergePolicy = MergePolicy(), keys: SealingKeys? = nil
    ) throws -> Device {
        guard let file = file(of: device) else { throw Missing(name: "file") }
        let (old, new) = (device.store.layout.model, model ?? later)
        try SQLiteRowStore.upgrade(
            file, from: old, to: new, configuration: nil,
            mapping: try InferredMapping(from: old.entities, to: new.entities),
            defaults: { $0.storedDefault })
        return try open(file, new, policy, keys: keys)
    }

    /// The same by way of a mapping model, which makes a new file.
    func mapped(
        _ device: Device, by mapping: NSMappingModel? = nil, to model: NSManagedObjectModel? = nil,
        policy: MergePolicy = MergePolicy()
    ) throws -> Device {
        guard let old = file(of: device) else { throw Missing(name: "file") }
        made += 1
        let file = folder.appendingPathComponent("mapped\(made).sqlite")
        let (source, destination) = (device.store.layout.model, model ?? later)
        try NSMigrationManager(sourceModel: source, destinationModel: destination).migrateStore(
            from: old, type: .sqlite,
            mapping: mapping
                ?? .inferredMappingModel(
                    forSourceModel: source, destinationModel: destination),
            to: file, type: .sqlite)
        return try open(file, destination, policy)
    }

    /// Devices of both versions that have the same note, with a subtitle that only the newer one
    /// knows; with a folder, tags and a to-do beside it, whose keys are not those that a new file
    /// would give.
    func neighbours(hasTag: Bool = false) throws -> (old: Device, new: Device, note: RowID) {
        let (old, new) = (try device(), try device(isLater: true))
        if hasTag {
            for number in 0..<5 {
                try old.delete(old.insert("Note", ["views": .integer(Int64(number))]))
            }
        }
        let note = try old.insert("Note", ["title": .text("t"), "views": .integer(1)])
        if hasTag {
            try old.insert("TodoNote", ["title": .text("todo"), "isDone": .integer(1)])
            let folder = try old.insert("Folder", ["name": .text("f")])
            let tag = try old.insert("Tag", ["label": .text("x")])
            try old.link(note, "folder", folder, order: 1024)
            try old.pair(note, "tags", with: tag)
            try old.pair(tag, "pinned", with: note)
        }
        try settle(old, new)
        try new.set(new.only("Note"), "subtitle", .text("s"))
        try settle(new, old)
        return (old, new, note)
    }

    /// The note with a headline, of a device of the later version.
    func titled(_ headline: String, _ device: Device) throws -> RowID {
        let row = try device.rows("Note").first {
            try device.value($0.id, "headline") == .text(headline)
        }
        guard let row else { throw Missing(name: headline) }
        return row.id
    }

    /// Whether a store has the later version by now.
    func isLater(_ file: URL) throws -> Bool {
        later.isConfiguration(
            withName: nil,
            compatibleWithStoreMetadata:
                try NSPersistentStoreCoordinator
                .metadataForPersistentStore(ofType: NSSQLiteStoreType, at: file))
    }

    func inferred() throws -> NSMappingModel {
        try NSMappingModel.inferredMappingModel(
            forSourceModel: former, destinationModel: later)
    }

    func file(of device: Device) -> URL? { files[ObjectIdentifier(device)] }

    /// Rounds until nothing moves.
    func settle(_ devices: Device...) throws {
        for _ in 0..<8 {
            let results = try devices.map { try $0.sync() }
            for case let error? in results.map(\.error) { throw error }
            if results.allSatisfy({ $0.exported + $0.imported.received == 0 }) { return }
        }
        throw Missing(name: "rest")
    }

    /// The service's only record of a type.
    func record(_ type: String) throws -> Record {
        let records = try service.records(inZone: "com.apple.coredata.cloudkit.zone").values
        guard let record = records.first(where: { $0.recordType == type }) else {
            throw Missing(name: type)
        }
        return record
    }
}
