import Foundation
import MirrorEngine
import MirrorTestKit
import Testing

@Suite struct SimulationTests {
    @Test func everySeedComesToRestInAgreement() throws {
        let count = Int(ProcessInfo.processInfo.environment["DIPTYCH_SEEDS"] ?? "") ?? 200
        for seed in 1...UInt64(count) {
            try runSeed(seed)
        }
    }
}

func runSeed(_ seed: UInt64) throws {
    let dice = SeededRandomness(seed: seed &* 7919)
    var settings = WorldSettings(model: SampleModel.make())
    settings.devices = 2 + dice.below(2)
    settings.faults = .drawn(by: dice)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "world-\(seed)-\(getpid())")
    defer { try? FileManager.default.removeItem(at: folder) }
    var world: SimulatedWorld?
    do {
        let made = try SimulatedWorld(seed: seed, settings: settings, folder: folder)
        world = made
        let broken = try made.run()
        if !broken.isEmpty {
            print("seed \(seed)\n" + (world?.story ?? []).joined(separator: "\n"))
            Issue.record("seed \(seed): \(broken.joined(separator: "\n"))")
        }
    } catch {
        print("seed \(seed)\n" + (world?.story ?? []).joined(separator: "\n"))
        Issue.record("seed \(seed) threw \({ var t = ""; dump(error, to: &t); return t }())")
    }
}
