import ObjectModel

@testable import MirrorTestKit

extension SimulatedWorld {
    /// Gives the first device something to write about, before it was ever synced.
    func fillFirstDevice(_ model: NSManagedObjectModel, seed: UInt64) throws {
        guard let first = devices.first else { return }
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
