import CoreData
import Foundation
import MirrorEngine
import MirrorTestKit
import MirrorTesting
import Testing

/// A task of an app: it keeps its title short, and counts its saves.
final class ChoreOfTest: NSManagedObject {
    override func willSave() {
        super.willSave()
        let title = value(forKey: "title") as? String ?? ""
        if title.hasSuffix(" ") {
            setValue(title.trimmingCharacters(in: .whitespaces), forKey: "title")
        }
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try check()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try check()
    }

    private func check() throws {
        guard (value(forKey: "title") as? String)?.isEmpty == true else { return }
        throw NSError(
            domain: "Chores", code: 1,
            userInfo: [NSLocalizedDescriptionKey: "A chore has a title."])
    }

    static let model: NSManagedObjectModel = {
        let entity = SampleModel.entity(
            "Chore",
            [
                SampleModel.attribute("title", .stringAttributeType),
                SampleModel.attribute("note", .stringAttributeType),
            ])
        entity.managedObjectClassName = String(reflecting: ChoreOfTest.self)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }()
}

/// The fixture of two devices, the trait that gives it, and the app's own classes on them.
@Suite struct TwoDevicesTests {
    private func titles(_ device: TestDevice) throws -> [String] {
        let chores = try device.objects("Chore", sortedBy: "title")
        return try device.context.performAndWait {
            try chores.map { try #require($0.value(forKey: "title") as? String) }
        }
    }

    private func make(_ title: String, on device: TestDevice) throws {
        try device.edit { context in
            NSEntityDescription.insertNewObject(forEntityName: "Chore", into: context)
                .setValue(title, forKey: "title")
        }
    }

    private func rename(_ title: String, on device: TestDevice) throws {
        let chore = try #require(try device.objects("Chore").first)
        try device.edit { _ in chore.setValue(title, forKey: "title") }
    }

    @Test(.twoDevices(model: { ChoreOfTest.model }))
    func theAppsOwnClassesTakePart() throws {
        let devices = try #require(TwoDevices.current)
        try make("Dishes  ", on: devices.first)
        #expect(try devices.settle())
        #expect(try titles(devices.second) == ["Dishes"])
        #expect(try devices.second.objects("Chore").first is ChoreOfTest)
        #expect(throws: (any Error).self) { try rename("", on: devices.second) }
        #expect(try devices.settle())
        #expect(try titles(devices.first) == ["Dishes"])
    }

    @Test(
        .twoDevices(model: { ChoreOfTest.model }, policy: MergePolicy(standard: .remote)),
        arguments: 1...2)
    func aConflictComesOutByTheRule(times: Int) throws {
        let devices = try #require(TwoDevices.current)
        try make("Dishes", on: devices.first)
        try devices.settle()
        try rename("Plates", on: devices.first)
        try rename("Cups", on: devices.second)
        #expect(try devices.first.sync().sent == 1)
        #expect(try devices.second.sync().merged == 1)
        try devices.settle()
        #expect(try titles(devices.first) == ["Plates"])
        #expect(try titles(devices.second) == ["Plates"])
        #expect(try devices.second.store.conflicts().map(\.rule) == ["remote"])
    }

    /// The folders of such fixtures; those of tests beside this one come and go.
    private func folders() throws -> Set<String> {
        let all = try FileManager.default.contentsOfDirectory(
            atPath: FileManager.default.temporaryDirectory.path)
        return Set(all.filter { $0.hasPrefix("two-devices-") })
    }

    @Test func aModelThatIsRefusedLeavesNoFolder() async throws {
        let title = SampleModel.attribute("title", .stringAttributeType)
        title.userInfo = ["MirrorMerge": "whim"]
        let model = NSManagedObjectModel()
        model.entities = [SampleModel.entity("Chore", [title])]
        let before = try folders()
        #expect(throws: MirrorError.self) { try TwoDevices(model: model) }
        var left = try folders().subtracting(before)
        for _ in 0..<12_000 where !left.isEmpty {
            try await Task.sleep(for: .milliseconds(50))
            left.formIntersection(try folders())
        }
        #expect(left == [])
    }

    @Test func theWireLosesWhatItIsToldTo() throws {
        let devices = try TwoDevices(model: ChoreOfTest.model)
        devices.first.isOnline = false
        try make("Dishes", on: devices.first)
        #expect(try devices.first.sync().failure == "There is no network.")
        #expect(try !devices.settle())
        devices.first.isOnline = true
        devices.first.loseNextAnswer()
        try devices.first.sync()
        devices.second.loseNextRequest()
        try make("Cups", on: devices.second)
        #expect(try devices.settle())
        try devices.second.restart()
        #expect(try titles(devices.second) == ["Cups", "Dishes"])
        #expect(try titles(devices.first) == ["Cups", "Dishes"])
    }

    /// Stories, too, are played on the app's classes.
    @Test func storiesMeetTheAppsValidation() throws {
        var story = Story(
            title: "Chores", model: ChoreOfTest.model,
            devices: [StoryDevice("Ann"), StoryDevice("Ben")])
        story.steps = [
            StoryStep(
                .device(
                    ["Ann"],
                    .insert(
                        entity: "Chore", handle: "c",
                        values: [StoryAssignment("title", .text("Dishes "))]))),
            StoryStep(.everyoneSettles),
            StoryStep(.device(["Ben"], .set(StoryProperty("c", "title"), .text("")))),
            StoryStep(.expect(StoryExpectation(.refused))),
            StoryStep(
                .expect(
                    StoryExpectation(
                        .value(StoryProperty("c", "title"), [.text("Dishes")])))),
        ]
        let report = try StoryStage.play(story)
        #expect(report.holds, "\(report.told)")
        #expect(report.steps[2].notes == ["refused: A chore has a title."])
    }
}
