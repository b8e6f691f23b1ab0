import Foundation
import MirrorTestKit
import Platform
import RecordWire
import Testing

/// `DIPTYCH_SEEDS` sets how many seeds there are in all, `DIPTYCH_SEED` the first.
@Suite struct SimulationTests {
    @Test func everySeedComesToRestInAgreement() async throws {
        let begin = clock()
        let sum = try await Self.run(WorldKind(dialect: Self.dialect), of: Self.seeds)
        // Processor time, so that other work on the machine does not count.
        let seconds = Double(clock() - begin) / Double(CLOCKS_PER_SEC)
        print("\(Int(Double(sum.worlds) / seconds)) worlds a processor second")
        if Self.dialect == .extended { Self.require(Self.shareBounds, of: sum) }
    }

    /// The same worlds with two versions of the model, a fifth as many.
    @Test func everySeedOfTwoVersionsComesToRestInAgreement() async throws {
        var kind = WorldKind.ofVersions
        kind.dialect = Self.dialect
        Self.require(Self.versionBounds, of: try await Self.run(kind, of: Self.seeds / 5))
    }

    /// The same worlds with sealed attributes, and devices with and without their keys. As many:
    /// what the rarest of their events come to is told by no fewer.
    @Test func everySeedOfSealedWorldsComesToRestInAgreement() async throws {
        var kind = WorldKind.sealed
        kind.dialect = Self.dialect
        Self.require(Self.sealedBounds, of: try await Self.run(kind, of: Self.seeds))
    }

    /// Worlds with another user's devices, and with devices that choose what they send, a tenth as
    /// many.
    @Test func everySeedOfSharedWorldsComesToRestInAgreement() async throws {
        var kind = WorldKind.shared
        kind.dialect = Self.dialect
        Self.require(Self.sharedBounds, of: try await Self.run(kind, of: Self.seeds / 10))
    }

    /// The same with users who take back what the service refused them, and put back what merges
    /// discarded, as many.
    @Test func everySeedOfTakingBackComesToRestInAgreement() async throws {
        var kind = WorldKind.takingBack
        kind.dialect = Self.dialect
        Self.require(Self.takingBackBounds, of: try await Self.run(kind, of: Self.seeds / 10))
    }

    /// Worlds in which what is linked is deleted as one, a fifth as many.
    @Test func everySeedOfCascadingDeletionsComesToRestInAgreement() async throws {
        var kind = WorldKind.cascading
        kind.dialect = Self.dialect
        Self.require(Self.cascadeBounds, of: try await Self.run(kind, of: Self.seeds / 5))
    }

    /// Worlds whose service forgets deletions, a fifth as many.
    @Test func everySeedOfForgottenDeletionsComesToRestInAgreement() async throws {
        Self.require(Self.forgettingBounds, of: try await Self.run(.forgetting, of: Self.seeds / 5))
    }

    /// Worlds with shares, whose service, zone or devices lose time, a tenth as many.
    @Test func everySeedOfSharesInLostTimeComesToRestInAgreement() async throws {
        var kind = WorldKind.sharedInLostTime
        kind.dialect = Self.dialect
        _ = try await Self.run(kind, of: Self.seeds / 10)
    }

    /// The same worlds with a service that hides every extension, a fifth as many.
    @Test func everySeedOfThePlainDialectComesToRestInAgreement() async throws {
        _ = try await Self.run(.plain, of: Self.seeds / 5)
    }

    /// The same worlds with four or five devices, a fortieth as many of each dialect.
    @Test func everySeedOfWorldsOfManyDevicesComesToRestInAgreement() async throws {
        for dialect in Self.namedDialect.map({ [$0] }) ?? [.extended, .plain] {
            var kind = WorldKind.ofManyDevices
            kind.dialect = dialect
            _ = try await Self.run(kind, of: Self.seeds / 40)
        }
    }

    /// Worlds of several kinds at once, as their seeds draw them, a fifth as many.
    @Test func everySeedOfMixedKindsComesToRestInAgreement() async throws {
        _ = try await Self.run(Self.seeds / 5) { seed in
            var kind = WorldKind.mixed(seed: seed)
            if let dialect = Self.namedDialect { kind.dialect = dialect }
            return kind
        }
    }

    /// Seeds that once broke a law.
    @Test(arguments: remembered) func aSeedThatOnceFailedHolds(name: String) throws {
        let (kind, seed) = try #require(WorldKind.named(name))
        let run = try WorldRun(seed: seed, kind: kind)
        #expect(run.broken == [], "seed \(name)\n\(run.story.joined(separator: "\n"))")
    }

    @Test(
        arguments: [
            "3", "17", "40", "91", "250", "v1", "v5", "v8", "v9", "v12", "p2", "p6", "p11", "s4",
            "s7", "s13", "h1", "h6", "h9", "d1", "d2", "pd3",
        ])
    func theSameSeedIsTheSameStory(name: String) throws {
        let (kind, seed) = try #require(WorldKind.named(name))
        let stories = try (0..<2).map { _ in try WorldRun(seed: seed, kind: kind).story }
        let difference = zip(stories[0], stories[1]).enumerated().first { $1.0 != $1.1 }
        #expect(stories[0] == stories[1], "first at \(String(describing: difference))")
    }

    // MARK: Running

    /// Twenty runs of seeds side by side. Prints what they met.
    private static func run(_ kind: WorldKind, of seeds: UInt64) async throws -> WorldStatistics {
        try await run(seeds) { _ in kind }
    }

    private static func run(
        _ seeds: UInt64, kind: @escaping @Sendable (UInt64) -> WorldKind
    ) async throws -> WorldStatistics {
        let sum = try await withThrowingTaskGroup(of: WorldStatistics.self) { group in
            for part in 0..<Self.parts {
                group.addTask { try Self.run(seeds, part: part, kind: kind) }
            }
            return try await group.reduce(into: WorldStatistics()) { $0.merge($1) }
        }
        print(sum.line)
        return sum
    }

    private static func run(
        _ seeds: UInt64, part: Int, kind: (UInt64) -> WorldKind
    ) throws -> WorldStatistics {
        var sum = WorldStatistics()
        let first = firstSeed + UInt64(part) * seeds / UInt64(parts)
        for seed in first..<firstSeed + UInt64(part + 1) * seeds / UInt64(parts) {
            if stopsEarly, hasFailed.withLock({ $0 }) { break }
            let kind = kind(seed)
            let run = try WorldRun(seed: seed, kind: kind)
            #expect(
                run.broken == [],
                "seed \(kind.prefix)\(seed)\n\(run.story.joined(separator: "\n"))")
            if !run.broken.isEmpty { hasFailed.withLock { $0 = true } }
            sum.add(run.statistics)
        }
        return sum
    }

    /// Of few worlds, and of those that end early, shares say nothing.
    private static func require(
        _ bounds: [(WorldStatistics.Event, Double)], of sum: WorldStatistics
    ) {
        guard seeds >= 1_000, !hasFailed.withLock({ $0 }) else { return }
        for (event, bound) in bounds where sum.percent(event) < bound {
            Issue.record("Only \(sum.percent(event)) % of the worlds meet \(event), not \(bound).")
        }
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

    private static let takingBackBounds: [(WorldStatistics.Event, Double)] = [
        (.tookEditBack, 5), (.tookDeletionBack, 2), (.restoredObject, 5), (.decidedAgain, 10),
    ]

    private static let cascadeBounds: [(WorldStatistics.Event, Double)] = [
        (.cascade, 50), (.loggedDeletion, 40),
    ]

    private static let forgettingBounds: [(WorldStatistics.Event, Double)] = [
        (.forgotten, 60), (.loggedDeletion, 40),
    ]

    private static let environment = ProcessInfo.processInfo.environment
    /// Of the worlds that are not of one dialect by their test; `DIPTYCH_DIALECT` names another.
    private static let dialect = namedDialect ?? .extended
    private static let namedDialect = ServiceDialect(rawValue: environment["DIPTYCH_DIALECT"] ?? "")
    private static let parts = 20
    private static let seeds = UInt64(environment["DIPTYCH_SEEDS"] ?? "") ?? 1_000
    private static let firstSeed = UInt64(environment["DIPTYCH_SEED"] ?? "") ?? 0

    /// The names of the seeds in `Seeds.txt`.
    private static let remembered: [String] = {
        guard let url = Bundle.module.url(forResource: "Seeds", withExtension: "txt"),
            let text = try? String(contentsOf: url, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").compactMap { line in
            line.split(separator: " ").first.map(String.init).flatMap {
                WorldKind.named($0) == nil ? nil : $0
            }
        }
    }()
}
