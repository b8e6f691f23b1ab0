import Foundation
import MirrorTestKit

/// Plays stories in folders of the moment.
enum StoryStage {
    static func play(_ story: Story, rule: String? = nil, seed: UInt64 = 1) throws -> StoryReport {
        try inFolder { try StoryRun(story, rule: rule, folder: $0, seed: seed).play() }
    }

    static func play(_ text: String) throws -> StoryReport {
        try play(Story(text: text, folder: FileManager.default.temporaryDirectory))
    }

    static func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("stories-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}

extension StoryReport {
    /// All that was done and told, to be read when an expectation fails.
    var told: String {
        steps.map { step in
            let notes = step.notes + [step.failure].compactMap { $0 }
            let held = step.changes.map { change in
                "\(change.holder): \(change.objects.map(\.text).joined(separator: "; "))"
            }
            return (["\(step.line) \(step.text)"] + (notes + held).map { "    " + $0 })
                .joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
