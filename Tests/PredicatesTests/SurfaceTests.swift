import Foundation
import Testing

import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

@testable import Predicates

@Suite struct SurfaceTests {
    @Test func comparisonsThatDifferInOptionsAreTwo() throws {
        let plain = node(of: try NSPredicate.parse("name == 'a'"))
        let folded = node(of: try NSPredicate.parse("name ==[c] 'a'"))
        let again = node(of: try NSPredicate.parse("name ==[c] 'a'"))
        #expect(plain != folded)
        #expect(folded == again)
    }

    @Test func aFormatMakesApplesClasses() throws {
        let comparison = try #require(
            NSPredicate(format: "ANY a.b ==[c] %@", "x") as? NSComparisonPredicate)
        #expect(comparison.leftExpression.keyPath == "a.b")
        #expect(comparison.rightExpression.constantValue as? String == "x")
        #expect(comparison.comparisonPredicateModifier == .any)
        #expect(comparison.predicateOperatorType == .equalTo)
        #expect(comparison.options == .caseInsensitive)
        let compound = try #require(
            NSPredicate(format: "a == 1 OR NOT b == 2") as? NSCompoundPredicate)
        #expect(compound.compoundPredicateType == .or)
        #expect(compound.subpredicates.count == 2)
        #expect(compound.description == "a == 1 OR NOT b == 2")
    }

    @Test func foundationsCompoundsAreReadThroughTheirParts() {
        let parts = [NSPredicate(format: "a == 1"), NSPredicate(value: true)]
        let all = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
        let none = NSCompoundPredicate(notPredicateWithSubpredicate: all)
        #expect(node(of: none) == .not(.and([node(of: parts[0]), .constant(true)])))
        #expect(node(of: NSPredicate(value: false)) == .constant(false))
        #expect(none.evaluate(with: ["a": 2]))
        #expect(!none.evaluate(with: ["a": 1]))
    }

    @Test func aBlockIsOpaqueAndStillEvaluated() throws {
        let block = NSPredicate { object, _ in (object as? Int) == 3 }
        guard case .opaque(let kept) = node(of: block) else {
            Issue.record("an opaque node was expected")
            return
        }
        #expect(kept === block)
        let both = NSPredicate(format: "%@ AND SELF > 2", block)
        #expect(try evaluate(node(of: both), with: 3))
        #expect(try !evaluate(node(of: both), with: 4))
    }

    @Test func foundationsListsAreFiltered() {
        let list = NSArray(array: [1, 5, 9])
        #expect(list.filtered(using: NSPredicate(format: "SELF > 4")) as? [Int] == [5, 9])
    }

    @Test func variablesAreSubstitutedOrBound() {
        let template = NSPredicate(format: "a == $A AND SUBQUERY(b, $x, $x == $A).@count == 1")
        #expect(node(of: template).freeVariables == ["A"])
        let filled = template.withSubstitutionVariables(["A": 2, "x": 9])
        #expect(filled.description == "a == 2 AND SUBQUERY(b, $x, $x == 2).@count == 1")
        #expect(filled.evaluate(with: ["a": 2, "b": [1, 2]] as [String: Any]))
        #expect(!template.evaluate(with: ["a": 2, "b": [1, 2]] as [String: Any]))
        #expect(
            template.evaluate(
                with: ["a": 2, "b": [1, 2]] as [String: Any], substitutionVariables: ["A": 2]))
    }

    @Test func expressionsAreBuiltAsFormatsAre() {
        let a = NSExpression(forKeyPath: "a")
        let three = NSExpression(forConstantValue: 3)
        let sum = NSExpression(forFunction: "add:to:", arguments: [a, three])
        #expect(sum == NSExpression(format: "a + 3"))
        #expect(sum.description == "a + 3")
        #expect(sum.arguments == [a, three])
        #expect(NSExpression(forAggregate: [a, 3]) == NSExpression(format: "{a, 3}"))
        #expect(NSExpression(forVariable: "x") == NSExpression(format: "$x"))
        #expect(NSExpression(forUnionSet: a, with: three) == NSExpression(format: "a UNION 3"))
        #expect(NSExpression(forMinusSet: a, with: three).right == three)
        #expect(NSExpression.expressionForEvaluatedObject() == NSExpression(format: "SELF"))
        let condition = NSPredicate(format: "$x == 1")
        #expect(
            NSExpression(forSubquery: a, usingIteratorVariable: "x", predicate: condition)
                == NSExpression(format: "SUBQUERY(a, $x, $x == 1)"))
        let choice = NSExpression(
            forConditional: condition, trueExpression: a, falseExpression: three)
        #expect(choice == NSExpression(format: "TERNARY($x == 1, a, 3)"))
        #expect(choice.true == a && choice.false == three && choice.predicate == condition)
    }

    @Test func expressionTypesAreApples() {
        let types: [(String, NSExpression.ExpressionType)] = [
            ("3", .constantValue), ("SELF", .evaluatedObject), ("$x", .variable), ("a.b", .keyPath),
            ("now()", .function), ("{a}", .aggregate), ("a UNION b", .unionSet),
            ("a INTERSECT b", .intersectSet), ("a MINUS b", .minusSet), ("ANYKEY", .anyKey),
            ("SUBQUERY(a, $x, $x == 1)", .subquery), ("TERNARY(a == 1, 1, 2)", .conditional),
        ]
        for (format, type) in types {
            #expect(NSExpression(format: format).expressionType == type)
        }
    }

    @Test func expressionsHaveValues() {
        let sum = NSExpression(format: "a + $b")
        #expect(sum.expressionValue(with: ["a": 1], context: ["b": 2]) as? Int == 3)
        #expect(sum.expressionValue(with: ["a": 1], context: nil) == nil)
        let block = NSExpression(
            block: { object, values, _ in [object as? Int, values.first as? Int] },
            arguments: [NSExpression(format: "SELF * 2")])
        #expect(block.expressionValue(with: 4, context: nil) as? [Int?] == [4, 8])
    }

    @Test func equalPredicatesHaveEqualHashes() {
        let one = NSPredicate(format: "a == 1 AND b == 2")
        let two = NSPredicate(format: "(a = 1) && (b = 2)")
        #expect(one == two)
        #expect(one.hash == two.hash)
        #expect(one != NSPredicate(format: "a == 1 AND b == 3"))
    }

    @Test func aBadFormatEndsTheProgramOnlyInApplesInitializer() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = NSPredicate(format: "a ==")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("at 4: an expression"))
    }

    @Test func constantsAreReplacedOneByOne() {
        let tree = node(of: NSPredicate(format: "a == 1 AND b IN %@ AND c == nil", [1, 2]))
        let mapped = tree.mapConstants { ($0 as? Int).map { $0 * 10 } }
        #expect(mapped.description == "a == 10 AND b IN {10, 20} AND c == nil")
    }

    @Test func keyPathsOfTheEvaluatedObjectAreFound() {
        let tree = node(
            of: NSPredicate(
                format:
                    "SELF.a.b == c AND SUBQUERY(d, $x, $x.y == e).@count > TERNARY(f == 1, g, 2)"))
        #expect(tree.keyPaths == [["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"]])
    }
}
