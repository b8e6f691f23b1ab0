import Foundation
import Platform
import Predicates
import Testing

@Suite struct EvaluationTests {
    @Test(arguments: [
        "name == 'Anna'", "name != 'Bert'", "age > 29", "age >= 30", "age < 31", "age <= 30",
        "age == 30.0", "isMember == YES", "isMember == 1", "score == 2.5", "price == 9.9",
        "price > 9", "tall == 1.5", "small == 7", "number == 4",
        "born < CAST(101, 'NSDate')",
        "id == CAST('00000000-0000-0000-0000-000000000001', 'NSUUID')",
        "bytes == CAST('AQI=', 'NSData')", "home.lastPathComponent == 'b'",
        "boss.name == 'Zoë'", "nobody.name == nil", "map.A == 1", "map['B'] == 2",
        "SELF.name == name", "name.length == 4", "TRUEPREDICATE", "NOT FALSEPREDICATE",
        "name == 'x' OR age == 30", "name == 'Anna' AND age == 30", "NOT (age == 31)",
    ])
    func isTrue(format: String) throws {
        #expect(try holds(format))
        #expect(NSPredicate(format: format).evaluate(with: Person.anna))
        #expect(try !holds("NOT (\(format))"))
    }

    /// As in a database, where both are the same real.
    @Test(arguments: [
        "$price == 12345.6789", "$price >= 12345.6789", "$price <= 12345.6789",
        "NOT $price != 12345.6789", "$price IN {1.5, 12345.6789}",
        "$price BETWEEN {12345.6789, 20000.5}", "$price < 12345.67890000001",
        "$price + 0.1 == 12345.7789", "$small == 0.000001", "$small < 1e-5",
    ])
    func aDecimalEqualsTheRealThatIsSpeltLikeIt(format: String) throws {
        let numbers: [String: Any] = [
            "price": NSDecimalNumber(string: "12345.6789"),
            "small": NSDecimalNumber(string: "0.000001"),
        ]
        let predicate = NSPredicate(format: format).withSubstitutionVariables(numbers)
        #expect(predicate.evaluate(with: Person.anna))
    }

    @Test(arguments: [
        "name ==[c] 'ANNA'", "boss.name ==[d] 'Zoe'", "boss.name ==[cd] 'zOE'",
        "name BEGINSWITH 'An'", "name BEGINSWITH[c] 'aN'", "name ENDSWITH 'na'",
        "name ENDSWITH[cd] 'NÁ'", "name CONTAINS 'nn'", "name CONTAINS[c] 'NN'",
        "name CONTAINS ''", "name LIKE 'A*a'", "name LIKE '?nn?'", "name LIKE[c] 'a*'",
        "name LIKE '*'", "'a*b' LIKE 'a\\*b'", "NOT 'aXb' LIKE 'a\\*b'", "name MATCHES 'A.*'",
        "name MATCHES 'An|Anna'", "NOT name MATCHES 'nn'", "name MATCHES[c] 'a[n]+A'",
        "boss.name MATCHES[d] 'Zoe'", "'nn' IN name", "'NN' IN[c] name",
        "name IN {'Bert', 'Anna'}", "name IN[c] {'ANNA'}", "NOT name IN {}", "name >[c] 'ANN'",
        "'a' > 'B'", "'a' <[c] 'B'", "name ==[n] 'Anna'", "NOT name ==[n] 'anna'",
        "NOT name ==[cn] 'anna'", "boss.name ==[l] 'Zoë'", "boss.name ==[cdl] 'zoe'",
        "'é' BEGINSWITH[d] 'e'", "NOT 'line\nbreak' MATCHES 'line'",
        "NOT name LIKE 'Anna?'", "NOT name LIKE 'Ann'", "name LIKE 'Anna**'",
        "'añejo' ==[d] 'anejo'",
    ])
    func textsCompareByTheirOptions(format: String) throws { #expect(try holds(format)) }

    @Test(arguments: [
        "nick == nil", "nick == nobody", "nick != 'x'", "NOT nick == 'x'", "NOT nick != nil",
        "NOT nick < 1", "NOT nick > 1", "NOT nick <= nil", "NOT nick >= nil",
        "NOT nick BEGINSWITH 'x'", "NOT nick CONTAINS 'x'", "NOT nick LIKE '*'",
        "NOT nick MATCHES '.*'", "NOT nick IN {'x'}", "NOT nick BETWEEN {1, 2}",
        "nick IN {nil, 'x'}", "age != nil", "nick + 1 == nil", "boss.age == nil",
        "lowercase(nick) == nil", "age / 0 == nil", "nobody.pets.@count == nil",
        "NOT ANY nobody.name == 'x'", "ALL nobody.name == 'x'", "NOT 'x' IN nick",
        "NOT ANY nobody.name == nil", "ALL nobody.name != nil", "average({1, nil, 3}) == 2",
        "count({1, nil}) == 2", "sum({1, nil}) == 1",
    ])
    func nilFollowsTheRulesOfObjects(format: String) throws { #expect(try holds(format)) }

    @Test(arguments: [
        "age BETWEEN {30, 31}", "age BETWEEN {29, 30}", "NOT age BETWEEN {31, 40}",
        "name BETWEEN {'A', 'B'}", "ANY pets.name == 'Rex'", "NOT ALL pets.name == 'Rex'",
        "ALL pets.age > 2", "SOME pets.age == 5", "NONE pets.age == 4", "ANY pets.toys == 'bone'",
        "ALL empty == 1", "NOT ANY empty == 1", "numbers CONTAINS 2", "NOT numbers CONTAINS 4",
        "2 IN numbers", "ANY numbers IN {3, 4}", "ordered CONTAINS 'y'", "ordered[FIRST] == 'x'",
        "ordered[LAST] == 'y'", "ordered[SIZE] == 2", "numbers[SIZE] == 3", "ordered[1] == 'y'",
        "ordered[9] == nil",
        "pets.@count == 2", "pets.@sum.age == 8", "pets.@avg.age == 4", "pets.@min.age == 3",
        "pets.@max.age == 5", "numbers.@max.#self == 3", "empty.@count == 0",
        "empty.@sum.self == 0", "empty.@max.self == nil", "pets.@unionOfObjects.age == {3, 5}",
        "pets.@distinctUnionOfArrays.toys == {'ball', 'bone'}", "map CONTAINS 2",
        "twice.@distinctUnionOfObjects.self == {1, 2}", "twice.@unionOfObjects.self == {1, 2, 1}",
        "SUBQUERY(pets, $p, $p.age > 3 AND $p.name == 'Ida').@count == 1",
        "SUBQUERY(pets, $p, $p.age < age).@count == 2",
        "SUBQUERY(pets, $p, SUBQUERY($p.toys, $t, $t BEGINSWITH 'b').@count == 2).@count == 1",
        "({1, 2} UNION {2, 3}) == {1, 2, 3}", "({1, 2} INTERSECT {2, 3}) == {2}",
        "({1, 2} MINUS {2, 3}) == {1}", "pets[0].name == 'Rex'",
        "TERNARY(age > 20, 'old', 'young') == 'old'", "FUNCTION(pets, 'count') == 2",
    ])
    func collectionsAnswer(format: String) throws { #expect(try holds(format)) }

    @Test(arguments: [
        "age + 1 == 31", "age - 1 == 29", "age * 2 == 60", "age / 7 == 4", "score / 2 == 1.25",
        "age ** 2 == 900", "-age == 0 - 30", "modulus:by:(age, 7) == 2", "sqrt(4) == 2",
        "log(100) == 2", "ln(exp(1)) == 1", "floor(2.5) == 2", "ceiling(2.5) == 3",
        "abs(-3) == 3", "trunc(-2.5) == -2", "uppercase(name) == 'ANNA'",
        "lowercase:(name) == 'anna'", "canonical(boss.name) == 'zoe'", "length(name) == 4",
        "max(age) == 30 AND sum(age) == 30", "count(name) == 1", "average(price) == price",
        "sum({1, 2, 3}) == 6", "count({1, 2}) == 2", "min(1, 2) == 1", "max({1, 2}) == 2",
        "average({1, 2}) == 1.5", "median({1, 9, 2}) == 2", "mode({1, 2, 2}) == {2}",
        "stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2", "bitwiseAnd:with:(6, 3) == 2",
        "bitwiseOr:with:(6, 3) == 7", "bitwiseXor:with:(6, 3) == 5", "leftshift:by:(1, 4) == 16",
        "rightshift:by:(16, 4) == 1", "(6 & 3) == 2 AND 6 | 3 == 7",
        "onesComplement:(0) == -1", "noindex:(age) == 30",
        "CAST(born, 'NSNumber') == 100", "CAST('12', 'NSNumber') == 12",
        "CAST(age, 'NSString') == '30'", "random() < 1", "random(5) < 5", "now() > born",
        "FUNCTION(born, 'dateByAddingTimeInterval:', 1) == CAST(101, 'NSDate')",
        "price + 0.1 == 10", "9223372036854775807 + 1 > 9.2e18", "sum(pets.age) == 8",
        "($v := age) == 30 AND $v == 30",
        "distanceToLocation:fromLocation:($here, $there) BETWEEN {110000, 112000}",
    ])
    func functionsCompute(format: String) throws {
        let places: [String: Any?] = [
            "here": ["latitude": 0.0, "longitude": 0.0],
            "there": ["latitude": 1.0, "longitude": 0.0],
        ]
        #expect(try holds(format, places))
    }

    @Test func objectsAreEqualByIdentity() throws {
        let anna = Person.anna
        let pets = try #require(anna.values["pets"] as? [Person])
        let predicate = try NSPredicate.parse("ANY pets == %@", arguments: [pets[0]])
        #expect(try evaluate(node(of: predicate), with: anna))
        let other = try NSPredicate.parse("pets CONTAINS %@", arguments: [Person([:])])
        #expect(try !evaluate(node(of: other), with: anna))
    }

    @Test(arguments: [
        ("nothing == 1", EvaluationError.Code.unknownKey), ("name.nothing == 1", .unknownKey),
        ("name < 1", .typeMismatch), ("age BEGINSWITH 'x'", .typeMismatch),
        ("age CONTAINS 1", .typeMismatch), ("age IN 3", .typeMismatch),
        ("age BETWEEN {1}", .typeMismatch), ("name MATCHES '['", .badPattern),
        ("ANY name == 'x'", .notACollection),
        ("SUBQUERY(name, $x, $x == 1).@count == 0", .notACollection),
        ("age.@count == 1", .notACollection), ("$x == 1", .unboundVariable),
        ("name + 1 == 2", .typeMismatch), ("CAST(name, 'NSThing') == 1", .unsupported),
        ("FUNCTION(name, 'explode:', 1) == 1", .badFunction),
        ("numbers[FIRST] == 1", .badFunction), ("numbers[0] == 1", .badFunction),
        ("FETCH(a, b, NO) == 1", .unknownKey),
        ("ANYKEY == 1", .unsupported), ("pets.@median.age == 1", .unknownKey),
        ("name MATCHES 'a)(b'", .badPattern),
    ])
    func whatCannotBeEvaluatedThrowsAndApplesCallAnswersFalse(
        format: String, code: EvaluationError.Code
    ) throws {
        let error = #expect(throws: EvaluationError.self) { try holds(format) }
        #expect(error?.code == code)
        #expect(!NSPredicate(format: format).evaluate(with: Person.anna))
        #expect(!NSPredicate(format: "NOT (\(format))").evaluate(with: Person.anna))
    }

    @Test func theClockAndTheDiceAreTheOnesGiven() throws {
        struct Still: Clock { func now() -> Date { Date(timeIntervalSinceReferenceDate: 42) } }
        struct Loaded: Randomness { func next() -> UInt64 { 7 } }
        let platform = Environment(clock: Still(), randomness: Loaded(), faults: NoFaults())
        let tree = node(of: NSPredicate(format: "now() == CAST(42, 'NSDate') AND random(5) == 2"))
        #expect(try evaluate(tree, with: nil, platform: platform))
    }

    @Test func aLikePatternOfManyStarsEnds() throws {
        let text = String(repeating: "a", count: 2000)
        let pattern = String(repeating: "a*", count: 500) + "b"
        #expect(try !evaluate(node(of: NSPredicate(format: "SELF LIKE %@", pattern)), with: text))
    }

    /// One scalar and two look alike and are equal to Swift, but not to a store.
    @Test func textsAreToldApartByTheirBytes() throws {
        let (one, two) = ("\u{E9}", "e\u{301}")
        func equals(_ text: String) -> NSPredicate { NSPredicate(format: "SELF == %@", text) }
        #expect(node(of: equals(one)) == node(of: equals(one)))
        #expect(node(of: equals(one)) != node(of: equals(two)))
        #expect(equals(one) != equals(two))
        for pattern in [one, two] {
            let tree = node(of: NSPredicate(format: "SELF MATCHES %@", pattern))
            #expect(try evaluate(tree, with: one) == (pattern == one && pattern.utf8.count == 2))
            #expect(try evaluate(tree, with: two) == (pattern.utf8.count == 3))
        }
    }

    private func holds(_ format: String, _ variables: [String: Any?] = [:]) throws -> Bool {
        let predicate = try NSPredicate.parse(format)
        return try evaluate(node(of: predicate), with: Person.anna, variables: variables)
    }
}
