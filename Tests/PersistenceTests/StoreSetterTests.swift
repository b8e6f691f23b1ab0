import CoreData
import Foundation
import Testing

/// What a store can be told after it was opened, and which stores a coordinator takes together.
@Suite struct StoreSetterTests {
    private let model = ShelfModel.make()
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("StoreSetterTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func place(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private func opened(
        _ kind: StoreKind, _ url: URL
    ) throws -> (NSPersistentStore, NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (store, context)
    }

    private func insert(_ label: String, _ context: NSManagedObjectContext) throws {
        NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
            .setValue(label, forKey: "label")
        try context.save()
    }

    /// Objects of the one would be found in the other, since URIs name stores by their identifiers.
    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func aCopyOfAStoreIsNotAddedBesideIt(_ kind: StoreKind) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (store, context) = try opened(kind, place("first"))
        try insert("one", context)
        let coordinator = try #require(context.persistentStoreCoordinator)
        try coordinator.replacePersistentStore(
            at: place("copy"), withPersistentStoreFrom: place("first"), ofType: kind.type)
        let error = try cocoaError {
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: place("copy"))
        }
        #expect(error.code == 134081)
        #expect(error.localizedDescription.contains(place("first").path))
        #expect(coordinator.persistentStores == [store])
        // As the error says.
        let (copy, other) = try opened(kind, place("copy"))
        try other.persistentStoreCoordinator?.migratePersistentStore(
            copy, to: place("own"), withType: kind.type)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: place("own"))
        let boxes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box"))
        #expect(boxes.count == 2)
        for box in boxes {
            let uri = box.objectID.uriRepresentation()
            #expect(coordinator.managedObjectID(forURIRepresentation: uri) == box.objectID)
        }
    }

    @Test(arguments: [StoreKind.sqlite, .xml, .binary, .memory])
    func aStoreCanBeMadeReadOnlyAndTakenBack(_ kind: StoreKind) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (store, context) = try opened(kind, place("store"))
        store.isReadOnly = true
        #expect(try cocoaError { try insert("one", context) }.code == NSPersistentStoreSaveError)
        store.isReadOnly = false
        try context.save()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Box")) == 1)
    }

    @Test func whatWasOpenedReadOnlyStaysSo() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try insert("one", try opened(.sqlite, place("store")).1)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: place("store"),
            options: [NSReadOnlyPersistentStoreOption: true])
        store.isReadOnly = false
        #expect(store.isReadOnly)
    }

    /// As with `setURL(_:for:)`.
    @Test func aStoreGoesOnAtTheURLItIsGiven() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (store, context) = try opened(.xml, place("first"))
        store.url = place("second")
        try insert("one", context)
        #expect(
            try opened(.xml, place("second")).1.count(
                for: NSFetchRequest<NSManagedObject>(entityName: "Box")) == 1)
        let (file, other) = try opened(.sqlite, place("file"))
        file.url = place("nowhere/file")
        #expect(other.persistentStoreCoordinator?.url(for: file) == place("file"))
    }

    /// Edits of its objects would have been written to the other's under the same keys, and an XML
    /// file written over.
    @Test(arguments: [StoreKind.sqlite, .xml, .binary])
    func aStoreIsNotGivenThePlaceOfAnother(_ kind: StoreKind) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (store, context) = try opened(kind, place("first"))
        try insert("one", context)
        let (other, there) = try opened(kind, place("other"))
        try insert("two", there)
        try other.persistentStoreCoordinator?.remove(other)
        let coordinator = try #require(context.persistentStoreCoordinator)
        #expect(!coordinator.setURL(place("other"), for: store))
        let note = place("note")
        try Data("mine".utf8).write(to: note)
        #expect(!coordinator.setURL(note, for: store))
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        try context.fetch(request).first?.setValue("edited", forKey: "label")
        try context.save()
        let labels = try opened(kind, place("other")).1.fetch(request).map {
            $0.value(forKey: "label") as? String
        }
        #expect(labels == ["two"])
        #expect(try Data(contentsOf: note) == Data("mine".utf8))
        // It can be given the place of a copy.
        try coordinator.replacePersistentStore(
            at: place("copy"), withPersistentStoreFrom: place("first"), ofType: kind.type)
        #expect(coordinator.setURL(place("copy"), for: store))
    }

    @Test func theIdentifierOfAFileStays() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (store, context) = try opened(.sqlite, place("store"))
        try insert("one", context)
        let before = try #require(store.identifier)
        store.identifier = UUID().uuidString
        #expect(store.identifier == before)
    }
}
