import Foundation
import MirrorEngine
import Testing

@testable import MirrorTestKit

/// Worlds that break a law are made small: by laws that fail by construction, so that it is known
/// what has to be left.
@Suite struct WorldTrialTests {
    private static let lost = "The object 3f5a77 was saved and is lost."

    /// A world with nearly everything in it.
    private static var full: WorldSettings {
        var settings = WorldSettings.drawn(seed: 12, hasVersions: true, hasManyDevices: true)
        settings.devices = 5
        settings.steps = 150
        settings.sizes.pageRecordsMax = 2
        settings.sizes.assetValueBytesMax = 4
        settings.policy.standard = .latest
        settings.faults.lostReplyPercent = 24
        settings.faults.killPercent = 8
        settings.faults.devices.resetPercent = 3
        settings.faults.lostTime.zoneLossPercent = 2
        return settings
    }

    private static func trial(
        _ broken: @escaping (UInt64, WorldSettings) -> [String]
    ) -> WorldTrial {
        WorldTrial { WorldTrial.Outcome(broken: broken($0, $1), story: []) }
    }

    @Test func whatDoesNotMatterGoes() throws {
        let trial = Self.trial { _, settings in
            settings.faults.lostReplyPercent > 5 && settings.devices > 2 && settings.steps > 16
                && settings.sizes.pageRecordsMax < 400 && settings.edits.delete > 0
                ? [Self.lost] : []
        }
        let failure = try #require(trial.smallest(seed: 7, settings: Self.full))
        #expect(
            failure.summary
                == "seed 7: 3 devices, 17 steps, dialect extended, rule local, deleteWins, "
                + "small pages, lost reply 6, move 0, pair 0, count 0, relink 0, delete 1, change 0"
        )
        #expect(failure.outcome.broken == [Self.lost])
    }

    /// Another seed stands in for one that holds once there is less in its world.
    @Test func withLessInItAnotherSeedIsTried() throws {
        let trial = Self.trial { seed, settings in
            settings.faults.killPercent == 0 && seed % 5 != 0 ? [] : [Self.lost]
        }
        let failure = try #require(trial.smallest(seed: 7, settings: Self.full))
        #expect(failure.seed == 10)
        #expect(failure.settings.faults.killPercent == 0)
    }

    /// A world that breaks another law with less in it is not the one that was looked for.
    @Test func onlyTheSameLawCounts() throws {
        let trial = Self.trial { _, settings in
            settings.devices > 3 ? [Self.lost] : ["The pair 3f5a77 was added and is lost."]
        }
        let failure = try #require(trial.smallest(seed: 7, settings: Self.full))
        #expect(failure.settings.devices == 4)
        #expect(failure.outcome.broken == [Self.lost])
    }

    @Test func whatHoldsHasNoSmallestWorld() {
        #expect(Self.trial { _, _ in [] }.smallest(seed: 7, settings: Self.full) == nil)
    }

    @Test func itEndsWhenItIsTold() throws {
        var left = 9
        let trial = Self.trial { _, _ in [Self.lost] }
        let failure = try #require(
            trial.smallest(seed: 7, settings: Self.full) {
                left -= 1
                return left >= 0
            })
        #expect(failure.worlds == 10)
    }

    /// Real worlds, and a law that says that no device may be killed after an answer was lost.
    @Test func aRealWorldIsMadeSmall() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("trial-\(UUID().uuidString)")
        let trial = WorldTrial { seed, settings in
            var outcome = WorldTrial.run(seed: seed, settings: settings, in: folder)
            let lost = outcome.story.firstIndex { $0.hasSuffix("reply lost") }
            let killed = outcome.story.lastIndex { $0.hasSuffix(" killed") }
            if let lost, let killed, lost < killed { outcome.broken.append(Self.lost) }
            return outcome
        }
        var settings = WorldSettings(model: SampleModel.make())
        settings.devices = 3
        settings.faults.lostReplyPercent = 20
        settings.faults.killPercent = 8
        settings.faults.duplicatePercent = 10
        settings.faults.rollbackPercent = 10
        settings.worksAhead = true
        var worlds = 0
        let failure = try #require(
            trial.smallest(seed: 5, settings: settings) {
                worlds += 1
                return worlds < 400
            })
        #expect(failure.settings.devices == 1)
        #expect(failure.settings.steps < 15)
        #expect(failure.settings.faults.duplicatePercent == 0)
        #expect(failure.settings.faults.lostReplyPercent > 0)
        #expect(failure.settings.faults.killPercent > 0)
        #expect(failure.outcome.story.contains { $0.hasSuffix("reply lost") })
    }

    /// The words by which a law is known stand in the sentences of the laws.
    @Test func everyLawHasASentence() throws {
        let kit = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Mirror/MirrorTestKit").standardizedFileURL
        var text = ""
        for folder in ["Laws", "World", "World/Shrinking"] {
            let files = try FileManager.default.contentsOfDirectory(
                at: kit.appendingPathComponent(folder), includingPropertiesForKeys: nil)
            for file in files
            where file.pathExtension == "swift" && file.lastPathComponent != "LawName.swift" {
                text += try String(contentsOf: file, encoding: .utf8)
            }
        }
        for law in LawName.allCases { #expect(text.contains(law.rawValue), "\(law)") }
    }
}
