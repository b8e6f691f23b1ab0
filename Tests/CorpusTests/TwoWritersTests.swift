import Foundation
import ObjectModel
import Testing

@testable import MirrorTestKit

/// Models edited at random on two devices, with faults: no law may break.
@Suite struct TwoWritersTests {
    @Test(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
    func everyCorpusModelSurvivesTwoWriters() throws {
        let loaded = Corpus.models.filter { Seeds.chooses($0.name) }.compactMap { model in
            (try? model.load()).map { (model.name, $0) }
        }
        let complex = loaded.sorted { Self.complexity($0.1) > Self.complexity($1.1) }.prefix(12)
        #expect(!complex.isEmpty)
        for (name, model) in complex {
            for seed in Seeds.range(5) { try survive(name, model, seed: seed, devices: 2) }
        }
    }

    /// The seeds after the first dozen once broke a law.
    @Test func everyKindSurvivesSeveralWriters() throws {
        let known: [UInt64] = [28, 129, 204, 299]
        for seed in Array(Seeds.range(12)) + known {
            try survive(
                "everything", EverythingModel.make(), seed: seed, devices: 2 + Int(seed % 2),
                steps: seed > 12 ? 250 : 100)
        }
    }

    /// Relationships count double: they are what can come apart.
    private static func complexity(_ model: NSManagedObjectModel) -> Int {
        model.entities.reduce(0) { $0 + 1 + 2 * $1.relationshipsByName.count }
    }

    private func survive(
        _ name: String, _ model: NSManagedObjectModel, seed: UInt64, devices: Int, steps: Int = 100
    ) throws {
        var settings = WorldSettings(model: model)
        settings.faults = .drawn(by: SeededRandomness(seed: seed &* 7919))
        settings.devices = devices
        settings.steps = steps
        let scratch = try Scratch()
        let world = try SimulatedWorld(seed: seed, settings: settings, folder: scratch.url("world"))
        do {
            try world.fillFirstDevice(model, seed: seed)
            let broken = try world.run()
            if broken.isEmpty { return }
            Issue.record("\(name), seed \(seed): \(broken.joined(separator: "\n"))")
        } catch {
            Issue.record("\(name), seed \(seed) threw \(error)")
        }
        print("\(name), seed \(seed)\n" + world.story.joined(separator: "\n"))
    }
}

/// Which models and seeds to run: `DIPTYCH_MODEL` names models, `DIPTYCH_SEEDS` a count,
/// `DIPTYCH_SEED` one seed.
enum Seeds {
    private static let environment = ProcessInfo.processInfo.environment

    static func chooses(_ model: String) -> Bool {
        environment["DIPTYCH_MODEL"].map { model.contains($0) } ?? true
    }

    static func range(_ count: Int) -> ClosedRange<UInt64> {
        if let one = environment["DIPTYCH_SEED"].flatMap(UInt64.init) { return one...one }
        let asked = environment["DIPTYCH_SEEDS"].flatMap(Int.init)
        return 1...UInt64(max(asked ?? count, 1))
    }
}
