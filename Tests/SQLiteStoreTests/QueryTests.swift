import Foundation
import ObjectModel
import Predicates
import Stores
import Testing

@testable import SQLiteStore

@Suite struct QueryTests {
    let fixture: StoreFixture
    let people: [RowID]

    init() throws {
        fixture = try StoreFixture(TestModel.society())
        let rows: [(String, AttributeValue, AttributeValue)] = [
            ("Ada", .integer(1), .text("ada@x")), ("Bob", .null, .text("bob@x")),
            ("Cyd", .integer(3), .null),
        ]
        var made: [RowID] = []
        for (name, age, email) in rows {
            made.append(
                try fixture.insert("Person", ["name": .text(name), "age": age, "email": email]))
        }
        people = made
    }

    private func find(
        _ format: String, _ arguments: Any?..., in entity: String = "Person"
    ) throws -> [RowID] {
        var query = RowQuery(entity: try fixture.layout(entity).number)
        query.predicate = node(of: try NSPredicate.parse(format, arguments: arguments))
        return try fixture.store.ids(matching: query)
    }

    private func refusal(_ format: String, _ arguments: Any?...) -> StoreError? {
        #expect(throws: StoreError.self, "\(format)") {
            var query = RowQuery(entity: try fixture.layout("Person").number)
            query.predicate = node(of: try NSPredicate.parse(format, arguments: arguments))
            return try fixture.store.ids(matching: query)
        }
    }

    @Test func missingValuesFollowSQL() throws {
        #expect(try find("age != 1") == [people[2]])
        #expect(try find("NOT (age == 1)") == [people[2]])
        #expect(try find("age == nil") == [people[1]])
        #expect(try find("age != nil") == [people[0], people[2]])
        #expect(try find("age IN %@", [1, NSNull()] as [Any]) == [people[0], people[1]])
        #expect(try find("home == nil") == people)
        #expect(try find("home.mayor.name == nil") == people)
    }

    @Test func formatsOfEveryKindFindTheirRows() throws {
        let (tag, other) = (
            try fixture.insert("Tag", ["name": .text("t")]), try fixture.insert("Tag")
        )
        _ = try fixture.save {
            $0.toManys = [try fixture.toMany(people[0], "tags", add: [tag])]
        }
        #expect(try find("TRUEPREDICATE") == people)
        #expect(try find("FALSEPREDICATE") == [])
        #expect(try find("SELF == %@", people[1]) == [people[1]])
        #expect(try find("SELF IN %@", [people[1], tag] as [Any]) == [people[1]])
        #expect(try find("NOT (%@ CONTAINS SELF)", [people[1]] as [Any]) == [people[0], people[2]])
        #expect(try find("tags CONTAINS %@", tag) == [people[0]])
        #expect(try find("tags CONTAINS %@", other) == [])
        #expect(try find("NONE tags.name == 't'") == [people[1], people[2]])
        #expect(try find("tags.@count == 0") == [people[1], people[2]])
        #expect(
            try find("SUBQUERY(tags, $t, $t.name == 't' AND name == 'Ada').@count == 1") == [
                people[0]
            ])
        #expect(try find("name BETWEEN {'B', 'Cz'}") == [people[1], people[2]])
        #expect(try find("age BETWEEN {age - 1, 2 - 1}") == [people[0]])
        #expect(try find("name.length == 3 AND length:(email) == 5") == [people[0], people[1]])
        #expect(try find("lowercase:(name) IN {'bob', 'cyd'}") == [people[1], people[2]])
        #expect(try find("name LIKE[c] 'a?A'") == [people[0]])
        #expect(try find("name MATCHES '[AB].*'") == [people[0], people[1]])
        #expect(try find("email IN {name, 'bob@x'}") == [people[1]])
        #expect(try find("TERNARY(age == nil, 0, age) < 2") == [people[0], people[1]])
        #expect(try find("born < now() OR age + 1 == 2") == [people[0]])
        #expect(try find("bitwiseAnd:with:(age, 2) == 2") == [people[2]])
        #expect(try find("(age & %d) == 2", 2) == [people[2]])
        #expect(try find("objectID == %@", people[2]) == [people[2]])
        #expect(try find("name == email") == [])
        #expect(try find("1 == 1 AND name == 'Ada'") == [people[0]])
    }

    @Test func subentitiesAreFoundUnlessLeftOut() throws {
        let manager = try fixture.insert("Manager", ["name": .text("Max")])
        #expect(try find("name == 'Max'") == [manager])
        #expect(try find("name == 'Max'", in: "Employee") == [manager])
        var query = RowQuery(entity: try fixture.layout("Person").number)
        query.includesSubentities = false
        #expect(try fixture.store.ids(matching: query) == people)
        query.entity = manager.entity
        #expect(try fixture.store.rows(matching: query).map(\.id) == [manager])
    }

    @Test func attributesOfEveryKindCompareWithTheirConstants() throws {
        let kinds = try StoreFixture(TestModel.kinds())
        let id = try kinds.insert("Kinds", RowTests.values)
        try kinds.insert("Kinds")
        guard case .uuid(let uuid)? = RowTests.values["uuid"] else { return }
        let tests: [(String, Any?)] = [
            ("uuid == %@", uuid), ("uuid == %@", uuid.uuidString),
            ("uri == %@", URL(string: "https://example.org/a?b=c")),
            ("uri BEGINSWITH %@", "https:"), ("bytes == %@", Data([0, 1, 255])),
            ("large == %@", Data([1, 2])),
            ("thing == %@", Data("x".utf8)),
            ("when == %@", Date(timeIntervalSinceReferenceDate: 749_000_000)),
            ("flag == %@", true), ("amount == %@", Decimal(string: "10.11")), ("amount < %@", 10.2),
            ("point.x == %@", 1.5), ("int16 + int32 == %@", 69_993),
            ("uuid IN %@", [uuid, UUID()]),
            ("int64 == %@", Int64.max),
            ("when + 60 > %@", Date(timeIntervalSinceReferenceDate: 749_000_000)),
            ("text != %@", 5), ("noindex:(int16) == %@", -7),
        ]
        for (format, value) in tests {
            var query = RowQuery(entity: id.entity)
            query.predicate = node(of: try NSPredicate.parse(format, arguments: [value]))
            #expect(try kinds.store.ids(matching: query) == [id], "\(format)")
        }
    }

    @Test func longListsAndLongChainsHaveNoLimit() throws {
        let many = (0..<3000).map { "p\($0)" } + ["Ada"]
        #expect(try find("name IN %@", many) == [people[0]])
        #expect(
            try find("name IN[c] %@ AND age IN %@", many.map { $0.lowercased() }, Array(1...2000))
                == [people[0]])
        let uuids = (0..<1000).map { _ in UUID() }
        let kinds = try StoreFixture(TestModel.kinds())
        let id = try kinds.insert("Kinds", ["uuid": .uuid(uuids[7])])
        var query = RowQuery(entity: id.entity)
        query.predicate = node(of: try NSPredicate.parse("uuid IN %@", arguments: [uuids]))
        #expect(try kinds.store.ids(matching: query) == [id])
        #expect(try kinds.store.count(matching: query) == 1)
        let chain = PredicateNode.or(
            many.map {
                .comparison(
                    .init(left: .keyPath(["name"]), operator: .equalTo, right: .constant($0)))
            })
        var long = RowQuery(entity: people[0].entity)
        long.predicate = chain
        #expect(try fixture.store.ids(matching: long) == [people[0]])
    }

    @Test func textsOfUsersAreValuesNeverSQL() throws {
        let text = "'); DROP TABLE ZPERSON; --"
        #expect(try find("name == %@ OR name CONTAINS %@", text, text) == [])
        #expect(try find("TRUEPREDICATE") == people)
    }

    @Test func whatHasNoSQLIsRefusedInApplesWords() throws {
        #expect(
            refusal("nickname == 'x'")?.message == "keypath nickname not found in entity Person")
        #expect(
            refusal("home.color == 'x'")?.message == "keypath home.color not found in entity Person"
        )
        #expect(refusal("tags == nil")?.message == "to-many key not allowed here")
        #expect(refusal("tags.name == 'x'")?.message == "to-many key not allowed here")
        #expect(refusal("ANY name == 'x'")?.code == .unsupported)
        #expect(
            refusal("age CONTAINS 'x'")?.message
                == "unimplemented SQL generation for predicate : (age CONTAINS \"x\") (bad LHS)")
        #expect(
            refusal("median:(tags.rank) == 1")?.message.hasPrefix(
                "Unsupported function expression median:") == true)
        #expect(
            refusal("FUNCTION(name, 'foo:', 1) == 1")?.message.hasPrefix(
                "Unsupported function expression") == true)
        #expect(refusal("name == $missing")?.code == .unsupported)
        #expect(refusal("name MATCHES '['")?.message.hasPrefix("Can't do regex matching") == true)
        #expect(refusal("age BETWEEN {1, 2, 3}")?.code == .unsupported)
        var block = RowQuery(entity: people[0].entity)
        block.predicate = node(of: NSPredicate { _, _ in true })
        let error = #expect(throws: StoreError.self) { try fixture.store.ids(matching: block) }
        #expect(error?.message.hasPrefix("Problem with subpredicate") == true)
    }

    @Test func sortingFollowsPathsAndComparisons() throws {
        let place = try fixture.insert("Place", ["name": .text("zz")])
        _ = try fixture.save { $0.updates = [try fixture.update(people[0], [:], ["home": place])] }
        func sorted(_ sort: [NSSortDescriptor]) throws -> [RowID] {
            var query = RowQuery(entity: people[0].entity)
            query.sort = sort
            return try fixture.store.ids(matching: query)
        }
        #expect(try sorted([NSSortDescriptor(key: "name", ascending: false)]) == people.reversed())
        #expect(
            try sorted([NSSortDescriptor(key: "age", ascending: true)]) == [
                people[1], people[0], people[2],
            ])
        #expect(try sorted([NSSortDescriptor(key: "home.name", ascending: false)]) == people)
        #expect(try sorted([NSSortDescriptor(key: "tags.@count", ascending: true)]) == people)
        for (key, message) in [
            ("nope", "keypath nope not found in entity Person"),
            ("tags", "to-many key not allowed here"),
        ] {
            let error = #expect(throws: StoreError.self) {
                try sorted([NSSortDescriptor(key: key, ascending: true)])
            }
            #expect(error?.message == message)
        }
        let custom = NSSortDescriptor(key: "name", ascending: true) { _, _ in .orderedSame }
        let error = #expect(throws: StoreError.self) { try sorted([custom]) }
        #expect(error?.message.contains("comparator blocks are not supported") == true)
    }

    @Test func limitAndOffsetCutTheSortedRows() throws {
        var query = RowQuery(entity: people[0].entity)
        query.limit = 1
        query.offset = 1
        #expect(try fixture.store.ids(matching: query) == [people[1]])
        #expect(try fixture.store.count(matching: query) == 1)
        query.limit = 0
        #expect(try fixture.store.rows(matching: query).map(\.id) == [people[1], people[2]])
    }
}
