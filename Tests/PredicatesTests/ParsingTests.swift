import Foundation
import Predicates
import Testing

@Suite struct ParsingTests {
    /// What Apple's own tests parse.
    @Test(arguments: [
        "a + 2 == 4", "b.length == 5", "g.@count == 5",
        "SUBQUERY(g, $_local_1, $_local_1 == d).@count > 0",
        "SUBQUERY(g, $x, NOT ($x == 2)).@count == 0", "i BETWEEN {i, i}", "(SELF.g)[0] == 2",
        "(SELF.h)['A'] == 1", "TERNARY(f == YES AND YES == YES, YES, NO) == NO",
        "TERNARY(j != nil, j, '').length == 0", "g.@max.#self == g.@min.#self",
        "TERNARY(b ==[c] 'ABC', 0, TERNARY(b <[c] 'ABC', -1, 1)) == 0", "b CONTAINS[cdl] 'ABC'",
        "b MATCHES '.*[e-f][l-m].*'", "ANY a.b ==[n] 'x'", "x IN[n] {'a', 'b'}",
        "abs(x) == 1 OR a == 2", "a ** 2 ** 3 > -4",
        "date > CAST(1000.5, 'NSDate')", "a[FIRST] == b[LAST] AND c[SIZE] > 0",
        "FUNCTION(now(), 'dateByAddingTimeInterval:', -86400) < date",
        "NONE tags.name == 'a' OR ALL tags.size > 3", "x == 0x1F AND y == 0b101 AND z == 0o17",
        "SELF == $ITEM AND $v := 3 == 3 + 0", "(a UNION b) CONTAINS 3", "#in == #self",
        "a[#first] == #subquery.#size", "b ==[c] 'x' AND NOT (a == 1 OR c == 2)",
    ])
    func aFormatPrintsAsOneThatParsesToTheSameTree(format: String) throws {
        let tree = try tree(format)
        #expect(try self.tree(tree.description) == tree)
        #expect(try self.tree(tree.description).description == tree.description)
    }

    @Test(arguments: [
        ("a=1", "a == 1"), ("a =< 1", "a <= 1"), ("a => 1", "a >= 1"), ("a <> 1", "a != 1"),
        ("NOT a == 1", "NOT a == 1"), ("not (a == 1 && b == 2)", "NOT (a == 1 AND b == 2)"),
        ("(a == 1 || b == 2) && c == 3", "(a == 1 OR b == 2) AND c == 3"),
        ("some a.b == nil", "ANY a.b == nil"), ("none a.b == Null", "NOT ANY a.b == nil"),
        ("a contains [dc] 'x'", "a CONTAINS[cd] \"x\""), ("b.length == 5", "b.length == 5"),
        ("x == 'it\\'s'", "x == \"it's\""), ("sum(a) == 1", "sum:(a) == 1"),
        ("self.a == self", "SELF.a == SELF"), ("a - (b - c) == 0", "a - (b - c) == 0"),
        ("(a - b) - c == 0", "a - b - c == 0"), ("(a ** b) ** c == 0", "(a ** b) ** c == 0"),
        ("(a + b) * c == 0", "(a + b) * c == 0"), ("a == 1.50", "a == 1.5"),
        ("a == 1e3", "a == 1000.0"), ("(SELF.g)[0] == 2", "(SELF.g)[0] == 2"),
        ("truepredicate", "TRUEPREDICATE"),
    ])
    func aPredicateIsPrintedInApplesForm(format: String, printed: String) throws {
        #expect(try NSPredicate.parse(format).description == printed)
    }

    @Test func negationBindsTighterThanAndTighterThanOr() throws {
        let grouped = try tree("((NOT (a == 1)) AND b == 2) OR c == 3")
        #expect(try tree("NOT a == 1 AND b == 2 OR c == 3") == grouped)
    }

    @Test func arithmeticBindsAsInMathematics() throws {
        #expect(try tree("a + b * c ** -d == 1") == tree("(a + (b * (c ** (-d)))) == 1"))
        #expect(try tree("a - b - c == 1") != tree("a - (b - c) == 1"))
        #expect(try tree("-2 == -x") == tree("-2 == -1 * x"))
    }

    @Test func placeholdersTakeTheirArgumentsInOrder() throws {
        let when = Date(timeIntervalSinceReferenceDate: 5)
        let given = try tree(
            "%K == %@ AND n == %ld AND r == %f AND d < %@ AND k.%K IN %@ AND e == %@",
            ["a.b", "x", 3, 2.5, when, "z", [1, 2], nil])
        let written = try tree(
            """
            a.b == 'x' AND n == 3 AND r == 2.5 AND d < CAST(5, 'NSDate') AND k.z IN {1, 2} \
            AND e == nil
            """)
        #expect(given == written)
        #expect(try tree(given.description) == given)
    }

    @Test func placeholdersInQuotesAreText() throws {
        #expect(try tree("a == '%@ $x'").description == "a == \"%@ $x\"")
    }

    @Test func foundationsValuesBecomePlainOnes() throws {
        let given = try tree(
            "a == %@ AND b == %@ AND c IN %@ AND d == %@",
            [NSNumber(value: true), NSString("x"), NSArray(array: [1, 2]), NSNull()])
        #expect(given == (try tree("a == YES AND b == 'x' AND c IN {1, 2} AND d == nil")))
    }

    @Test func optionalsAndHashablesAreLookedInto() throws {
        let name: String? = "x"
        let when: Date? = Date(timeIntervalSinceReferenceDate: 1)
        let none: Int? = nil
        let given = try tree(
            "a == %@ AND b == %@ AND c == %@ AND d == %@ AND e IN %@",
            [name, when, none, AnyHashable(true), Set(["y"])])
        let written = "a == 'x' AND b == CAST(1, 'NSDate') AND c == nil AND d == YES AND e IN {'y'}"
        #expect(given == (try tree(written)))
    }

    @Test func predicatesAndExpressionsMayBeArguments() throws {
        let inner = NSPredicate(format: "b == 2 OR c == 3")
        let expression = NSExpression(format: "x + 1")
        #expect(
            try tree("a == 1 AND %@ AND %@ == 4", [inner, expression])
                == tree("a == 1 AND (b == 2 OR c == 3) AND x + 1 == 4"))
    }

    @Test(arguments: [
        ("(a & 1) == 1", "bitwiseAnd:with:(a, 1) == 1"),
        ("a | 1 == 1", "bitwiseOr:with:(a, 1) == 1"),
        ("a ^ b & c | d != 0", "bitwiseOr(bitwiseXor(a, bitwiseAnd(b, c)), d) != 0"),
        ("~a & 1 << 2 + 1 == b", "bitwiseAnd(onesComplement(a), leftshift(1, 2 + 1)) == b"),
        ("8 >> 1 >> 1 == ~~2", "rightshift(rightshift(8, 1), 1) == onesComplement(~2)"),
        ("a & 1 == 1 && b | c == 3", "bitwiseAnd(a, 1) == 1 AND bitwiseOr(b, c) == 3"),
    ])
    func signsOfBitsAreTheirFunctions(format: String, written: String) throws {
        #expect(try tree(format) == tree(written))
        #expect(try tree(try tree(format).description) == tree(format))
    }

    @Test(arguments: [
        ("a ==", 4, "an expression"), ("", 0, "an expression"), ("a", 1, "a comparison operator"),
        ("a == 'x", 5, "closing"), ("(a == 1", 7, "\")\""), ("a == 1)", 6, "AND, OR"),
        ("a ==[q] 1", 5, "c, d, n, l"), ("a == %q", 5, "placeholder"), ("a == in", 5, "#in"),
        ("a == 1 ? 2", 7, "an operator"), ("a.== 1", 2, "a key"), ("$ == 1", 1, "variable"),
        ("SUBQUERY(a, b, c == 1).@count > 0", 12, "$x"), ("a BETWEEN {1, 2", 15, "\"}\""),
        ("a == 99999999999999999999x", 25, "AND, OR"), ("NOT", 3, "an expression"),
        ("CAST(a) == 1", 0, "CAST("), ("a UTI-LIKE 'x'", 2, "comparison operator"),
        ("(a &) == 1", 4, "an expression"), ("a & b", 5, "a comparison operator"),
        ("add:to: == 1", 8, "\"(\""), ("TERNARY(a == 1, 2) == 1", 17, "\",\""),
    ])
    func aBadFormatSaysWhereAndWhatWasExpected(
        format: String, position: Int, expected: String
    ) throws {
        let error = #expect(throws: PredicateFormatError.self) {
            try NSPredicate.parse(format)
        }
        #expect(error?.position == position)
        #expect(error?.expected.contains(expected) == true)
    }

    @Test func eachCauseHasItsCode() {
        func code(_ format: String, _ arguments: [Any?] = []) -> PredicateFormatError.Code? {
            #expect(throws: PredicateFormatError.self) {
                try NSPredicate.parse(format, arguments: arguments)
            }?.code
        }
        #expect(code("a == %@") == .missingArgument)
        #expect(code("%K == 1", [3]) == .badArgument)
        #expect(code("frobnicate(a) == 1") == .unknownFunction)
        #expect(code("sqrt(a, b) == 1") == .unknownFunction)
        #expect(code("a == 1 AND") == .syntax)
    }

    @Test(arguments: ["(", "NOT ", "-", "~", "a ** ", "abs(", "{", "a[", "TERNARY(", "SUBQUERY("])
    func nestingIsBoundedWithoutExhaustingTheStack(opening: String) {
        let format = String(repeating: opening, count: 100_000)
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(format) }
        #expect(throws: PredicateFormatError.self) { try NSPredicate.parse("a == " + format) }
    }

    @Test func longChainsOfLogicAreNoNesting() throws {
        let format = (0..<5000).map { "a == \($0)" }.joined(separator: " OR ")
        guard case .or(let parts) = try tree(format) else {
            Issue.record("an OR was expected")
            return
        }
        #expect(parts.count == 5000)
    }

    @Test func longChainsOfArithmeticAreRefused() {
        let format = "a == " + Array(repeating: "b", count: 1000).joined(separator: " + ")
        let error = #expect(throws: PredicateFormatError.self) { try NSPredicate.parse(format) }
        #expect(error?.code == .tooDeep)
    }

    private func tree(_ format: String, _ arguments: [Any?] = []) throws -> PredicateNode {
        node(of: try NSPredicate.parse(format, arguments: arguments))
    }
}
