import Dispatch
import Foundation
import Platform
import RecordService
import RecordWire
import Testing

/// Everything that users and administrators can ask of a service, drawn by seed and compared with a
/// model of plain dictionaries. `DIPTYCH_OPERATIONS` sets how many steps there are on each backend,
/// `DIPTYCH_SEED` the first seed.
@Suite struct OperationTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let stepsPerSeed = 250
    private static let seeds =
        (environment["DIPTYCH_OPERATIONS"].flatMap { Int($0) } ?? 2 * stepsPerSeed) / stepsPerSeed
    private static let firstSeed =
        environment["DIPTYCH_SEED"].flatMap { UInt64($0) } ?? 1
    private static let worlds = 4

    private func tell(_ what: String, _ place: StoragePlace, _ counts: [String: Int]) {
        let words = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        print("\(what) on \(place.rawValue): \(words.joined(separator: ", "))")
    }

    @Test(arguments: StoragePlace.present)
    func theServiceDoesWhatTheModelDoes(place: StoragePlace) throws {
        var counts: [String: Int] = [:]
        for number in 0..<max(1, Self.seeds) {
            try OperationTrial(
                seed: Self.firstSeed + UInt64(number), place: place, count: Self.stepsPerSeed
            ).run(&counts)
        }
        tell("seeds \(Self.firstSeed) and on", place, counts)
    }

    @Test(arguments: [20_261_149, 20_261_155] as [UInt64])
    func seedsThatFoundSomethingPass(seed: UInt64) throws {
        var counts: [String: Int] = [:]
        try OperationTrial(seed: seed, place: .sqlite, count: Self.stepsPerSeed).run(&counts)
    }

    /// Worlds of different containers share the rows, each with writers of its own.
    @Test(arguments: StoragePlace.present)
    func worldsBesideOneAnotherDoWhatTheirModelsDo(place: StoragePlace) throws {
        let counts = Lock<[String: Int]>([:])
        for round in 0..<max(1, Self.seeds / Self.worlds) {
            let storage = try TrialStorage(place)
            let first = Self.firstSeed &* 1_000 &+ UInt64(round * Self.worlds)
            DispatchQueue.concurrentPerform(iterations: Self.worlds) { number in
                let trial = OperationTrial(
                    seed: first + UInt64(number), place: place, count: Self.stepsPerSeed,
                    isAlone: false)
                do {
                    let world = try OperationWorld(
                        number, seed: trial.seed, clock: storage.clock, storage.open)
                    if let failure = OperationTrial.failure(of: trial.steps, in: world) {
                        Issue.record(
                            "\(trial.seed) beside others, step \(failure.step): \(failure.reason)")
                        // Where it fails alone, too, the story is shorter.
                        var ignored: [String: Int] = [:]
                        try trial.run(&ignored)
                    }
                    let found = world.counts
                    counts.withLock { $0.merge(found, uniquingKeysWith: +) }
                } catch {
                    Issue.record("seed \(trial.seed) beside others: \(error)")
                }
            }
        }
        tell("side by side", place, counts.withLock { $0 })
    }
}
