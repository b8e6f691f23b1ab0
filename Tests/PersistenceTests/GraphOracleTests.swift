import CoreData
import Foundation
import Testing

/// Random models and random work with their objects, against an oracle of plain dictionaries, on
/// all types of stores.
///
/// `DIPTYCH_GRAPH_SEEDS` sets how many walks there are for each type, `DIPTYCH_SEED` the first.
@Suite struct GraphOracleTests {
    @Test(arguments: StoreKind.allCases)
    func objectsDoWhatDictionariesDo(_ kind: StoreKind) throws {
        for seed in Self.first..<Self.first + Self.count {
            let walk = try GraphWalk(seed: seed, kind)
            do {
                try walk.run(steps: 40)
            } catch {
                walk.blame("threw \(error)")
            }
            let story = walk.story.suffix(Self.isTold ? 1_000 : 12).joined(separator: "\n")
            #expect(walk.faults == [], "seed \(seed), \(kind)\n\(story)")
            if !walk.faults.isEmpty { break }
        }
    }

    private static let environment = ProcessInfo.processInfo.environment
    private static let count = UInt64(environment["DIPTYCH_GRAPH_SEEDS"] ?? "") ?? 40
    private static let first = UInt64(environment["DIPTYCH_SEED"] ?? "") ?? 10
    private static let isTold = environment["DIPTYCH_STORY"] != nil
}
