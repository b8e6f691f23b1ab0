import CoreData
import Foundation
import Testing

/// Takes what its objects hold and says so nowhere in its mapping.
final class CarryingPolicy: NSEntityMigrationPolicy, @unchecked Sendable {
    // @unchecked: used by one migration, on its thread.
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
        manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(
            forSource: sInstance, in: mapping, manager: manager)
        manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance]
        ).first?.setValue(sInstance.value(forKey: "image"), forKey: "image")
    }
}

/// Mapped migrations of stores that lack the file of a large value: the new store would have no
/// value in its place, and not even the name of the file.
@Suite struct MissingFileMigrationTests {
    private static func version(_ isNew: Bool) -> NSManagedObjectModel {
        VersionDraft.model { draft in
            let image = TestModel.attribute("image", .binaryDataAttributeType)
            image.allowsExternalBinaryDataStorage = true
            draft.entity("Photo", [text("name"), image] + (isNew ? [number("size")] : []))
            let copy = TestModel.attribute("copy", .binaryDataAttributeType)
            draft.entity("Frame", [text("name")] + (isNew ? [copy] : []))
            draft.link("Frame", "photo", .one, "Photo", "frames", .many)
        }
    }
    private let old = version(false)
    private let new = version(true)
    private let image = Data(repeating: 7, count: 200_000)

    private func mapping(
        _ photo: [String: String]?, frame: [String: String] = ["name": "$source.name"],
        policy: String? = nil
    ) -> NSMappingModel {
        let photos = NSEntityMapping.transforming("Photo", "Photo", photo, from: old, to: new)
        photos.entityMigrationPolicyClassName = policy
        let model = NSMappingModel()
        model.entityMappings = [
            photos, .transforming("Frame", "Frame", frame, from: old, to: new),
        ]
        return model
    }

    private func values(_ bench: MigrationBench) -> URL {
        bench.folder.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
    }

    /// A store with two large values, the file of one of them aside.
    private func bench() throws -> (MigrationBench, file: URL, aside: URL) {
        let bench = try MigrationBench()
        try bench.fill(old) { context in
            for name in ["a", "b"] {
                let photo = context.make("Photo", ["name": name, "image": image])
                _ = context.make("Frame", ["name": name, "photo": photo])
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: values(bench).path)
        #expect(names.count == 2)
        let file = values(bench).appendingPathComponent(try #require(names.sorted().first))
        let aside = bench.folder.appendingPathComponent("aside")
        try FileManager.default.moveItem(at: file, to: aside)
        return (bench, file, aside)
    }

    private func migrate(_ bench: MigrationBench, by mapping: NSMappingModel) throws {
        try ProgressiveMigration(
            storeAt: bench.url, type: .sqlite,
            versions: ModelVersions(
                [.init(name: "1", model: old), .init(name: "2", model: new)],
                mappings: [mapping])
        ).run()
    }

    private func expectRefusal(_ error: NSError, of file: URL) {
        #expect(error.code == NSMigrationError)
        #expect(error.userInfo["attribute"] as? String == "image")
        #expect(error.userInfo["entity"] as? String == "Photo")
        #expect(error.localizedDescription.contains(file.lastPathComponent))
    }

    @Test func aMappedMigrationIsRefusedUntilTheFileIsBack() throws {
        let (bench, file, aside) = try bench()
        let mapping = mapping(["name": "$source.name", "image": "$source.image"])
        let error = try cocoaError { try migrate(bench, by: mapping) }
        #expect(error.code == NSMigrationError)
        let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? NSError)
        expectRefusal(cause, of: file)
        // The rows name their files still, and nothing lies beside them.
        #expect(bench.names == [".store_SUPPORT", "aside", "store.sqlite"])
        try bench.open(old, options: [:]) { context throws in
            #expect(try context.all("Photo").count == 2)
        }
        try FileManager.default.moveItem(at: aside, to: file)
        try migrate(bench, by: mapping)
        try bench.open(new, options: [:]) { context throws in
            for name in ["a", "b"] {
                let photo = try context.one("Photo", name)
                #expect(photo.value(forKey: "image") as? Data == image)
            }
        }
    }

    /// By a copy of all, by a function, by way of another object, by a policy.
    @Test(arguments: 0..<4) func aManagerMakesNoStoreWithoutTheValue(_ way: Int) throws {
        let (bench, file, _) = try bench()
        NSEntityMigrationPolicy.register([CarryingPolicy.self])
        let name = ["name": "$source.name"]
        let ways = [
            mapping(nil),
            mapping(["image": "FUNCTION($source, 'valueForKey:', 'image')"]),
            mapping(name, frame: ["copy": "$source.photo.image"]),
            mapping(name, policy: "CarryingPolicy"),
        ]
        let place = bench.folder.appendingPathComponent("new.sqlite")
        let error = try cocoaError {
            try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
                from: bench.url, type: .sqlite, mapping: ways[way], to: place, type: .sqlite)
        }
        expectRefusal(error, of: file)
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    /// What the new version does without is not missed.
    @Test func aValueThatNoMappingReadsMayBeGone() throws {
        let (bench, _, _) = try bench()
        try migrate(bench, by: mapping(["name": "$source.name"]))
        try bench.open(new, options: [:]) { context throws in
            #expect(try context.all("Photo").map { $0.string("name") } == ["a", "b"])
        }
    }
}
