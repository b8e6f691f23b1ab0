import Foundation
import ObjectModel
import Testing

@testable import MirrorTestKit

/// Models edited at random on two devices, with faults: no law may break.
@Suite struct TwoWritersTests {
    @Test(.enabled(if: Corpus.isPresent, "set DIPTYCH_CORPUS to the corpus"))
    func everyCorpusModelSurvivesTwoWriters() throws {
        let chosen = Seeds.model
        let loaded = Corpus.models.filter { model in chosen.map { model.name.contains($0) } ?? true }
            .compactMap { model in (try? model.load()).map { (model.name, $0) } }
        let complex = loaded.sorted { Self.complexity($0.1) > Self.complexity($1.1) }.prefix(12)
        #expect(!complex.isEmpty)
        for (name, model) in complex {
            for seed in Seeds.range(5) { try survive(name, model, seed: seed) }
        }
    }

    @Test func everyKindSurvivesTwoWriters() throws {
        for seed in Seeds.range(12) { try survive("Everything", EverythingModel.make(), seed: seed) }
    }

    /// Relationships count double: they are what can come apart.
    private static func complexity(_ model: NSManagedObjectModel) -> Int {
        model.entities.reduce(0) { $0 + 1 + 2 * $1.relationshipsByName.count }
    }

    private func survive(_ name: String, _ model: NSManagedObjectModel, seed: UInt64) throws {
        var settings = WorldSettings(model: model)
        settings.faults = .drawn(by: SeededRandomness(seed: seed &* 7919))
        let scratch = try Scratch()
        settings.steps = 100
        let world = try SimulatedWorld(seed: seed, settings: settings, folder: scratch.url("world"))
        do {
            try fill(world, model, seed: seed)
            let broken = try world.run()
            if broken.isEmpty { return }
            Issue.record("\(name), seed \(seed): \(broken.joined(separator: "\n"))")
        } catch {
            Issue.record("\(name), seed \(seed) threw \(error)")
        }
        print("\(name), seed \(seed)\n" + world.story.joined(separator: "\n"))
    }

    /// Gives the first device something to write about, before it was ever synced.
    private func fill(
        _ world: SimulatedWorld, _ model: NSManagedObjectModel, seed: UInt64
    ) throws {
        guard let first = world.devices.first else { return }
        let filler = GraphFiller(model: model, randomness: SeededRandomness(seed: seed ^ 0xF1))
        for _ in 0..<20 {
            do {
                _ = try filler.fill(first.store, objectsPerEntity: 2)
                return
            } catch is SimulatedCrash {
                try first.restart()
            }
        }
    }
}

/// Which models and seeds to run: `DIPTYCH_MODEL` names one model, `DIPTYCH_SEEDS` a count.
enum Seeds {
    static let model = ProcessInfo.processInfo.environment["DIPTYCH_MODEL"]

    static func range(_ count: Int) -> ClosedRange<UInt64> {
        let asked = ProcessInfo.processInfo.environment["DIPTYCH_SEEDS"].flatMap(Int.init)
        return 1...UInt64(max(asked ?? count, 1))
    }
}
