import CoreData
import Foundation
import MirrorTestKit
import Testing

/// The piece about worlds that fail in docs/TESTING.md; here on one that holds.
@Suite struct SmallestWorldExample {
    @Test func aWorldThatHoldsIsNotMadeSmall() throws {
        let seed: UInt64 = 4
        var settings = WorldSettings(
            model: try NSManagedObjectModel.load(from: LibrarySyncTests.modelFile))
        settings.steps = 20
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("library-\(seed)-\(UUID().uuidString)")
        let trial = WorldTrial(folder: folder)
        if let failure = trial.smallest(seed: seed, settings: settings) {
            print(failure.summary, failure.outcome.broken, failure.outcome.story)
        }
        #expect(trial.smallest(seed: seed, settings: settings) == nil)
    }
}
