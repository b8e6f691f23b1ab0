import CoreData
import Foundation
import MirrorEngine
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

    /// Books on shelves, with an entity of the sample's name that lacks what it has there.
    private static func library() -> NSManagedObjectModel {
        let shelf = SampleModel.entity(
            "Shelf", [SampleModel.attribute("room", .stringAttributeType)])
        let book = SampleModel.entity(
            "Book", [SampleModel.attribute("pages", .integer32AttributeType)])
        let note = SampleModel.entity(
            "Note", [SampleModel.attribute("text", .stringAttributeType)])
        SampleModel.connect(shelf, "books", many: true, book, "shelf", many: false)
        let model = NSManagedObjectModel()
        model.entities = [shelf, book, note]
        return model
    }

    @Test func devicesChooseAmongTheModelsOwnEntities() throws {
        var chosen: Set<String> = []
        for seed in UInt64(1)...6 {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("own-model-\(UUID().uuidString)")
            var settings = WorldSettings(model: Self.library())
            var sharing = WorldSharing()
            sharing.selectionPercent = 12
            settings.faults.devices.sharing = sharing
            let outcome = WorldTrial.run(seed: seed, settings: settings, in: folder)
            #expect(outcome.broken == [], "seed \(seed)")
            chosen.formUnion(
                outcome.story.compactMap { line in
                    line.range(of: " sends ").map { String(line[$0.upperBound...]) }
                })
        }
        let known: Set<String> = [
            "everything", "no Shelf", "no Book", "no Note", "each Shelf that has room",
            "each Book that has pages", "each Book that has shelf", "each Note that has text",
        ]
        #expect(chosen.subtracting(known) == [])
        #expect(chosen.count > 3)
    }

    /// Votes that code makes counters, boxes whose entity does, and bags whose parent's does.
    private static func ballots() -> (model: NSManagedObjectModel, policy: MergePolicy) {
        let vote = SampleModel.entity(
            "Vote", [SampleModel.attribute("votes", .integer64AttributeType)])
        let box = SampleModel.entity(
            "Box", [SampleModel.attribute("coins", .integer64AttributeType)])
        box.userInfo = ["MirrorMerge": "counter"]
        let bag = SampleModel.entity(
            "Bag", [SampleModel.attribute("notes", .integer32AttributeType)])
        box.subentities = [bag]
        SampleModel.connect(vote, "box", many: false, box, "votings", many: true)
        let model = NSManagedObjectModel()
        model.entities = [vote, box, bag]
        var policy = MergePolicy(standard: .remote)
        policy.set(.counter, entity: "Vote", property: "votes")
        return (model, policy)
    }

    @Test func whatCodeAndEntitiesMakeCountersIsCounted() throws {
        let names = ["votes", "coins", "notes"]
        var counted: Set<String> = []
        for seed in UInt64(1)...100 where counted.count < names.count {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("own-model-\(UUID().uuidString)")
            let (model, policy) = Self.ballots()
            var settings = WorldSettings(model: model)
            settings.policy = policy
            let outcome = WorldTrial.run(seed: seed, settings: settings, in: folder)
            #expect(outcome.broken == [], "seed \(seed)")
            // Nobody replaces what is counted.
            for name in names {
                #expect(!outcome.story.contains { $0.contains("sets \(name) of ") })
                if outcome.story.contains(where: { $0.contains("counts \(name) of ") }) {
                    counted.insert(name)
                }
            }
        }
        #expect(counted == Set(names))
    }

    /// The same of stories.
    @Test func storiesAddToWhatCodeAndEntitiesMakeCounters() throws {
        let (model, policy) = Self.ballots()
        var dice = StoryDice()
        dice.policy = policy
        dice.steps = 200
        var generator = StoryGenerator(model: model, dice: dice, seed: 3)
        let lines = generator.story(title: "Votes").steps.map(\.text)
        for name in ["votes", "coins", "notes"] {
            #expect(lines.contains { $0.contains(" adds ") && $0.contains(".\(name)") }, "\(name)")
            let replacing = lines.filter { $0.contains(" sets ") || $0.contains(" clears ") }
            #expect(!replacing.contains { $0.contains(".\(name)") }, "\(name)")
        }
    }

    @Test func everyCounterOfAnEntityAddsUp() throws {
        var counted: Set<String> = []
        // The dice choose what is counted, and seldom count at all.
        for seed in UInt64(1)...100 where counted.count < Self.counters.count {
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
