import Foundation
import MirrorEngine
import MirrorTestKit
import ObjectModel
import Persistence
import Platform
import RecordWire
import SQLiteDriver
import SQLiteStore
import Testing

/// The ways on which a program migrates a store that it mirrors.
enum MigrationWay: CaseIterable {
    /// While it is opened, by inference.
    case onOpening
    /// The same, and what nobody reads any more goes later.
    case deferred
    /// By the stages of a manager.
    case staged
    /// Over a version between.
    case progressive
    /// By a mapping model, into a new file that takes the place of the old.
    case mapped
    /// By several mapping models, each of some entities.
    case parts
}

/// Throws where a point is passed.
struct Strike: FaultPoints {
    struct Fault: Error {}
    let point: String
    func reach(_ name: String) throws { if name == point { throw Fault() } }
}

extension VersionedWorld {
    /// The version between both: a note's title is its caption, and it has a subtitle.
    static func between() -> NSManagedObjectModel {
        let model = SampleModel.make()
        guard let note = model.entitiesByName["Note"] else { return model }
        note.properties += [SampleModel.attribute("subtitle", .stringAttributeType)]
        SampleModel.rename("title", to: "caption", in: note)
        return model
    }

    /// The store of a device at its place, of the later version; a new device on it.
    func migrated(
        _ device: Device, _ way: MigrationWay, policy: MergePolicy = MergePolicy(),
        faults: any FaultPoints = NoFaults()
    ) throws -> Device {
        guard let file = file(of: device) else { throw Missing(name: "file") }
        var platform = Environment.system
        platform.faults = faults
        switch way {
        case .onOpening: try opening(file, platform, [:])
        case .deferred:
            try opening(
                file, platform, [NSPersistentStoreDeferredLightweightMigrationOptionKey: true])
        case .staged:
            try opening(
                file, platform, [NSPersistentStoreStagedMigrationManagerOptionKey: stages()])
        case .progressive, .mapped, .parts:
            try ProgressiveMigration(
                storeAt: file, type: .sqlite, versions: versions(way), options: nil,
                platform: platform
            ).run()
        }
        return try open(file, later, policy)
    }

    private func opening(
        _ file: URL, _ platform: Environment, _ options: [AnyHashable: Any]
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(model: later, platform: platform)
        let asked: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file,
            options: asked.merging(options) { $1 })
        try coordinator.remove(store)
    }

    /// The handler of the stage between gives every note a caption that has none.
    private func stages() -> NSStagedMigrationManager {
        func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        let between = Self.between()
        let custom = NSCustomMigrationStage(
            migratingFrom: reference(between), to: reference(later))
        custom.willMigrateHandler = { manager, _ in
            let context = try #require(manager.container).newBackgroundContext()
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                for note in try context.fetch(request)
                where note.value(forKey: "caption") == nil {
                    note.setValue("staged", forKey: "caption")
                }
                try context.save()
            }
        }
        return NSStagedMigrationManager([
            NSLightweightMigrationStage([former, between].map(\.versionChecksum)), custom,
        ])
    }

    private func versions(_ way: MigrationWay) throws -> ModelVersions {
        func version(_ name: String, _ model: NSManagedObjectModel) -> ModelVersions.Version {
            .init(name: name, model: model)
        }
        let ends = [version("1", former), version("3", later)]
        switch way {
        case .mapped: return ModelVersions(ends, mappings: [try inferred()])
        case .parts:
            let parts = try [["Note", "TodoNote"], ["Folder", "Tag", "Cover"]].map { names in
                let mapping = try inferred()
                mapping.entityMappings = mapping.entityMappings?.filter {
                    names.contains($0.sourceEntityName ?? "")
                }
                return mapping
            }
            return ModelVersions(ends, mappings: parts)
        case .onOpening, .deferred, .staged, .progressive:
            return ModelVersions([ends[0], version("2", Self.between()), ends[1]])
        }
    }

    /// What a device and its service agreed on, in lines: names, bases, pairs, the token, what it
    /// calls itself.
    func agreement(_ device: Device) throws -> [String] {
        try device.store.read { transaction in
            let connection = transaction.connection
            let queries = [
                "SELECT m.ZCKRECORDNAME, m.ZNEEDSUPLOAD, m.ZNEEDSCLOUDDELETE, hex(a.ZBINARYDATA) "
                    + "FROM ANSCKRECORDMETADATA m "
                    + "LEFT JOIN ANSCKRECORDMETADATAENCODEDRECORDASSET a "
                    + "ON a.Z_PK = m.Z_PK",
                "SELECT ZCKRECORDID, ZRECORDNAME, ZRELATEDRECORDNAME, ZCDENTITYNAME, "
                    + "ZRELATIONSHIPNAME, ZISUPLOADED FROM ANSCKMIRROREDRELATIONSHIP",
                "SELECT ZCKRECORDZONENAME, hex(ZCURRENTCHANGETOKEN) FROM ANSCKRECORDZONEMETADATA",
                "SELECT ZKEY, ZSTRINGVALUE, ZINTEGERVALUE FROM ANSCKMETADATAENTRY WHERE ZKEY IN "
                    + "('DiptychDeviceIdentifier', 'DiptychContainer', 'DiptychInstance')",
                "SELECT ZRECORDNAME, ZPROPERTY, ZMILLISECONDS FROM ADIPTYCHEDIT",
            ]
            return try queries.flatMap { try connection.rows($0).map { "\($0)" } }.sorted()
        }
    }
}
