import Foundation
import MirrorTestKit
import ObjectModel
import Platform
import SQLiteStore
import Stores
import Testing

/// Objects of any model, at the edges of their types.
@Suite struct GraphFillerTests {
    /// Three entities with many attributes that may be null.
    private static func model() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = ["One", "Other", "Third"].map { name in
            SampleModel.entity(
                name, (0..<40).map { SampleModel.attribute("a\($0)", .integer32AttributeType) })
        }
        return model
    }

    @Test func theFirstObjectOfEachEntityHasEveryValue() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("filler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = Self.model()
        let store = try SQLiteRowStore(
            url: folder.appendingPathComponent("store.sqlite"), model: model, platform: .system)
        let filler = GraphFiller(model: model, randomness: SeededRandomness(seed: 5))
        let report = try filler.fill(store, objectsPerEntity: 6)
        #expect(report.objectCount == 18)
        for entity in store.layout.entities {
            let ids = try store.ids(matching: RowQuery(entity: entity.number)).sorted()
            let rows = try ids.compactMap { try store.row($0) }
            let nulls = rows.map { row in row.attributes.count { $0.isNull } }
            // The first, and every fourth of its entity after it.
            #expect(nulls.count == 6 && nulls[0] == 0 && nulls[4] == 0, "\(entity.name)")
            #expect([1, 2, 3, 5].allSatisfy { nulls[$0] > 0 }, "\(entity.name)")
        }
    }
}
