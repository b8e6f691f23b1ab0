internal import Foundation
internal import MirrorEngine
internal import MirrorTestKit
internal import ObjectModel

/// `diptych simulate`: random stories over a model, with the laws of merging at their end.
struct Simulate: Verb {
    private static let seeds = Option("seeds", "N", "how many stories (100)")
    private static let seed = Option("seed", "N", "the first one's number (1)")
    private static let devices = Option("devices", "N", "how many devices there are (2)")
    private static let steps = Option("ops", "N", "lines of a story (30)")
    private static let faults = Option(
        "faults", "all|none|LIST",
        "what may go wrong, with commas between: "
            + StoryDice.Fault.allCases.map(\.rawValue).joined(separator: ", "))
    private static let out = Option("out", "FILE", "write the shortest story that fails here")

    static let manual = Manual(
        name: "simulate", summary: "Plays random stories over a model, and checks the laws.",
        options: [
            .model, seeds, seed, devices, steps, faults, MirrorOptions.policy,
            MirrorOptions.deletion, out,
        ], readsSettingsBesideStore: false,
        notes: [
            HelpText.wrapped(
                "Each seed is a story: devices edit objects of the model at random, sync when they "
                    + "like, and meet faults. Then all faults end, everyone syncs until nothing "
                    + "moves, and the laws of docs/MERGE.md are checked: all hold the same, "
                    + "nothing that was saved is lost or comes back, what was discarded is in a "
                    + "log, the queues are empty. The same seed is the same story. Without "
                    + "--faults all happen but those that take a store or the service back in "
                    + "time; 'all' has these, too, and then what was saved need not be there."),
            HelpText.wrapped(
                "When a law is broken, it prints the seed, the law, and the shortest story found "
                    + "that breaks one, which 'diptych scenario run' plays. Exit status 1."),
        ],
        examples: [
            ("diptych simulate --model Library.xcdatamodel --seeds 3 --ops 12", "a short trial"),
            (
                "diptych simulate --model Library.xcdatamodel --seeds 2 --devices 3 "
                    + "--policy remote --faults lostAnswer,crash",
                "three devices, two kinds of faults"
            ),
        ])

    private let modelFile: URL
    private let modelName: String
    private let seeds: Range<UInt64>
    private let dice: StoryDice
    private let out: URL?

    init(_ arguments: Arguments) throws {
        modelName = try arguments.required(.model)
        modelFile = arguments.file(.model) ?? URL(fileURLWithPath: modelName)
        let first = UInt64(try arguments.number(Self.seed, in: 0...(1 << 40)) ?? 1)
        let count = UInt64(try arguments.number(Self.seeds, in: 1...1_000_000) ?? 100)
        seeds = first..<first + count
        var dice = StoryDice()
        dice.devices = try arguments.number(Self.devices, in: 1...9) ?? dice.devices
        dice.steps = try arguments.number(Self.steps, in: 1...10_000) ?? dice.steps
        dice.policy = try MirrorOptions.mergePolicy(arguments)
        if let text = arguments.value(Self.faults) { dice.faults = try Self.faults(text) }
        self.dice = dice
        out = arguments.file(Self.out)
    }

    private static func faults(_ text: String) throws -> Set<StoryDice.Fault> {
        if text == "all" { return Set(StoryDice.Fault.allCases) }
        if text == "none" { return [] }
        return Set(
            try text.split(separator: ",").map { word in
                let word = word.trimmingCharacters(in: .whitespaces)
                if let fault = StoryDice.Fault(rawValue: word) { return fault }
                let known = StoryDice.Fault.allCases.map(\.rawValue)
                let near = Spelling.nearest(to: word, among: known)
                throw CommandError(
                    "usage", "There is no fault '\(word)'.",
                    hint: (near.map { "Did you mean \($0)? " } ?? "")
                        + "There are \(known.joined(separator: ", ")).", status: .usage)
            })
    }

    func run(_ console: Console) async throws -> ExitStatus {
        // The shortest story is found after a long while, and is to have its place then.
        if let out { try ParentFolder.require(of: out) }
        let model = try ModelSource.load(modelFile)
        let left = StoryGenerator.leftOut(of: model)
        for sentence in left.prefix(5) { console.warn(sentence) }
        if left.count > 5 { console.warn("\(left.count - 5) more attributes are left out") }
        let folder = try PassingFolder("story")
        defer { folder.remove() }
        for (index, seed) in seeds.enumerated() {
            try Task.checkCancellation()
            console.progress(
                "story \(index + 1) of \(Figure.grouped(seeds.count))", done: index,
                total: seeds.count)
            var generator = StoryGenerator(model: model, dice: dice, seed: seed)
            let story = generator.story(title: "Seed \(seed)")
            let trial = StoryTrial(folder: folder.within)
            if let failure = try trial.failure(of: story, seed: seed) {
                try tell(failure, seed: seed, console)
            }
        }
        if console.isJSON {
            console.emit([
                "event": "done", "stories": JSON(seeds.count), "holds": true,
                "firstSeed": .integer(Int64(seeds.lowerBound)),
            ])
        } else {
            console.line(
                "\(Figure.count(seeds.count, "story", "stories")) of \(dice.steps) lines on "
                    + "\(Figure.count(dice.devices, "device")): all laws hold.")
        }
        return .done
    }

    /// The laws broken, and the shortest story; ends the command.
    private func tell(
        _ failure: StoryTrial.Failure, seed: UInt64, _ console: Console
    ) throws {
        let remarks = failure.brokenByShortest.map { "# \($0)\n" }.joined()
        let text = remarks + failure.shortest.text(modelFrom: modelFile.path)
        if console.isJSON {
            console.emit([
                "event": "failed", "seed": .integer(Int64(clamping: seed)),
                "broken": .array(failure.broken.map(JSON.string)),
                "brokenByShortest": .array(failure.brokenByShortest.map(JSON.string)),
                "story": .string(text),
            ])
        } else {
            console.title("Seed \(seed) breaks a law:")
            for sentence in failure.broken { console.line("  " + sentence) }
            console.line("")
            console.line(
                "The shortest story found, of "
                    + "\(Figure.count(failure.shortest.steps.count, "line")) "
                    + "instead of \(failure.story.steps.count):")
            console.block("\n" + text)
        }
        if let out { try Data(text.utf8).write(to: out, options: .atomic) }
        throw CommandError(
            "lawBroken", "Seed \(seed) breaks a law: \(failure.broken.first ?? "")",
            hint: "Play the story above with 'diptych scenario run', or again with --seed \(seed) "
                + "--seeds 1 and the same options.")
    }
}

extension JSON: ExpressibleByBooleanLiteral {
    init(booleanLiteral value: Bool) { self = .bool(value) }
}
