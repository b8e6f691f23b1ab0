import Foundation
import MirrorTestKit
import Platform
import RecordWire
import Testing

@Suite struct SimulationTests {
    /// Twenty runs of seeds side by side; `DIPTYCH_SEEDS` sets how many seeds there are in all,
    /// `DIPTYCH_SEED` the first.
    @Test func everySeedComesToRestInAgreement() async throws {
        let begin = clock()
        let sum = try await withThrowingTaskGroup(of: WorldStatistics.self) { group in
            for part in 0..<Self.parts {
                group.addTask { try Self.run(part: part) }
            }
            return try await group.reduce(into: WorldStatistics()) { $0.merge($1) }
        }
        // Processor time, so that other work on the machine does not count.
        let seconds = Double(clock() - begin) / Double(CLOCKS_PER_SEC)
        print("\(sum.line); \(Int(Double(sum.worlds) / seconds)) worlds a processor second")
        guard Self.seeds >= 1_000, Self.dialect == .extended, !Self.hasFailed.withLock({ $0 })
        else { return }
        for (event, bound) in Self.shareBounds where sum.percent(event) < bound {
            Issue.record("Only \(sum.percent(event)) % of the worlds meet \(event), not \(bound).")
        }
    }

    /// The same worlds with two versions of the model, a fifth as many.
    @Test func everySeedOfTwoVersionsComesToRestInAgreement() async throws {
        let sum = try await withThrowingTaskGroup(of: WorldStatistics.self) { group in
            for part in 0..<Self.parts {
                group.addTask { try Self.run(part: part, of: Self.seeds / 5, hasVersions: true) }
            }
            return try await group.reduce(into: WorldStatistics()) { $0.merge($1) }
        }
        print(sum.line)
        guard Self.seeds >= 1_000, !Self.hasFailed.withLock({ $0 }) else { return }
        for (event, bound) in Self.versionBounds where sum.percent(event) < bound {
            Issue.record("Only \(sum.percent(event)) % of the worlds meet \(event), not \(bound).")
        }
    }

    /// The same worlds with sealed attributes, and devices with and without their keys, a fifth as
    /// many.
    @Test func everySeedOfSealedWorldsComesToRestInAgreement() async throws {
        let sum = try await withThrowingTaskGroup(of: WorldStatistics.self) { group in
            for part in 0..<Self.parts {
                group.addTask { try Self.run(part: part, of: Self.seeds / 5, isSealed: true) }
            }
            return try await group.reduce(into: WorldStatistics()) { $0.merge($1) }
        }
        print(sum.line)
        guard Self.seeds >= 1_000, !Self.hasFailed.withLock({ $0 }) else { return }
        for (event, bound) in Self.sealedBounds where sum.percent(event) < bound {
            Issue.record("Only \(sum.percent(event)) % of the worlds meet \(event), not \(bound).")
        }
    }

    /// Worlds with another user's devices, and with devices that choose what they send, a tenth as
    /// many.
    @Test func everySeedOfSharedWorldsComesToRestInAgreement() async throws {
        let sum = try await withThrowingTaskGroup(of: WorldStatistics.self) { group in
            for part in 0..<Self.parts {
                group.addTask { try Self.run(part: part, of: Self.seeds / 10, isShared: true) }
            }
            return try await group.reduce(into: WorldStatistics()) { $0.merge($1) }
        }
        print(sum.line)
        guard Self.seeds >= 1_000, !Self.hasFailed.withLock({ $0 }) else { return }
        for (event, bound) in Self.sharedBounds where sum.percent(event) < bound {
            Issue.record("Only \(sum.percent(event)) % of the worlds meet \(event), not \(bound).")
        }
    }

    @Test(arguments: Self.remembered(prefix: "h"))
    func aSharedSeedThatOnceFailedHolds(seed: UInt64) throws {
        let run = try WorldRun(seed: seed, isShared: true)
        #expect(run.broken == [], "seed h\(seed)\n\(run.story.joined(separator: "\n"))")
    }

    @Test(arguments: [1, 6, 9] as [UInt64])
    func theSameSharedSeedIsTheSameStory(seed: UInt64) throws {
        #expect(
            try WorldRun(seed: seed, isShared: true).story
                == WorldRun(seed: seed, isShared: true).story)
    }

    @Test(arguments: Self.remembered(prefix: "s"))
    func aSealedSeedThatOnceFailedHolds(seed: UInt64) throws {
        let run = try WorldRun(seed: seed, isSealed: true)
        #expect(run.broken == [], "seed s\(seed)\n\(run.story.joined(separator: "\n"))")
    }

    @Test(arguments: [4, 7, 13] as [UInt64])
    func theSameSealedSeedIsTheSameStory(seed: UInt64) throws {
        #expect(
            try WorldRun(seed: seed, isSealed: true).story
                == WorldRun(seed: seed, isSealed: true).story)
    }

    /// The same worlds with a service that hides every extension, a fifth as many.
    @Test func everySeedOfThePlainDialectComesToRestInAgreement() async throws {
        let sum = try await withThrowingTaskGroup(of: WorldStatistics.self) { group in
            for part in 0..<Self.parts {
                group.addTask { try Self.run(part: part, of: Self.seeds / 5, dialect: .plain) }
            }
            return try await group.reduce(into: WorldStatistics()) { $0.merge($1) }
        }
        print(sum.line)
    }

    @Test(arguments: Self.remembered(prefix: "p"))
    func aSeedOfThePlainDialectThatOnceFailedHolds(seed: UInt64) throws {
        let run = try WorldRun(seed: seed, dialect: .plain)
        #expect(run.broken == [], "seed p\(seed)\n\(run.story.joined(separator: "\n"))")
    }

    @Test(arguments: [2, 6, 11] as [UInt64])
    func theSameSeedOfThePlainDialectIsTheSameStory(seed: UInt64) throws {
        #expect(
            try WorldRun(seed: seed, dialect: .plain).story
                == WorldRun(seed: seed, dialect: .plain).story)
    }

    @Test(arguments: Self.remembered(prefix: "v"))
    func aSeedOfTwoVersionsThatOnceFailedHolds(seed: UInt64) throws {
        let run = try WorldRun(seed: seed, hasVersions: true)
        #expect(run.broken == [], "seed v\(seed)\n\(run.story.joined(separator: "\n"))")
    }

    @Test(arguments: [1, 5, 8, 9, 12] as [UInt64])
    func theSameSeedOfTwoVersionsIsTheSameStory(seed: UInt64) throws {
        let stories = try (0..<2).map { _ in try WorldRun(seed: seed, hasVersions: true).story }
        let difference = zip(stories[0], stories[1]).enumerated().first { $1.0 != $1.1 }
        #expect(stories[0] == stories[1], "first at \(String(describing: difference))")
    }

    /// Seeds that once broke a law.
    @Test(arguments: Self.remembered(prefix: ""))
    func aSeedThatOnceFailedHolds(seed: UInt64) throws {
        let run = try WorldRun(seed: seed)
        #expect(run.broken == [], "seed \(seed)\n\(run.story.joined(separator: "\n"))")
    }

    @Test(arguments: [3, 17, 40, 91, 250] as [UInt64])
    func theSameSeedIsTheSameStory(seed: UInt64) throws {
        #expect(try WorldRun(seed: seed).story == WorldRun(seed: seed).story)
    }

    private static func run(
        part: Int, of seeds: UInt64 = seeds, hasVersions: Bool = false, isSealed: Bool = false,
        isShared: Bool = false, dialect: ServiceDialect = dialect
    ) throws -> WorldStatistics {
        var sum = WorldStatistics()
        let first = firstSeed + UInt64(part) * seeds / UInt64(parts)
        for seed in first..<firstSeed + UInt64(part + 1) * seeds / UInt64(parts) {
            if stopsEarly, hasFailed.withLock({ $0 }) { break }
            let run = try WorldRun(
                seed: seed, hasVersions: hasVersions, isSealed: isSealed, isShared: isShared,
                dialect: dialect)
            let kind =
                (dialect == .plain ? "p" : "") + (hasVersions ? "v" : "") + (isSealed ? "s" : "")
                + (isShared ? "h" : "")
            let name = "\(kind)\(seed)"
            #expect(run.broken == [], "seed \(name)\n\(run.story.joined(separator: "\n"))")
            if !run.broken.isEmpty { hasFailed.withLock { $0 = true } }
            sum.add(run.statistics)
        }
        return sum
    }

    /// With `DIPTYCH_STOP` the first seed that fails is the last.
    private static let stopsEarly = environment["DIPTYCH_STOP"] != nil
    private static let hasFailed = Lock(false)

    /// Shares of worlds, in percent, below which the dice do not try what they are to try.
    private static let shareBounds: [(WorldStatistics.Event, Double)] = [
        (.conflictAnswer, 11), (.existsAnswer, 4), (.recordError, 4), (.lostReply, 25),
        (.lostRequest, 18), (.lateCopy, 15), (.deviceKill, 18), (.crashPoint, 20),
        (.rolledBackSave, 10), (.undoneDeletion, 6), (.serviceKill, 6), (.tokenExpired, 5),
        (.continuedPage, 30),
        (.fullBatch, 30), (.keyCollision, 10), (.keyChain, 1), (.twinPair, 0.3),
        (.assetUploaded, 20), (.assetFetched, 18), (.assetLost, 3),
        (.loggedConflict, 10), (.loggedDeletion, 10), (.loggedUnique, 0.5), (.loggedOneToOne, 0.5),
    ]

    private static let versionBounds: [(WorldStatistics.Event, Double)] = [
        (.updated, 80), (.updatedByMapping, 40), (.updatedInRound, 15), (.keptAside, 15),
    ]

    private static let sealedBounds: [(WorldStatistics.Event, Double)] = [
        (.keyless, 60), (.formerKey, 15), (.keyArrived, 40), (.keyRotated, 15), (.carriedSeal, 1),
        (.loggedKey, 5),
    ]

    private static let sharedBounds: [(WorldStatistics.Event, Double)] = [
        (.shared, 55), (.joined, 45), (.guestEdited, 25), (.readerEdited, 5), (.revoked, 20),
        (.loggedShareEnd, 5), (.chosen, 30), (.keptHere, 4),
    ]

    private static let environment = ProcessInfo.processInfo.environment
    /// Of the worlds that are not of one dialect by their test; `DIPTYCH_DIALECT` names another.
    private static let dialect =
        ServiceDialect(rawValue: environment["DIPTYCH_DIALECT"] ?? "") ?? .extended
    private static let parts = 20
    private static let seeds = UInt64(environment["DIPTYCH_SEEDS"] ?? "") ?? 1_000
    private static let firstSeed = UInt64(environment["DIPTYCH_SEED"] ?? "") ?? 0

    /// The seeds of worlds with two versions have a v before their number, those of the plain
    /// dialect a p, those with sealed attributes an s, those with shares and selections an h.
    private static func remembered(prefix: String) -> [UInt64] {
        guard let url = Bundle.module.url(forResource: "Seeds", withExtension: "txt"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").compactMap { line in
            guard let word = line.split(separator: " ").first, word.hasPrefix(prefix) else {
                return nil
            }
            return UInt64(word.dropFirst(prefix.count))
        }
    }
}

/// One world, run to its end and removed.
struct WorldRun {
    let broken: [String]
    let story: [String]
    let statistics: WorldStatistics

    init(
        seed: UInt64, settings: WorldSettings? = nil, hasVersions: Bool = false,
        isSealed: Bool = false, isShared: Bool = false, dialect: ServiceDialect = .extended
    ) throws {
        let folder = Self.scratch.appendingPathComponent(
            "world-\(ProcessInfo.processInfo.processIdentifier)-\(seed)-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try SimulatedWorld(
            seed: seed,
            settings: settings
                ?? .drawn(
                    seed: seed, extremes: Self.extremes, hasVersions: hasVersions,
                    isSealed: isSealed, isShared: isShared, dialect: dialect),
            folder: folder)
        do {
            broken = try world.run()
        } catch {
            broken = ["The world threw \(error)"]
        }
        story = world.story
        statistics = world.statistics
    }

    /// `DIPTYCH_EXTREMES` names kinds of faults beyond those of every run, or `all`.
    private static let extremes: Set<WorldExtreme> = {
        let words = ProcessInfo.processInfo.environment["DIPTYCH_EXTREMES"] ?? ""
        let named = words.split(separator: ",").compactMap { WorldExtreme(rawValue: String($0)) }
        return WorldExtreme.drawn.union(words == "all" ? WorldExtreme.allCases : named)
    }()

    /// Files in memory where the system has such a place.
    private static let scratch: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
    }()
}
