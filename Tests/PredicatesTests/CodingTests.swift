import Foundation
import Testing

import class Predicates.NSComparisonPredicate
import class Predicates.NSExpression

@testable import Predicates

/// Predicates and expressions in archives of `NSKeyedArchiver`, and as keys of tables.
@Suite struct CodingTests {
    @Test(arguments: [
        "a == 1", "NOT (a == 1 AND b == 'x')", "a == 1 OR b BETWEEN {1, 2}", "TRUEPREDICATE",
        "SUBQUERY(a, $x, $x.b == $y).@count > 0", "SELF.a == CAST(1.25, 'NSDate')",
    ])
    func aPredicateComesBackFromItsArchive(format: String) throws {
        let predicate = NSPredicate(format: format)
        let back = try unarchived(archived(predicate), as: [NSPredicate.self])
        #expect(back as? NSPredicate == predicate)
        #expect((back as? NSPredicate)?.description == predicate.description)
        #expect(type(of: try #require(back)) == type(of: predicate))
    }

    @Test func constantsWithoutALiteralAreArchivedBesideTheFormat() throws {
        let unit = NSIndexPath(index: 7)
        let predicate = NSPredicate(format: "a == %@ OR b IN %@", unit, [1, unit] as [Any])
        let data = try archived(predicate)
        let back = try unarchived(data, as: [NSPredicate.self, NSIndexPath.self])
        #expect(back as? NSPredicate == predicate)
    }

    @Test func anExpressionComesBackFromItsArchive() throws {
        let expression = NSExpression(format: "TERNARY(a > $b, sum:(c), {1, 'x'})")
        let back = try unarchived(archived(expression), as: [NSExpression.self])
        #expect(back as? NSExpression == expression)
    }

    @Test func whatIsNoArchiveOfAPredicateGivesNone() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode("a ==" as NSString, forKey: "format")
        archiver.finishEncoding()
        let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        coder.decodingFailurePolicy = .setErrorAndReturn
        #expect(TreePredicate(coder: coder) == nil)
        #expect(NSComparisonPredicate(coder: coder) == nil)
        #expect(NSExpression(coder: coder) == nil)
    }

    @Test func equalOnesAreOneKey() {
        let pairs = [
            ("SELF.a == 1", "a == 1"), ("a IN {1, 2}", "a IN {1,2}"),
            ("NOT SELF.b.c > 2", "! b.c > 2"),
            ("a == 1 AND SELF.b == 2", "SELF.a == 1 && b == 2"),
        ]
        for (one, two) in pairs {
            let (a, b) = (NSPredicate(format: one), NSPredicate(format: two))
            #expect(a == b && a.hash == b.hash, "\(one)")
            #expect(Set([a, b]).count == 1)
            #expect(a.copy() as? NSPredicate == b)
        }
    }

    @Test func aChainMadeInALoopExhaustsNoStack() throws {
        var all: NSPredicate = NSPredicate(format: "a != 0")
        var one: NSPredicate = NSPredicate(format: "a == 0")
        for number in 1...3000 {
            let next = NSPredicate(format: "a != %ld", number)
            all = NSCompoundPredicate(andPredicateWithSubpredicates: [all, next])
            let other = NSPredicate(format: "a == %ld", number)
            one = NSCompoundPredicate(orPredicateWithSubpredicates: [one, other])
        }
        #expect(try evaluate(node(of: one), with: ["a": 1500]))
        #expect(try !evaluate(node(of: all), with: ["a": 1]))
        #expect(try evaluate(node(of: all), with: ["a": -1]))
    }

    private func archived(_ object: Any) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    private func unarchived(_ data: Data, as classes: [AnyClass]) throws -> Any? {
        try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
    }
}
