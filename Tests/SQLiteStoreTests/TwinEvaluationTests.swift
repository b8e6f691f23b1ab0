import Foundation
import Predicates
import Stores
import Testing

@testable import SQLiteStore

/// One query, two ways: in the database and in memory. `DIPTYCH_PREDICATES` sets how many queries
/// of each kind are made (`Tools/soak predicates`).
@Suite struct TwinEvaluationTests {
    /// What the worlds lack and what the queries ask; with it, by which rules memory answers.
    enum Kind: CaseIterable {
        /// Nothing is missing: all rules agree on everything.
        case total
        /// Values are missing, and nobody asks whether something does *not* hold: they agree too.
        case positive
        /// Values are missing, and everything is asked: memory follows SQL's rules.
        case threeValued
    }

    private static let count =
        ProcessInfo.processInfo.environment["DIPTYCH_PREDICATES"].flatMap { Int($0) } ?? 900

    private struct Tally {
        var (queries, filled, compound) = (0, 0, 0)
    }

    @Test(arguments: Kind.allCases) func randomQueriesFindTheSameBothWays(kind: Kind) throws {
        let worldSize = 150
        var tally = Tally()
        for seed in 0..<UInt64((Self.count + worldSize - 1) / worldSize) {
            let society = try SocietyWorld(seed: seed, missing: kind != .total)
            let world = MemoryWorld(store: society.fixture.store)
            world.followsSQL = kind == .threeValued
            for number in 0..<UInt64(worldSize) {
                try compare(seed, number, society, world, kind, &tally)
            }
        }
        print(
            """
            twin evaluation (\(kind)): \(tally.queries) queries, \(tally.filled) with rows \
            (\(tally.filled * 100 / tally.queries) %), \(tally.compound) compound
            """)
        #expect(tally.filled * 3 > tally.queries)
    }

    private func compare(
        _ seed: UInt64, _ number: UInt64, _ society: SocietyWorld, _ world: MemoryWorld,
        _ kind: Kind, _ tally: inout Tally
    ) throws {
        var maker = RandomQuery(
            seed: seed * 1000 + number, asksNegatives: kind != .positive,
            asksMissing: kind != .total, world: society)
        var query = RowQuery(entity: try society.fixture.layout("Person").number)
        query.includesSubentities = number % 5 != 0
        query.predicate = maker.predicate()
        query.sort = maker.sort()
        if number % 4 == 0 {
            query.limit = 5
            query.offset = Int(number % 3)
        }
        let stored = try society.fixture.store.ids(matching: query)
        let expected = try world.ids(matching: query)
        #expect(
            stored == expected,
            "seed \(seed * 1000 + number): \(query.predicate?.description ?? "")")
        if number % 10 == 0 {
            #expect(try society.fixture.store.rows(matching: query).map(\.id) == stored)
            #expect(try society.fixture.store.count(matching: query) == stored.count)
        }
        tally.queries += 1
        tally.filled += stored.isEmpty ? 0 : 1
        tally.compound += maker.clauses > 1 ? 1 : 0
    }
}
