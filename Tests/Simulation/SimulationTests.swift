import Foundation
import MirrorEngine
import MirrorTestKit
import Testing

@Suite struct SimulationTests {
    /// Twenty runs of seeds side by side; `DIPTYCH_SEEDS` sets how many seeds there are in all.
    @Test(arguments: 0..<20)
    func everySeedComesToRestInAgreement(part: Int) throws {
        for seed in UInt64(part) * Self.seedsPerPart..<UInt64(part + 1) * Self.seedsPerPart {
            let run = try WorldRun(seed: seed)
            #expect(run.broken == [], "seed \(seed)\n\(run.story.joined(separator: "\n"))")
        }
    }

    /// Seeds that once broke a law.
    @Test(arguments: Self.rememberedSeeds)
    func aSeedThatOnceFailedHolds(seed: UInt64) throws {
        let run = try WorldRun(seed: seed)
        #expect(run.broken == [], "seed \(seed)\n\(run.story.joined(separator: "\n"))")
    }

    @Test(arguments: [3, 17, 40, 91, 250] as [UInt64])
    func theSameSeedIsTheSameStory(seed: UInt64) throws {
        #expect(try WorldRun(seed: seed).story == WorldRun(seed: seed).story)
    }

    /// The alarm rings: each planted bug breaks a law within the first seeds.
    @Test(arguments: [
        "import.skipTokenWrite", "import.ignoreBase", "export.echoImports",
        "export.forgetTombstone", "import.tokenBeforeRows", "import.retryWithoutRecognition",
    ])
    func aPlantedBugIsFound(bug: String) throws {
        let found = try (0..<400 as Range<UInt64>).first { seed in
            try !WorldRun(seed: seed, plantedBug: bug).broken.isEmpty
        }
        #expect(found != nil, "\(bug) went unnoticed")
        if let found { print("\(bug) found by seed \(found)") }
    }

    private static let seedsPerPart = UInt64(
        (Int(ProcessInfo.processInfo.environment["DIPTYCH_SEEDS"] ?? "") ?? 2_000) / 20)

    private static var rememberedSeeds: [UInt64] {
        guard let url = Bundle.module.url(forResource: "Seeds", withExtension: "txt"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").compactMap { line in
            line.split(separator: " ").first.flatMap { UInt64($0) }
        }
    }
}

/// One world, run to its end and removed.
struct WorldRun {
    let broken: [String]
    let story: [String]

    init(seed: UInt64, plantedBug: String? = nil) throws {
        var settings = Self.settings(seed: seed)
        settings.faults.plantedBug = plantedBug
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent(
                "world-\(ProcessInfo.processInfo.processIdentifier)-\(seed)-\(plantedBug ?? "")")
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try SimulatedWorld(seed: seed, settings: settings, folder: folder)
        do {
            broken = try world.run()
        } catch {
            broken = ["The world threw \(error)"]
        }
        story = world.story
    }

    /// What kind of world a seed stands for.
    private static func settings(seed: UInt64) -> WorldSettings {
        let dice = SeededRandomness(seed: seed &* 7919)
        var settings = WorldSettings(
            model: SampleModel.make(uniqueLabels: dice.chance(percent: 30)))
        settings.devices = 2 + dice.below(2)
        settings.faults = .drawn(by: dice)
        let rules: [MergeRule] = [
            .local, .local, .remote, .remote, .overwrite, .rollback, .max, .latest,
        ]
        settings.policy = MergePolicy(
            standard: dice.pick(rules) ?? .local,
            deletion: dice.chance(percent: 25) ? .keepEdited : .deleteWins)
        return settings
    }
}
