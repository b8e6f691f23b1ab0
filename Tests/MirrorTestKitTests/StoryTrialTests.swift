import CoreData
import Foundation
import MirrorEngine
import RecordWire
import Testing

@testable import MirrorTestKit

/// Random stories over any model: they hold, they are the same for a seed, and where the service
/// spoils something they say so, in few lines.
@Suite struct StoryTrialTests {
    private static let library = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Tools/demo-model/Library.xcdatamodel").standardizedFileURL

    private static let models: [NSManagedObjectModel] = {
        let made = [SampleModel.make(), SampleModel.make(uniqueLabels: true, orderedTags: true)]
        return made + [try? NSManagedObjectModel.load(from: library)].compactMap { $0 }
    }()

    private static func story(
        _ seed: UInt64, model: NSManagedObjectModel, _ change: (inout StoryDice) -> Void = { _ in }
    ) -> Story {
        var dice = StoryDice()
        change(&dice)
        var generator = StoryGenerator(model: model, dice: dice, seed: seed)
        return generator.story(title: "Seed \(seed)")
    }

    private static func broken(_ story: Story, seed: UInt64) throws -> [String] {
        try StoryStage.inFolder { try StoryTrial(folder: $0).brokenLaws(of: story, seed: seed) }
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>) func theLawsHold(seed: UInt64) throws {
        let rules: [MergeRule] = [.local, .remote, .latest, .max]
        let story = Self.story(seed, model: Self.models[Int(seed) % Self.models.count]) {
            $0.devices = 2 + Int(seed % 2)
            $0.policy.standard = rules[Int(seed) % rules.count]
        }
        #expect(try Self.broken(story, seed: seed) == [])
    }

    @Test(arguments: 21...26 as ClosedRange<UInt64>)
    func theLawsHoldWhereTimeIsLost(seed: UInt64) throws {
        let story = Self.story(seed, model: Self.models[0]) {
            $0.faults = Set(StoryDice.Fault.allCases)
        }
        #expect(try Self.broken(story, seed: seed) == [])
    }

    @Test func theSameSeedIsTheSameStory() {
        let model = Self.models[2]
        #expect(Self.story(7, model: model).steps == Self.story(7, model: model).steps)
        #expect(Self.story(7, model: model).steps != Self.story(8, model: model).steps)
    }

    /// A drawn story is read again from its text, step by step.
    @Test func aDrawnStoryCanBeRead() throws {
        let story = Self.story(5, model: Self.models[2]) {
            $0.faults = Set(StoryDice.Fault.allCases)
        }
        let text = story.text(modelFrom: Self.library.path)
        let read = try Story(text: text, folder: FileManager.default.temporaryDirectory)
        #expect(read.steps.prefix(story.steps.count).map(\.action) == story.steps.map(\.action))
    }

    /// A wire that drops a title now and then: two lines and a sync show it.
    @Test func aFaultIsFoundAndItsStoryIsShort() throws {
        let model = SampleModel.make()
        let failure = try #require(
            try StoryStage.inFolder { folder in
                var trial = StoryTrial(folder: folder)
                trial.disturb = Self.forgetsTitles
                let story = Self.story(3, model: model) { $0.steps = 40 }
                return try trial.failure(of: story, seed: 3)
            })
        #expect(!failure.broken.isEmpty)
        #expect(failure.shortest.steps.count <= 2, "\(failure.shortest.steps.map(\.text))")
        #expect(failure.brokenByShortest.contains { $0.contains("title") })
    }

    @Sendable private static func forgetsTitles(_ request: RecordRequest) -> RecordRequest {
        guard case .modifyRecords(var modify) = request else { return request }
        for index in modify.operations.indices {
            modify.operations[index].record.fields.removeValue(forKey: "CD_title")
        }
        return .modifyRecords(modify)
    }

    @Test func whatCannotBeWrittenIsLeftOut() throws {
        let entity = SampleModel.entity(
            "Shape", [SampleModel.attribute("path", .transformableAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let told = StoryGenerator.leftOut(of: model)
        #expect(told == ["Shape.path: a story cannot write its type."])
        #expect(try Self.broken(Self.story(1, model: model), seed: 1) == [])
    }
}
