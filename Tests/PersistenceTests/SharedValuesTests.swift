import CoreData
import Foundation
import Testing

/// Copies of a store whose names differ in the extension only, so that their large values lie in
/// one folder.
@Suite struct SharedValuesTests {
    private let folder: URL
    private var support: URL { folder.appendingPathComponent(".a_SUPPORT/_EXTERNAL_DATA") }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("SharedValuesTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private static func model() -> NSManagedObjectModel {
        let image = TestModel.attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        return VersionDraft.model { $0.entity("Photo", [text("name"), image]) }
    }

    private func context(_ name: String) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil,
            at: folder.appendingPathComponent(name))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Makes the store, and closes it: only SQLite may open a file that it has open.
    private func fill() throws {
        let context = try context("a.sqlite")
        for (name, byte) in [("one", UInt8(1)), ("two", 2), ("three", 3)] {
            let image = Data(repeating: byte, count: 150_000)
            _ = context.make("Photo", ["name": name, "image": image])
        }
        try context.save()
        let coordinator = try #require(context.persistentStoreCoordinator)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func images(_ name: String) throws -> [UInt8?] {
        try context(name).all("Photo").map { ($0.value(forKey: "image") as? Data)?.first }
    }

    private var count: Int {
        ((try? FileManager.default.contentsOfDirectory(atPath: support.path)) ?? []).count
    }

    enum Way: CaseIterable { case replacing, copying }

    private func copy(_ way: Way) throws {
        let (store, copy) = ("a.sqlite", "a.backup")
        switch way {
        case .replacing:
            try NSPersistentStoreCoordinator(managedObjectModel: Self.model())
                .replacePersistentStore(
                    at: folder.appendingPathComponent(copy),
                    withPersistentStoreFrom: folder.appendingPathComponent(store), type: .sqlite)
        case .copying:
            try FileManager.default.copyItem(
                at: folder.appendingPathComponent(store), to: folder.appendingPathComponent(copy))
        }
    }

    /// What the store lets go of its copy still names; what nobody names goes.
    @Test(arguments: Way.allCases)
    func theValuesOfACopyStay(_ way: Way) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try fill()
        try copy(way)
        let context = try context("a.sqlite")
        try context.one("Photo", "one").setValue(
            Data(repeating: 4, count: 150_000), forKey: "image")
        context.delete(try context.one("Photo", "two"))
        try context.save()
        #expect(try images("a.sqlite") == [4, 3])
        #expect(try images("a.backup") == [1, 3, 2])
        #expect(count == 4)
        let other = try self.context("a.backup")
        try other.all("Photo").forEach(other.delete)
        try other.save()
        #expect(try images("a.sqlite") == [4, 3])
        #expect(count == 2)
        try context.all("Photo").forEach(context.delete)
        try context.save()
        #expect(count == 0)
    }
}
