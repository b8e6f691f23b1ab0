import CoreData
import Foundation
import SQLiteDriver
import Testing

/// Describes one version of a model in few words.
struct VersionDraft {
    private(set) var entities: [String: NSEntityDescription] = [:]
    private var order: [NSEntityDescription] = []

    static func model(_ build: (inout VersionDraft) -> Void) -> NSManagedObjectModel {
        var draft = VersionDraft()
        build(&draft)
        let model = NSManagedObjectModel()
        model.entities = draft.order
        return model
    }

    mutating func entity(
        _ name: String, _ properties: [NSPropertyDescription] = [], below parent: String? = nil,
        from former: String? = nil, isAbstract: Bool = false, unique: [[String]] = []
    ) {
        let entity = NSEntityDescription()
        entity.name = name
        entity.renamingIdentifier = former
        entity.isAbstract = isAbstract
        entity.declaredProperties = properties
        entity.uniquenessConstraints = unique
        if let parent { entities[parent]?.subentities.append(entity) }
        entities[name] = entity
        order.append(entity)
    }

    func link(
        _ first: String, _ name: String, _ side: TestModel.Side, _ second: String,
        _ back: String, _ backSide: TestModel.Side
    ) {
        guard let one = entities[first], let other = entities[second] else { return }
        TestModel.link(one, name, side, other, back, backSide)
    }

    /// A relationship without an inverse.
    func link(_ owner: String, _ name: String, _ side: TestModel.Side, _ member: String) {
        guard let one = entities[owner], let other = entities[member] else { return }
        one.declaredProperties.append(TestModel.relationship(name, side, to: other))
    }

    func rename(_ entity: String, _ property: String, from former: String) {
        entities[entity]?.declaredProperties.first { $0.name == property }?
            .renamingIdentifier = former
    }
}

func text(_ name: String, from former: String? = nil, optional: Bool = true, _ value: String? = nil)
    -> NSAttributeDescription
{
    let made = TestModel.attribute(
        name, .stringAttributeType, optional: optional, default: value)
    made.renamingIdentifier = former
    return made
}

func number(
    _ name: String, _ type: NSAttributeType = .integer32AttributeType, optional: Bool = true,
    _ value: Any? = nil
) -> NSAttributeDescription {
    TestModel.attribute(name, type, optional: optional, default: value)
}

/// A folder with one store, which is opened with one version of its model after the other.
final class MigrationBench {
    let folder: URL
    let kind: StoreKind
    /// Stores that keep no model of themselves are migrated from a model that is in use.
    private var known: [NSPersistentStoreCoordinator] = []
    var url: URL { folder.appendingPathComponent("store.\(kind.rawValue)") }

    static var migrating: [AnyHashable: Any] {
        [
            NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
            NSPersistentHistoryTrackingKey: true,
        ]
    }

    init(_ kind: StoreKind = .sqlite) throws {
        self.kind = kind
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("Migration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Opens the store, migrating it where it must be, and closes it after `work`.
    @discardableResult
    func open<Result>(
        _ model: NSManagedObjectModel, at place: URL? = nil,
        options: [AnyHashable: Any] = MigrationBench.migrating,
        _ work: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        known.append(coordinator)
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: place ?? url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        defer { try? coordinator.remove(store) }
        return try work(context)
    }

    /// Makes the store and saves what `fill` inserts.
    func fill(
        _ model: NSManagedObjectModel, _ fill: (NSManagedObjectContext) throws -> Void
    ) throws {
        try open(model) { context in
            try fill(context)
            try context.save()
        }
    }

    /// The files beside each other in the folder, without logs.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
    }

    // MARK: The tables

    /// Checks that the file has what a new file of the model has: tables with their columns in any
    /// order, indexes, triggers, numbers, hashes.
    func expectFreshShape(
        _ model: NSManagedObjectModel, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let fresh = folder.appendingPathComponent("fresh.sqlite")
        try open(model, at: fresh) { _ in }
        let (present, wanted) = (try Self.shape(of: url), try Self.shape(of: fresh))
        let differing = Set(present).symmetricDifference(wanted).sorted()
        #expect(differing.isEmpty, sourceLocation: sourceLocation)
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: fresh.path + suffix)
        }
    }

    private static func shape(of url: URL) throws -> [String] {
        let connection = try Connection(path: url.path, access: .readWrite)
        let objects = try connection.rows(
            "SELECT type, name, CASE type WHEN 'table' THEN '' ELSE sql END FROM sqlite_master "
                + "WHERE name NOT GLOB 'sqlite_*'")
        let columns = try connection.rows(
            "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table'")
        let numbers = try connection.rows(
            "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000")
        let cache = try connection.rows("SELECT length(Z_CONTENT) FROM Z_MODELCACHE")
        let plist = try connection.value("SELECT Z_PLIST FROM Z_METADATA")?.data ?? Data()
        let metadata = try PropertyListSerialization.propertyList(from: plist, format: nil)
        let hashes =
            (metadata as? [String: Any])?.filter {
                $0.key.hasPrefix("NSStore") && $0.key != NSStoreModelVersionHashesKey
            } ?? [:]
        return (objects + columns + numbers + cache).map { "\($0)" }.sorted()
            + hashes.map { "\($0)" }.sorted()
    }

    func value(_ sql: String) throws -> SQLiteValue? {
        try Connection(path: url.path, access: .readWrite).value(sql)
    }
}

extension NSManagedObjectContext {
    func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func all(_ entity: String, by key: String = "name") throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try fetch(request)
    }

    func one(_ entity: String, _ name: String) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try fetch(request).first)
    }
}

extension NSManagedObject {
    /// The names of the objects a relationship leads to; in order where it is ordered.
    func names(_ key: String) -> [String] {
        let objects: [NSManagedObject]
        switch value(forKey: key) {
        case let one as NSManagedObject: objects = [one]
        case let many as NSOrderedSet: objects = many.array.compactMap { $0 as? NSManagedObject }
        case let many as Set<NSManagedObject>:
            return many.compactMap { $0.value(forKey: "name") as? String }.sorted()
        default: objects = []
        }
        return objects.compactMap { $0.value(forKey: "name") as? String }
    }

    func string(_ key: String) -> String? { value(forKey: key) as? String }
    func int(_ key: String) -> Int? { value(forKey: key) as? Int }
}

/// The Cocoa error that `work` throws.
func cocoaError(_ work: () throws -> Void) throws -> NSError {
    var thrown: (any Error)?
    do { try work() } catch { thrown = error }
    let error = try #require(thrown) as NSError
    #expect(error.domain == NSCocoaErrorDomain)
    return error
}
