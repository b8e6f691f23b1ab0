import Foundation
import Testing

import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

@testable import Predicates

/// The grammar of Apple's predicate programming guide, line by line.
@Suite struct GrammarTests {
    @Test(arguments: [
        // Literals.
        (
            "a == 0x1F OR a == 0o17 OR a == 0b11 OR a == 1.5e-3",
            "a == 31 OR a == 15 OR a == 3 OR a == 0.0015"
        ),
        (
            "a == TRUE AND b == yes AND c == False AND d == NO",
            "a == YES AND b == YES AND c == NO AND d == NO"
        ),
        ("a == NULL OR a == nil", "a == nil OR a == nil"),
        ("a IN {1, 'two', nil}", "a IN {1, \"two\", nil}"), ("a IN {}", "a IN {}"),
        // Operators.
        ("a = 1 AND b == 2", "a == 1 AND b == 2"), ("a BETWEEN {$low, b}", "a BETWEEN {$low, b}"),
        ("a UTI-CONFORMS-TO 'public.text'", "a UTI-CONFORMS-TO \"public.text\""),
        ("a uti-equals 'public.text'", "a UTI-EQUALS \"public.text\""),
        ("a isNewerThan: b", "a isNewerThan: b"), ("a LIKE[cd] '*x?'", "a LIKE[cd] \"*x?\""),
        ("a ENDSWITH[n] 'x' AND a MATCHES[c] 'x+'", "a ENDSWITH[n] \"x\" AND a MATCHES[c] \"x+\""),
        ("a CONTAINS[cdnl] 'x'", "a CONTAINS[cdnl] \"x\""), ("NOT a == 1", "NOT a == 1"),
        ("! (a == 1 || b == 2)", "NOT (a == 1 OR b == 2)"),
        // Quantifiers.
        (
            "SOME a.b > 1 OR NONE a.c > 1 OR ALL a.d > 1",
            "ANY a.b > 1 OR NOT ANY a.c > 1 OR ALL a.d > 1"
        ),
        // Keys.
        ("#in.#like == #self AND #any == 1", "#in.#like == #self AND #any == 1"),
        ("SELF.a == a.@count", "SELF.a == a.@count"), ("a.@max.#self == 1", "a.@max.#self == 1"),
        // Indexes.
        ("a[0] == a[FIRST] AND a[LAST] == a[SIZE]", "a[0] == a[FIRST] AND a[LAST] == a[SIZE]"),
        ("a['key'] == a[b + 1]", "a[\"key\"] == a[b + 1]"),
        // Expressions.
        ("a + b * c - d / e ** 2 == -f", "a + b * c - d / e ** 2 == -1 * f"),
        (
            "CAST(a, 'NSNumber') == FUNCTION(a, 'integerValue')",
            "CAST(a, \"NSNumber\") == FUNCTION(a, \"integerValue\")"
        ),
        ("FUNCTION(a, 'b:c:', 1, $x) == nil", "FUNCTION(a, \"b:c:\", 1, $x) == nil"),
        (
            "TERNARY(a == 1 OR b == 2, c, TERNARY(d == 3, 4, 5)) == 6",
            "TERNARY(a == 1 OR b == 2, c, TERNARY(d == 3, 4, 5)) == 6"
        ),
        (
            "SUBQUERY(a.b, $x, $x.c == 1 AND SUBQUERY($x.d, $y, $y == $x).@count > 0).@count == 2",
            "SUBQUERY(a.b, $x, $x.c == 1 AND SUBQUERY($x.d, $y, $y == $x).@count > 0).@count == 2"
        ),
        ("ANY SUBQUERY(a, $x, $x.b == 1).c == 2", "ANY SUBQUERY(a, $x, $x.b == 1).c == 2"),
        ("FETCH(r, c, YES) > 3", "FETCH(r, c, YES) > 3"), ("ANYKEY == 'x'", "ANYKEY == \"x\""),
        ("a UNION b == c INTERSECT d MINUS e", "a UNION b == c INTERSECT d MINUS e"),
        ("($v := a) == $v", "$v := a == $v"), ("now() > a", "now() > a"),
        ("TRUEPREDICATE AND NOT FALSEPREDICATE", "TRUEPREDICATE AND NOT FALSEPREDICATE"),
    ])
    func eachLineIsPrintedBack(format: String, printed: String) throws {
        let tree = node(of: try NSPredicate.parse(format))
        #expect(try NSPredicate.parse(format).description == printed)
        #expect(node(of: try NSPredicate.parse(printed)) == tree)
    }

    @Test func everyFunctionIsPrintedUnderItsSelector() throws {
        for (name, count) in FunctionName.predefined
        where !name.hasPrefix("castObject") && !name.hasPrefix("objectFrom") {
            let arguments = (0..<(count ?? 1)).map { _ in NSExpression(forKeyPath: "a") }
            let made = NSExpression(forFunction: name, arguments: arguments)
            #expect(try NSExpression.parse(made.description) == made, "\(made.description)")
        }
    }

    private struct Literal {
        var value: Any?
        var text: String?
        init(_ value: Any?, _ text: String? = nil) {
            self.value = value
            self.text = text
        }
    }

    @Test func constantsOfEveryTypeAreReadBack() throws {
        func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
        let id = "00000000-0000-0000-0000-000000000001"
        let mixed: [Any] = [1, [2, "x"] as [Any]]
        let literals: [Literal] = [
            Literal(date(403_776_000), "CAST(403776000.000000, \"NSDate\")"),
            Literal(date(-0.1), "CAST(-0.100000, \"NSDate\")"), Literal(date(1.123_456_78)),
            Literal(date(.infinity)),
            Literal(Decimal(string: "1.10"), "CAST(\"1.1\", \"NSDecimalNumber\")"),
            Literal(UUID(uuidString: id), "CAST(\"\(id)\", \"NSUUID\")"),
            Literal(URL(string: "https://a.example/?q=%22x%22")),
            Literal(Data([1, 2]), "CAST(\"AQI=\", \"NSData\")"),
            Literal(Double.infinity, "CAST(\"inf\", \"NSNumber\")"), Literal(2.5, "2.5"),
            Literal(7, "7"), Literal(true, "YES"), Literal(nil, "nil"), Literal(UInt64.max),
            Literal("it's \"so\"\n\\", "\"it's \\\"so\\\"\\n\\\\\""),
            Literal(mixed, "{1, {2, \"x\"}}"),
        ]
        for literal in literals {
            let tree = node(of: try NSPredicate.parse("a == %@", arguments: [literal.value]))
            if let text = literal.text { #expect(tree.description == "a == \(text)") }
            #expect(node(of: try NSPredicate.parse(tree.description)) == tree, "\(tree)")
        }
    }

    @Test func rangesAreBounds() throws {
        func format(_ format: String, _ range: Any) throws -> String {
            try NSPredicate.parse(format, arguments: [range]).description
        }
        #expect(try format("a BETWEEN %@", 18...65) == "a BETWEEN {18, 65}")
        #expect(try format("a IN %@", 18...65) == "a BETWEEN {18, 65}")
        #expect(try format("ANY a.b IN %@", 1.5...2.5) == "ANY a.b BETWEEN {1.5, 2.5}")
        #expect(try format("a IN %@", 0..<3) == "a >= 0 AND a < 3")
        #expect(try format("a IN %@", "b"..."c") == "a BETWEEN {\"b\", \"c\"}")
    }

    @Test func aCustomSelectorIsKeptAndRefusedWhenEvaluated() throws {
        let made = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "a"),
            rightExpression: NSExpression(forConstantValue: 1), customSelectorName: "isNewerThan:")
        #expect(made.predicateFormat == "a isNewerThan: 1")
        #expect(made.predicateOperatorType == .customSelector)
        #expect(made.customSelectorName == "isNewerThan:")
        #expect(made == NSPredicate(format: "a isNewerThan: 1"))
        #expect(made != NSPredicate(format: "a isOlderThan: 1"))
        let filled = NSPredicate(format: "a isNewerThan: $x").withSubstitutionVariables(["x": 1])
        #expect(filled == made)
        for format in ["a isNewerThan: 1", "a UTI-EQUALS 'x'", "a UTI-CONFORMS-TO 'x'"] {
            let error = #expect(throws: EvaluationError.self) {
                try evaluate(node(of: NSPredicate.parse(format)), with: ["a": "x"])
            }
            #expect(error?.code == .unsupported)
        }
    }

    /// As columns of a database have it.
    @Test(arguments: [
        ("text IN {1, 12}", true), ("text IN {1, 2}", false), ("text IN {YES, 12.0}", true),
        ("number IN {'12', 'x'}", true), ("number IN {'x', '', '1'}", false),
        ("{'12'} CONTAINS number", true), ("text == 12", false), ("number == '12'", false),
        ("text IN list", false),
    ])
    func listsHoldNumbersAsTextsAndTextsAsNumbers(format: String, holds: Bool) throws {
        let object: [String: Any] = ["text": "12", "number": 12, "list": [12]]
        #expect(try evaluate(node(of: NSPredicate.parse(format)), with: object) == holds)
    }

    /// Key-value coding walks one key at a time, so an operator computes over all that was found.
    @Test func operatorsAtTheEndComputeOverAllAnswers() throws {
        for format in [
            "pets.age.@max == 5", "pets.age.@sum == 8", "pets.toys.@count == 2",
            "pets.toys.@unionOfArrays.#self == {'ball', 'bone'}",
        ] {
            #expect(
                try evaluate(node(of: NSPredicate.parse(format)), with: Person.anna), "\(format)")
        }
    }

    @Test func partsCanBeTakenAsApplesTypesAre() {
        let path: String = NSExpression(forKeyPath: "a.b").keyPath
        let function: String = NSExpression(format: "sum:(a)").function
        let left: NSExpression = NSExpression(format: "a UNION b").left
        #expect(path == "a.b" && function == "sum:" && left.keyPath == "a")
        #expect(NSExpression(forConstantValue: 1).keyPath == nil)
    }
}
