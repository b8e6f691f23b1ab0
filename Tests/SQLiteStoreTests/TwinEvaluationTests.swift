import Foundation
import Predicates
import Stores
import Testing

@testable import SQLiteStore

/// One query, two ways: in the database and in memory.
@Suite struct TwinEvaluationTests {
    @Test(arguments: [true, false]) func randomQueriesFindTheSameBothWays(isTotal: Bool) throws {
        var (queries, filled, compound) = (0, 0, 0)
        for seed in 0..<6 as Range<UInt64> {
            let society = try SocietyWorld(seed: seed, missing: !isTotal)
            let world = MemoryWorld(store: society.fixture.store)
            for number in 0..<150 as Range<UInt64> {
                var maker = RandomQuery(
                    seed: seed * 1000 + number, isTotal: isTotal, world: society)
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
                    "seed \(seed * 1000 + number): \(query.predicate?.description ?? "")"
                )
                if number % 10 == 0 {
                    #expect(try society.fixture.store.rows(matching: query).map(\.id) == stored)
                    #expect(try society.fixture.store.count(matching: query) == stored.count)
                }
                queries += 1
                filled += stored.isEmpty ? 0 : 1
                compound += maker.clauses > 1 ? 1 : 0
            }
        }
        print(
            "twin evaluation: \(queries) queries, \(filled) with rows, \(compound) compound"
        )
        #expect(filled * 3 > queries)
    }
}
