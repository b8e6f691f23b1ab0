import Foundation
import Predicates
import SQLiteDriver
import Stores
import Testing

@testable import SQLiteStore

/// What predicates become in SQL, beyond the everyday; each is asked of the store and of memory.
@Suite struct PredicateSQLTests {
    let fixture: StoreFixture
    let people: [RowID]
    let world: MemoryWorld

    init() throws {
        var changes = ChangeSet()
        let made = try StoreFixture(TestModel.society())
        let tags = try (0..<3).map {
            try made.row("Tag", ["name": .text("t\($0)"), "rank": .integer(Int64($0))])
        }
        let rows = try (0..<4).map { number in
            try made.row(
                "Person",
                [
                    "name": .text("\(number * 10)"), "age": .integer(Int64(number)),
                    "born": .date(Double(number) * 100), "email": .text("p\(number)@x"),
                ])
        }
        people = rows.map(\.id)
        fixture = made
        changes.inserts = tags + rows
        changes.toManys = [
            try fixture.toMany(people[0], "tags", add: tags.map(\.id)),
            try fixture.toMany(people[1], "tags", add: [tags[2].id]),
            try fixture.toMany(people[0], "friends", add: [people[1]]),
            try fixture.toMany(people[0], "favorites", add: [tags[2].id, tags[0].id]),
            try fixture.toMany(people[3], "favorites", add: [tags[1].id]),
            try fixture.toMany(people[3], "notes", add: []),
        ]
        _ = try fixture.store.save(changes)
        world = MemoryWorld(store: fixture.store)
    }

    @Test(arguments: [
        ("tags[SIZE] == 3", [0]), ("{1, 2, 3}[SIZE] == age", [3]), ("{5, 3, 1}[LAST] == age", [1]),
        ("SUBQUERY(SUBQUERY(tags, $t, $t.rank > 0), $u, $u.rank < 2).@count == 1", [0]),
        ("count:(SUBQUERY(tags, $t, $t.rank > 1)) == 1", [0, 1]),
        ("SUBQUERY(tags, $t, $t.rank > 0).@sum.rank == 3", [0]),
        ("ANY SUBQUERY(tags, $t, $t.rank > 1).name == 't2'", [0, 1]),
        ("NONE SUBQUERY(tags, $t, $t.rank > 1).name == 't2'", [2, 3]),
        ("'t2' IN SUBQUERY(tags, $t, $t.rank > 0).name", [0, 1]),
        ("tags.rank.@max == 2", [0, 1]), ("tags.@avg.rank == 1", [0]),
        ("max:(tags.rank) == 2", [0, 1]), ("ANY friends.tags.name == 't2'", [0, 1]),
        ("ANY tags.rank BETWEEN {age, age + 1}", [0, 1]), ("name IN {10, 20.0, 'x'}", [1, 2]),
        ("age IN {'1', 'x', 3}", [1, 3]), ("ANY tags.rank IN {'0'}", [0]),
        ("CAST(age, 'NSString') == '2'", [2]), ("CAST(name, 'NSNumber') > 10", [2, 3]),
        ("CAST(born, 'NSNumber') == 100", [1]),
        ("CAST(age * 100, 'NSDate') == born AND age > 1", [2, 3]),
        ("CAST(name, 'NSDecimalNumber') == 30", [3]),
        ("FUNCTION(born, 'dateByAddingTimeInterval:', 50) == CAST(150, 'NSDate')", [1]),
        ("FUNCTION(born, 'timeIntervalSinceDate:', CAST(100, 'NSDate')) > 0", [2, 3]),
        ("FUNCTION(tags, 'count') == 1", [1]), ("FUNCTION(name, 'length') == 1", [0]),
        ("FUNCTION('ab', 'stringByAppendingString:', 'c') == 'abc' AND age == 1", [1]),
        ("TERNARY(age > 1, 'old', 'young') IN {'old'}", [2, 3]), ("SELF IN friends", []),
        ("SELF IN $people", [1, 2]), ("NOT SELF IN $people", [0, 3]),
        ("friends CONTAINS $friend OR SELF == $friend", [0, 1]),
        ("favorites[FIRST].name == 't2'", [0]), ("favorites[LAST].rank == 0", [0]),
        ("favorites[0].rank >= 1", [0, 3]), ("favorites[1].name == 't0'", [0]),
        ("favorites.name[FIRST] == 't1'", [3]), ("favorites[1] == nil", [1, 2, 3]),
        ("notes[LAST] == nil AND age < 2", [0, 1]), ("favorites[FIRST] IN tags", [0]),
        ("SUBQUERY(favorites, $f, $f.rank < 2)[FIRST].rank == 0", [0]),
    ])
    func answersAreThoseOfMemory(format: String, found: [Int]) throws {
        let predicate = node(of: try NSPredicate.parse(format)).substituting([
            "people": [people[1], people[2]], "friend": people[1],
        ])
        var query = RowQuery(entity: people[0].entity)
        query.predicate = predicate
        #expect(try fixture.store.ids(matching: query) == found.map { people[$0] })
        #expect(try world.ids(matching: query) == found.map { people[$0] })
    }

    @Test(arguments: [
        ("friends.tags.@count == 1", "multiple to-many keys not allowed here"),
        ("friends.tags.@max.rank == 1", "multiple to-many keys not allowed here"),
        ("median:(tags.rank) == 1", "Unsupported function expression median:(tags.rank)"),
        ("sum:(name) == 1", "Unsupported function expression sum:(name)"),
        ("max:(SELF) == age", "Unsupported function expression max:(SELF)"),
        ("tags[FIRST] == nil", "Unsupported function expression tags[FIRST]"),
        ("friends[LAST].age == 1", "Unsupported function expression friends[LAST]"),
        ("tags[0] == nil", "Unsupported function expression tags[0]"),
        ("favorites[age] == nil", "Unsupported function expression favorites[age]"),
        ("random() < age", "Unsupported function expression random()"),
        (
            "FUNCTION(name, 'foo:', 1) == 1",
            "Unsupported function expression FUNCTION(name, \"foo:\", 1)"
        ),
        (
            "CAST(name, 'NSThing') == 1",
            "Unsupported function expression CAST(name, \"NSThing\")"
        ),
        (
            "name isNewerThan: 'x'",
            "unimplemented SQL generation for predicate : (name isNewerThan: \"x\") (bad LHS)"
        ),
        (
            "name UTI-EQUALS 'x'",
            "unimplemented SQL generation for predicate : (name UTI-EQUALS \"x\") (bad LHS)"
        ),
        ("tags IN {1}", "to-many key not allowed here"),
        ("friends UNION tags == 1", "Unsupported set expression friends UNION tags"),
    ])
    func whatHasNoSQLIsRefused(format: String, message: String) throws {
        var query = RowQuery(entity: people[0].entity)
        query.predicate = node(of: try NSPredicate.parse(format))
        let error = #expect(throws: StoreError.self) { try fixture.store.ids(matching: query) }
        #expect(error?.code == .unsupported)
        #expect(error?.message == message)
    }

    @Test func aBlockIsNamedByItsAddress() throws {
        var query = RowQuery(entity: people[0].entity)
        query.predicate = node(
            of: NSPredicate(format: "%@ AND age > 1", NSPredicate { _, _ in true }))
        let error = #expect(throws: StoreError.self) { try fixture.store.ids(matching: query) }
        #expect(error?.message.hasPrefix("Problem with subpredicate BLOCKPREDICATE(0x") == true)
    }

    @Test func aChainMadeInALoopIsFound() throws {
        var one: NSPredicate = NSPredicate(format: "age == 3")
        for number in 100...2000 {
            let other = NSPredicate(format: "age == %ld", number)
            one = NSCompoundPredicate(orPredicateWithSubpredicates: [one, other])
        }
        var query = RowQuery(entity: people[0].entity)
        query.predicate = node(of: one)
        #expect(try fixture.store.ids(matching: query) == [people[3]])
    }

    /// Apple's files keep such a pair as one row.
    @Test func aPairOfOneRowIsSeenFromBothEnds() throws {
        let named = "type = 'table' AND name LIKE 'Z%FRIENDS'"
        let table = try #require(
            try fixture.sql("SELECT name FROM sqlite_master WHERE \(named)").first?[0].string)
        _ = try fixture.store.write { transaction in
            try transaction.connection.run(
                "DELETE FROM \(table) WHERE REFLEXIVE = (SELECT max(REFLEXIVE) FROM \(table)) "
                    + "AND (SELECT count(*) FROM \(table)) > 1")
        }
        #expect(try fixture.sql("SELECT count(*) FROM \(table)").first?[0].int64 == 1)
        for (own, other) in [(0, 1), (1, 0)] {
            var query = RowQuery(entity: people[0].entity)
            query.predicate = node(
                of: NSPredicate(format: "ANY friends.name == %@", "\(other * 10)"))
            #expect(try fixture.store.ids(matching: query) == [people[own]])
        }
    }
}
