import CoreData
import Foundation
import MirrorTestKit
import Testing

/// Worlds of models as users have them: what the sample lacks breaks no law by itself.
@Suite struct OwnModelTests {
    private static let counters = ["views", "likes", "stock", "weight", "shade"]

    /// Notes with counters of several types, and a text that is marked as one.
    private static func manyCounters() -> NSManagedObjectModel {
        let model = SampleModel.make()
        let added = [
            SampleModel.attribute("likes", .integer64AttributeType),
            SampleModel.attribute("stock", .decimalAttributeType),
            SampleModel.attribute("weight", .doubleAttributeType),
            SampleModel.attribute("shade", .floatAttributeType),
            SampleModel.attribute("remark", .stringAttributeType),
        ]
        for attribute in added { attribute.userInfo = ["MirrorMerge": "counter"] }
        model.entitiesByName["Note"]?.properties += added
        return model
    }

    @Test func everyCounterOfAnEntityAddsUp() throws {
        var counted: Set<String> = []
        for seed in UInt64(1)...5 {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("own-model-\(UUID().uuidString)")
            let settings = WorldSettings(model: Self.manyCounters())
            let outcome = WorldTrial.run(seed: seed, settings: settings, in: folder)
            #expect(outcome.broken == [], "seed \(seed)")
            counted.formUnion(
                Self.counters.filter { name in
                    outcome.story.contains { $0.contains("counts \(name) of ") }
                })
        }
        #expect(counted == Set(Self.counters))
    }
}
