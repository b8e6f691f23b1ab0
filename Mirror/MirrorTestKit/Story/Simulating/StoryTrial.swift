public import Foundation
internal import MirrorEngine
internal import RecordWire

/// Plays random stories with the laws of MERGE.md at their end, and makes those that break one as
/// short as it can.
public struct StoryTrial {
    /// A story that broke laws.
    public struct Failure {
        /// The story as it was drawn.
        public let story: Story
        /// The laws that it broke, each in a sentence.
        public let broken: [String]
        /// The shortest story found that breaks one.
        public var shortest: Story
        /// What that one breaks.
        public var brokenByShortest: [String]
    }

    private let folder: URL
    /// What happens to requests beyond the story's own lines; for tests of the laws.
    var disturb: ((RecordRequest) -> RecordRequest)?

    /// Makes its stores in `folder`, which is created and removed for each story.
    public init(folder: URL) { self.folder = folder }

    /// Plays a story, lets everything come to rest, and checks the laws. Returns those it broke.
    /// What cannot be done, since a line speaks of an object that a device does not have, is
    /// passed over. Throws what the stores throw.
    public func brokenLaws(of story: Story, seed: UInt64) throws -> [String] {
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try StoryRun(story, folder: folder, seed: seed, isStrict: false, destination: nil)
        run.network.disturb = disturb
        do {
            let report = try run.play()
            if let failure = report.failures.first?.failure { return [failure] }
            try run.comeToRest()
            return try run.brokenLaws()
        } catch let error as StoryError {
            return [error.message]
        } catch {
            return ["It threw \(error)."]
        }
    }

    /// Plays a story; where it breaks a law, looks for the shortest one that does. Returns nil
    /// where all laws hold. Cost: up to some hundred plays of ever shorter stories.
    public func failure(of story: Story, seed: UInt64) throws -> Failure? {
        let broken = try brokenLaws(of: story, seed: seed)
        guard !broken.isEmpty else { return nil }
        var failure = Failure(
            story: story, broken: broken, shortest: story, brokenByShortest: broken)
        try shorten(&failure, seed: seed)
        if try dropValues(&failure, seed: seed) { try shorten(&failure, seed: seed) }
        return failure
    }

    /// Leaves out half of the steps, a quarter, and so on down to single ones, as long as a law is
    /// broken without them.
    private func shorten(_ failure: inout Failure, seed: UInt64) throws {
        var size = max(1, failure.shortest.steps.count / 2)
        var plays = 0
        while plays < Self.playsMax {
            var isShorter = false
            var start = 0
            while start < failure.shortest.steps.count, plays < Self.playsMax {
                var shorter = failure.shortest
                shorter.steps.removeSubrange(start..<min(start + size, shorter.steps.count))
                plays += 1
                let broken = try brokenLaws(of: shorter, seed: seed)
                if broken.isEmpty {
                    start += size
                } else {
                    failure.shortest = shorter
                    failure.brokenByShortest = broken
                    isShorter = true
                }
            }
            if size > 1 {
                size /= 2
            } else if !isShorter {
                return
            }
        }
    }

    /// Leaves out values that new objects are given, and with them what these name. Returns whether
    /// any could go.
    private func dropValues(_ failure: inout Failure, seed: UInt64) throws -> Bool {
        var dropped = false
        for place in failure.shortest.steps.indices {
            var index = 0
            while let shorter = failure.shortest.droppingValue(index, ofStep: place) {
                let broken = try brokenLaws(of: shorter, seed: seed)
                if broken.isEmpty {
                    index += 1
                } else {
                    failure.shortest = shorter
                    failure.brokenByShortest = broken
                    dropped = true
                }
            }
        }
        return dropped
    }

    private static let playsMax = 400
}

extension Story {
    /// The story without one value of an object that is made in a step; nil where there is none.
    fileprivate func droppingValue(_ index: Int, ofStep place: Int) -> Story? {
        guard
            case .device(let names, .insert(let entity, let handle, var values)) =
                steps[place].action, index < values.count
        else { return nil }
        values.remove(at: index)
        var story = self
        story.steps[place] = StoryStep(
            .device(names, .insert(entity: entity, handle: handle, values: values)))
        return story
    }

    /// The story in its own lines, so that it can be read again. `model` says where the model
    /// comes from: the words after `model from`.
    public func text(modelFrom model: String) -> String {
        var lines = ["story \(title)", "model from \(StoryWriting.quoted(model))"]
        if policy.standard.name != "local" { lines.append("policy \(policy.standard.name)") }
        if policy.deletion != .deleteWins { lines.append("deletion \(policy.deletion.rawValue)") }
        lines.append("devices \(devices.map(\.name).joined(separator: ", "))")
        lines.append("")
        lines += steps.map(\.text)
        lines += devices.map(\.name).filter(endsOffline).map { "\($0) comes online" }
        lines += ["everyone settles", "expect everyone agrees", ""]
        return lines.joined(separator: "\n")
    }

    private func endsOffline(_ device: String) -> Bool {
        let last = steps.last { step in
            guard case .device(let names, let deed) = step.action, names.contains(device) else {
                return false
            }
            return [.goOffline, .comeOnline].contains(deed)
        }
        guard case .device(_, .goOffline)? = last?.action else { return false }
        return true
    }
}
