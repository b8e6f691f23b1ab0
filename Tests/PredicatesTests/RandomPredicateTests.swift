import Foundation
import Predicates
import Testing

@Suite struct RandomPredicateTests {
    @Test(arguments: 1...20)
    func printedPredicatesParseToEqualTreesAndHoldWhereTheOracleSays(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let rows = (0..<20).map { _ in dice.row() }
        var held = 0
        for _ in 0..<60 {
            let random = RandomPredicate(&dice)
            let text = random.node.description
            let parsed = try NSPredicate.parse(text)
            #expect(node(of: parsed) == random.node, "seed \(seed): \(text)")
            #expect(node(of: parsed).description == text, "seed \(seed)")
            for row in rows {
                let expected = random.holds(row)
                held += expected ? 1 : 0
                let found = try evaluate(node(of: parsed), with: row.values)
                #expect(found == expected, "seed \(seed): \(text) over \(row)")
            }
        }
        // An oracle that always or never agrees would prove nothing.
        #expect(held > 120 && held < 1080)
    }

    @Test(arguments: 1...20)
    func brokenFormatsAreErrorsAndNeverTraps(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let pieces = [
            "a", "==", "(", ")", "{", "}", "[", "]", ",", "AND", "NOT", "ANY", "'", "\"", "$x",
            "%@",
            "%K", "SUBQUERY(", "TERNARY(", ".", "@count", "-", "**", "1.5e", "0x", "#", ":=", "IN",
            "BETWEEN", "é", "\\", "FIRST", "UTI-EQUALS", "CAST(", "\u{0}", ":",
        ]
        var failures = 0
        for _ in 0..<300 {
            var format = RandomPredicate(&dice, depth: 1).node.description
            for _ in 0...dice.below(3) {
                let place = format.index(format.startIndex, offsetBy: dice.below(format.count + 1))
                format.insert(contentsOf: dice.pick(pieces), at: place)
            }
            do {
                let node = node(of: try NSPredicate.parse(format, arguments: ["k", 1]))
                _ = try? evaluate(node, with: dice.row().values)
            } catch let error as PredicateFormatError {
                failures += 1
                #expect((0...format.unicodeScalars.count).contains(error.position), "\(format)")
                #expect(!error.expected.isEmpty)
            }
        }
        #expect(failures > 100)
    }
}
