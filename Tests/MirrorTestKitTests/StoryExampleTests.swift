import Foundation
import MirrorTestKit
import Testing

/// The stories of Examples/scenarios come out as they say.
@Suite struct StoryExampleTests {
    @Test(arguments: examples) func theStoryHolds(file: String) throws {
        let story = try Story(
            text: String(contentsOf: Self.folder.appendingPathComponent(file), encoding: .utf8),
            folder: Self.folder)
        #expect(!story.title.isEmpty)
        let rules: [String?] = story.comparedRules.isEmpty ? [nil] : story.comparedRules
        for rule in rules {
            let report = try StoryStage.play(story, rule: rule)
            for step in report.failures {
                let place = "\(file), line \(step.line), under \(rule ?? "its rules")"
                Issue.record("\(place): \(step.text): \(step.failure ?? "")\n\(report.told)")
            }
            #expect(report.steps.contains { $0.isExpectation })
        }
    }

    @Test func thereAreTwenty() { #expect(Self.examples.count >= 20) }

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Examples/scenarios")

    static let examples: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".story") }.sorted()
    }()
}
