import Foundation
import Predicates
import Stores
import Testing

@testable import SQLiteStore

/// Predicates that programs nest in loops, deeper than SQLite's parser follows parentheses.
@Suite struct DeepPredicateTests {
    let fixture: StoreFixture
    let people: [RowID]
    let world: MemoryWorld

    init() throws {
        let made = try StoreFixture(TestModel.society())
        var changes = ChangeSet()
        changes.inserts = try (0..<6).map { number in
            var values: [String: AttributeValue] = ["email": .text("p\(number)@x")]
            if number % 3 != 2 { values["age"] = .integer(Int64(number)) }
            if number < 4 { values["name"] = .text("n\(number)") }
            return try made.row("Person", values)
        }
        people = changes.inserts.map(\.id)
        _ = try made.store.save(changes)
        fixture = made
        world = MemoryWorld(store: fixture.store)
        world.followsSQL = true
    }

    /// What nests inwards decides: of the other parts, those of an AND hold, those of an OR do not,
    /// or are open where a value is missing.
    private func nested(_ levels: Int, _ shape: Shape) throws -> PredicateNode {
        let holding = try ["age >= 0", "name != 'x'", "email != nil"].map(leaf)
        let failing = try ["age == 77", "name == 'x'", "email == nil"].map(leaf)
        var whole = try leaf("age > 1")
        for level in 0..<levels {
            let isAnd = level.isMultiple(of: 2)
            var parts = [(isAnd ? holding : failing)[level / 2 % 3], whole]
            switch shape {
            case .inwards: break
            case .outwards: parts.reverse()
            case .negated: if level % 3 == 1 { whole = .not(whole) }
            case .twofold where level % 40 == 39: parts[0] = whole
            case .twofold: parts.insert(parts[0], at: 2)
            }
            if shape == .negated { parts[1] = whole }
            whole = isAnd ? .and(parts) : .or(parts)
        }
        return whole
    }

    enum Shape: CaseIterable {
        case inwards, outwards, negated, twofold
    }

    private func leaf(_ format: String) throws -> PredicateNode {
        node(of: try NSPredicate.parse(format))
    }

    @Test(arguments: Shape.allCases, [10, 13, 14, 60, 300])
    func whatNestsDeepAnswersAsItIsRead(shape: Shape, levels: Int) throws {
        // Twofold parts double what is to be read.
        let levels = shape == .twofold ? min(levels, 200) : levels
        for isNegated in [false, true] {
            let whole = try nested(levels, shape)
            var query = RowQuery(entity: people[0].entity)
            query.predicate = isNegated ? .not(whole) : whole
            let found = try fixture.store.ids(matching: query)
            #expect(try found == world.ids(matching: query))
            #expect(shape == .negated || isNegated || found.contains(people[3]))
        }
    }

    @Test func membersAreAskedForWhatNestsDeep() throws {
        _ = try fixture.save {
            $0.toManys = [try fixture.toMany(people[0], "friends", add: [people[3], people[1]])]
        }
        var query = RowQuery(entity: people[0].entity)
        query.predicate = try .comparison(
            ComparisonNode(
                left: .path(
                    from: .subquery(
                        collection: .keyPath(["friends"]), variable: "f",
                        predicate: nested(200, .inwards).mapExpressions { part in
                            guard case .keyPath(let path) = part else { return part }
                            return .path(from: .variable("f"), path)
                        }), ["@count"]),
                operator: .equalTo, right: .constant(1)))
        #expect(try fixture.store.ids(matching: query) == [people[0]])
    }

    @Test func aLongChainOfConditionalsIsRead() throws {
        var chain = "'none'"
        for number in (0..<45).reversed() {
            chain = "TERNARY(age == \(number), 'a\(number)', \(chain))"
        }
        var query = RowQuery(entity: people[0].entity)
        query.predicate = try leaf("\(chain) == 'a4' OR \(chain) == 'none'")
        #expect(try fixture.store.ids(matching: query) == [people[2], people[4], people[5]])
    }

    @Test func whatSQLiteCannotReadForItsDepthIsRefusedAsSuch() throws {
        var condition = "$f30.age == 3"
        for number in (1...30).reversed() {
            let owner = number == 1 ? "" : "$f\(number - 1)."
            condition = "SUBQUERY(\(owner)friends, $f\(number), \(condition)).@count > 0"
        }
        var query = RowQuery(entity: people[0].entity)
        query.predicate = try leaf(condition)
        let error = #expect(throws: StoreError.self) { try fixture.store.ids(matching: query) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("deep") == true)
    }
}
