public import Foundation

/// Makes a world that breaks a law as small as it can: less and less in it, as long as the same law
/// breaks.
public struct WorldTrial {
    /// What came of a world.
    public struct Outcome: Sendable {
        /// The laws that it broke, each in a sentence.
        public var broken: [String]
        public var story: [String]
    }

    /// A world that breaks a law.
    public struct Failure {
        public fileprivate(set) var seed: UInt64
        public fileprivate(set) var settings: WorldSettings
        public fileprivate(set) var outcome: Outcome
        /// How many worlds were run on the way.
        public fileprivate(set) var worlds = 0

        /// Its seed and what is in it, in one line.
        public var summary: String {
            "seed \(seed): \(WorldReduction.summary(of: settings))"
        }
    }

    private let play: (UInt64, WorldSettings) -> Outcome

    /// Makes its worlds in `folder`, which is created and removed for each of them.
    public init(folder: URL) { play = { Self.run(seed: $0, settings: $1, in: folder) } }

    /// For tests: `play` says what comes of a world.
    init(play: @escaping (UInt64, WorldSettings) -> Outcome) { self.play = play }

    /// Runs one world and removes it.
    public static func run(seed: UInt64, settings: WorldSettings, in folder: URL) -> Outcome {
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let world = try SimulatedWorld(seed: seed, settings: settings, folder: folder)
            do {
                return Outcome(broken: try world.run(), story: world.story)
            } catch {
                return Outcome(broken: ["The world threw \(error)"], story: world.story)
            }
        } catch {
            return Outcome(broken: ["The world threw \(error)"], story: [])
        }
    }

    /// The smallest world found that breaks the law that this one breaks first; nil where this one
    /// breaks none. It is asked before each world whether it may go on. With less in it a seed is
    /// another world, so that each way to have less is tried with a few seeds. Cost: up to some
    /// thousand worlds.
    public func smallest(
        seed: UInt64, settings: WorldSettings, whileTrue mayGoOn: () -> Bool = { true }
    ) -> Failure? {
        let outcome = play(seed, settings)
        guard let sentence = outcome.broken.first else { return nil }
        let law = LawName(of: sentence)
        var search = Search(
            failure: Failure(seed: seed, settings: settings, outcome: outcome, worlds: 1),
            law: law)
        repeat {
            search.isSmaller = false
            shorten(&search, mayGoOn)
            dropDevices(&search, mayGoOn)
            for reduction in WorldReduction.all() {
                while reduction.isPossible(search.failure.settings),
                    attempt(reduction.apply, seeds: Self.seedsPerTry, &search, mayGoOn)
                {}
            }
        } while search.isSmaller && mayGoOn() && search.failure.worlds < Self.worldsMax
        return search.failure
    }

    private struct Search {
        var failure: Failure
        let law: LawName?
        /// Something could go in this pass.
        var isSmaller = false
    }

    /// Fewer steps: with the same seed these are the first of the same ones.
    private func shorten(_ search: inout Search, _ mayGoOn: () -> Bool) {
        var part = search.failure.settings.steps / 2
        while part > 0 {
            let isShorter =
                search.failure.settings.steps > part
                && attempt({ $0.steps -= part }, seeds: 1, &search, mayGoOn)
            if !isShorter { part /= 2 }
        }
    }

    private func dropDevices(_ search: inout Search, _ mayGoOn: () -> Bool) {
        while search.failure.settings.devices > 1,
            attempt({ $0.devices -= 1 }, seeds: Self.seedsPerTry, &search, mayGoOn)
        {}
    }

    /// Tries a world with less in it. Keeps it and returns true where it breaks the same law.
    private func attempt(
        _ change: (inout WorldSettings) -> Void, seeds: Int, _ search: inout Search,
        _ mayGoOn: () -> Bool
    ) -> Bool {
        var settings = search.failure.settings
        change(&settings)
        let seed = search.failure.seed
        for other in 0..<UInt64(seeds) {
            guard search.failure.worlds < Self.worldsMax, mayGoOn() else { return false }
            search.failure.worlds += 1
            let outcome = play(seed &+ other, settings)
            guard outcome.broken.contains(where: { LawName(of: $0) == search.law }) else {
                continue
            }
            search.failure.seed = seed &+ other
            search.failure.settings = settings
            search.failure.outcome = outcome
            search.isSmaller = true
            return true
        }
        return false
    }

    private static let seedsPerTry = 12
    private static let worldsMax = 6_000
}
