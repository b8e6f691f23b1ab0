import CoreData
import Foundation
import Stores
import Testing

/// The store types the shared suites run over.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case memory
    case sqlite
    case xml
    case binary

    var testDescription: String { rawValue }
    var type: String {
        switch self {
        case .memory: NSInMemoryStoreType
        case .sqlite: NSSQLiteStoreType
        case .xml: NSXMLStoreType
        case .binary: NSBinaryStoreType
        }
    }
    /// Those that keep history.
    static let logging: [StoreKind] = [.memory, .sqlite]
}

/// A coordinator with one fresh store, and contexts over it.
final class Bench {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext
    private let folder: URL
    /// Objects do not hold their contexts, so the bench does.
    private var others: [NSManagedObjectContext] = []

    init(_ kind: StoreKind, model: NSManagedObjectModel = TestModel.make()) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("PersistenceTests-\(UUID().uuidString)")
        if kind != .memory {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        self.folder = folder
        store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind == .memory ? nil : folder.appendingPathComponent("store.\(kind.rawValue)"),
            options: [NSPersistentHistoryTrackingKey: true])
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        others.append(context)
        return context
    }

    func named(_ entity: String) throws -> NSEntityDescription {
        try #require(coordinator.managedObjectModel.entitiesByName[entity])
    }

    @discardableResult
    func make(
        _ entity: String, _ name: String? = nil, in other: NSManagedObjectContext? = nil
    ) throws -> NSManagedObject {
        let entity = try #require(coordinator.managedObjectModel.entitiesByName[entity])
        let type: NSManagedObject.Type =
            switch entity.name {
            case "Person": Person.self
            case "Employee": Employee.self
            default: NSManagedObject.self
            }
        let object = type.init(entity: entity, insertInto: other ?? context)
        if entity.attributesByName["name"] != nil { object.setValue(name ?? "x", forKey: "name") }
        return object
    }

    @discardableResult
    func person(_ name: String, in other: NSManagedObjectContext? = nil) throws -> Person {
        try #require(try make("Person", name, in: other) as? Person)
    }

    /// The object of the same row in another context.
    func twin<T: NSManagedObject>(_ object: T, in other: NSManagedObjectContext) throws -> T {
        try #require(try other.existingObject(with: object.objectID) as? T)
    }

    func names(_ value: Any?) -> Set<String> {
        let objects = value as? Set<NSManagedObject> ?? []
        return Set(objects.compactMap { $0.value(forKey: "name") as? String })
    }

    func order(_ value: Any?) -> [String] {
        let objects = (value as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        return objects.compactMap { $0.value(forKey: "name") as? String }
    }
}

extension Bench {
    /// Changes a name in the store itself, as the mirror does, and announces it.
    func rename(_ person: Person, to name: String) throws {
        let row = try #require(person.objectID.rowID)
        let layout = try #require(store.rowStore.layout.entity(row.entity))
        let slot = try #require(layout.attributeSlot("name"))
        var update = RowUpdate(id: row)
        update.attributes = [(slot, .text(name))]
        var changes = ChangeSet()
        changes.updates = [update]
        _ = try store.rowStore.save(changes)
        coordinator.storeDidChange(store, inserted: [], updated: [row], deleted: [])
    }
}
