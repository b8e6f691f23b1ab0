internal import CSQLite
internal import Foundation
internal import ObjectModel
internal import Persistence
internal import SQLiteStore
internal import Stores

/// Makes a large store, and migrates copies of it: by this package and by plain SQL.
enum MigrationFigures {
    private static let rowsPerSave = 50_000
    private static let entriesPerFolder = 100

    // MARK: Filling

    static func fill(_ arguments: RoleArguments) throws {
        let count = try arguments.count(1)
        let isLinked = try arguments.count(2) == 1
        var options = SQLiteStoreOptions()
        options.tracksHistory = false
        let url = try arguments.url(0)
        let store = try SQLiteRowStore(
            url: url, model: SampleModel.make(linked: isLinked), options: options)
        guard let entity = store.layout.entity(named: SampleModel.entity) else {
            throw BenchmarkError("The model lacks \(SampleModel.entity).")
        }
        for first in stride(from: 0, to: count, by: rowsPerSave) {
            let samples = Sample.many(min(rowsPerSave, count - first), from: first)
            let folders = isLinked ? try insertFolders(samples.count, into: store) : []
            try ChangeFigures.insert(samples, of: entity, into: store, folders: folders)
        }
        Findings().send()
    }

    private static func insertFolders(
        _ entries: Int, into store: SQLiteRowStore
    ) throws -> [RowID] {
        guard let folder = store.layout.entity(named: SampleModel.folder) else { return [] }
        let keys = try store.reserveKeys(
            entity: folder.number, count: max(1, entries / entriesPerFolder))
        let rows = keys.map { RowID(entity: folder.number, key: $0) }
        var changes = ChangeSet()
        changes.inserts = rows.map { Row(id: $0, layout: folder) }
        _ = try store.save(changes)
        return rows
    }

    // MARK: Migrating

    static func migrate(_ arguments: RoleArguments) throws {
        let origin = try arguments.url(0)
        guard let kind = MigrationKind(rawValue: try arguments.text(1)) else {
            throw BenchmarkError("There is no such migration.")
        }
        let count = try arguments.count(2)
        let folder = try TemporaryFolder()
        let (own, twin) = (folder.path("own.sqlite"), folder.path("raw.sqlite"))
        try FileManager.default.copyItem(atPath: origin.path, toPath: own)
        try FileManager.default.copyItem(atPath: origin.path, toPath: twin)
        let models = (
            old: SampleModel.make(linked: kind.isLinked), new: MigrationModels.later(kind)
        )
        var found = Findings()
        found["seconds"] = try Stopwatch.processorSeconds {
            try migrate(URL(fileURLWithPath: own), kind, models.old, models.new)
        }
        found["peak"] = Double(PeakMemory.bytes)
        found["raw"] = try Stopwatch.processorSeconds { try migrateRaw(twin, kind) }
        try check(kind, kind.isByObjects ? own + ".new" : own, count)
        found.send()
    }

    private static func migrate(
        _ url: URL, _ kind: MigrationKind, _ old: NSManagedObjectModel, _ new: NSManagedObjectModel
    ) throws {
        guard kind.isByObjects else {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true,
                    NSInferMappingModelAutomaticallyOption: true,
                ])
            return try coordinator.remove(store)
        }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: old, destinationModel: new)
        if kind == .coded {
            NSEntityMigrationPolicy.register([CopyingPolicy.self])
            mapping.entityMappings.first?.entityMigrationPolicyClassName = "CopyingPolicy"
        }
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: url, type: .sqlite, mapping: mapping,
            to: URL(fileURLWithPath: url.path + ".new"), type: .sqlite)
    }

    private static func check(_ kind: MigrationKind, _ path: String, _ count: Int) throws {
        var rows = 0
        let column = kind == .optional ? "Z_PK" : kind == .copied ? "ZNAME" : "ZEXTRA"
        try RawDatabase(path: path).each("SELECT count(\(column)) FROM ZENTRY") {
            rows = Int(sqlite3_column_int64($0, 0))
        }
        try RawFigures.check(rows, count)
    }

    // MARK: The floor

    private static let columns = "Z_PK, Z_ENT, Z_OPT, ZCOUNT, ZISDONE, ZAMOUNT, ZCREATED, ZNAME, "

    private static func migrateRaw(_ path: String, _ kind: MigrationKind) throws {
        let database = try RawDatabase(path: path)
        let head =
            "CREATE TABLE ZNEW (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZCOUNT INTEGER, ZISDONE INTEGER, ZAMOUNT FLOAT, ZCREATED TIMESTAMP, ZNAME VARCHAR, "
        let change =
            switch kind {
            case .optional: "ALTER TABLE ZENTRY ADD COLUMN ZEXTRA INTEGER"
            case .filled:
                "ALTER TABLE ZENTRY ADD COLUMN ZEXTRA INTEGER; UPDATE ZENTRY SET ZEXTRA = 5"
            case .copied:
                "\(head)ZKEY BLOB); INSERT INTO ZNEW SELECT \(columns)ZKEY FROM ZENTRY"
            case .mapped, .coded:
                "\(head)ZNOTE VARCHAR, ZKEY BLOB, ZEXTRA INTEGER); INSERT INTO ZNEW "
                    + "SELECT \(columns)ZNOTE, ZKEY, 5 FROM ZENTRY"
            case .linked:
                "\(head)ZNOTE VARCHAR, ZKEY BLOB, ZEXTRA INTEGER, ZFOLDER INTEGER); "
                    + "INSERT INTO ZNEW SELECT \(columns)ZNOTE, ZKEY, 5, ZFOLDER FROM ZENTRY; "
                    + "CREATE INDEX ZNEWFOLDER ON ZNEW (ZFOLDER)"
            }
        try database.run("BEGIN IMMEDIATE; \(change); COMMIT")
    }
}

extension MigrationKind {
    var isByObjects: Bool { [.mapped, .coded, .linked].contains(self) }
}

/// What becomes of the model of samples.
enum MigrationModels {
    static func later(_ kind: MigrationKind) -> NSManagedObjectModel {
        let model = SampleModel.make(linked: kind.isLinked)
        guard let entity = model.entitiesByName[SampleModel.entity] else { return model }
        if kind == .copied {
            entity.declaredProperties.removeAll { $0.name == "note" }
            return model
        }
        let extra = NSAttributeDescription()
        extra.name = "extra"
        extra.attributeType = .integer64AttributeType
        extra.isOptional = kind == .optional
        if kind != .optional { extra.defaultValue = 5 }
        entity.declaredProperties.append(extra)
        return model
    }
}

/// What a program would write: reads each value, and gives it to the new object.
final class CopyingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    private static let names = [
        "amount", "count", "created", "isDone", "key", "name", "note",
    ]

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        let made = NSEntityDescription.insertNewObject(
            forEntityName: SampleModel.entity, into: manager.destinationContext)
        for name in Self.names { made.setValue(sInstance.value(forKey: name), forKey: name) }
        made.setValue(5, forKey: "extra")
        manager.associate(
            sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
    }
}
