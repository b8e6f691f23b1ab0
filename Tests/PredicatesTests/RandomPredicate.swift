import Foundation
import Predicates

/// What the random predicates are asked of.
struct Row {
    var a: Int?
    var b: Int?
    var s: String?
    var list: [Int]

    var values: [String: Any] {
        var values: [String: Any] = ["list": list]
        values["a"] = a
        values["b"] = b
        values["s"] = s
        return values
    }
}

/// A small generator whose whole run follows from its seed.
struct Dice {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func below(_ count: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(count))
    }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    mutating func number() -> Int? { below(4) == 0 ? nil : below(7) - 3 }

    mutating func text() -> String? {
        if below(5) == 0 { return nil }
        return (0..<below(4)).map { _ in pick(["a", "A", "b", "é", "\"", "\\", "*", "?"]) }.joined()
    }

    mutating func row() -> Row {
        Row(a: number(), b: number(), s: text(), list: (0..<below(4)).map { _ in below(5) })
    }
}

/// A random predicate with its meaning, said a second time in plain Swift.
struct RandomPredicate {
    var node: PredicateNode
    var holds: (Row) -> Bool

    init(_ dice: inout Dice, depth: Int = 3) {
        switch dice.below(depth > 0 ? 6 : 3) {
        case 0: self = Self.numbers(&dice)
        case 1: self = Self.texts(&dice)
        case 2: self = Self.lists(&dice)
        case 3:
            let part = RandomPredicate(&dice, depth: depth - 1)
            self.init(.not(part.node)) { !part.holds($0) }
        case 4:
            let parts = (0...1 + dice.below(2)).map { _ in
                RandomPredicate(&dice, depth: depth - 1)
            }
            self.init(.and(parts.map(\.node))) { row in parts.allSatisfy { $0.holds(row) } }
        default:
            let parts = (0...1 + dice.below(2)).map { _ in
                RandomPredicate(&dice, depth: depth - 1)
            }
            self.init(.or(parts.map(\.node))) { row in parts.contains { $0.holds(row) } }
        }
    }

    private init(_ node: PredicateNode, _ holds: @escaping (Row) -> Bool) {
        self.node = node
        self.holds = holds
    }

    // MARK: Numbers

    private typealias Number = (node: ExpressionNode, value: (Row) -> Int?)

    private static func number(_ dice: inout Dice, depth: Int) -> Number {
        switch dice.below(depth > 0 ? 6 : 3) {
        case 0: return (.keyPath(["a"]), { $0.a })
        case 1: return (.keyPath(["b"]), { $0.b })
        case 2:
            let value = dice.number()
            return (.constant(value), { _ in value })
        case 3:
            let condition = RandomPredicate(&dice, depth: 0)
            let (yes, no) = (number(&dice, depth: depth - 1), number(&dice, depth: depth - 1))
            return (
                .conditional(condition.node, yes.node, no.node),
                { condition.holds($0) ? yes.value($0) : no.value($0) }
            )
        default:
            let operations: [(String, (Int, Int) -> Int)] = [
                (FunctionName.add, { $0 + $1 }), (FunctionName.subtract, { $0 - $1 }),
                (FunctionName.multiply, { $0 * $1 }),
            ]
            let (name, apply) = dice.pick(operations)
            let (left, right) = (number(&dice, depth: depth - 1), number(&dice, depth: depth - 1))
            return (
                .function(name, [left.node, right.node]),
                { row in
                    guard let a = left.value(row), let b = right.value(row) else { return nil }
                    return apply(a, b)
                }
            )
        }
    }

    private static func numbers(_ dice: inout Dice) -> RandomPredicate {
        let (left, right) = (number(&dice, depth: 2), number(&dice, depth: 2))
        let comparisons: [(ComparisonNode.Operator, (Int, Int) -> Bool)] = [
            (.lessThan, { $0 < $1 }), (.lessThanOrEqualTo, { $0 <= $1 }),
            (.greaterThan, { $0 > $1 }), (.greaterThanOrEqualTo, { $0 >= $1 }),
        ]
        switch dice.below(3) {
        case 0:
            return comparison(left.node, .equalTo, right.node) { left.value($0) == right.value($0) }
        case 1:
            return comparison(left.node, .notEqualTo, right.node) {
                left.value($0) != right.value($0)
            }
        default:
            let (sign, compare) = dice.pick(comparisons)
            return comparison(left.node, sign, right.node) { row in
                guard let a = left.value(row), let b = right.value(row) else { return false }
                return compare(a, b)
            }
        }
    }

    // MARK: Texts and lists

    private static func texts(_ dice: inout Dice) -> RandomPredicate {
        let wanted = dice.text()
        let ignoresCase = dice.below(2) == 0
        let tests: [(ComparisonNode.Operator, (String, String) -> Bool)] = [
            (.beginsWith, { $0.hasPrefix($1) }), (.endsWith, { $0.hasSuffix($1) }),
            (.contains, { $1.isEmpty || $0.range(of: $1) != nil }), (.equalTo, { $0 == $1 }),
        ]
        let (sign, test) = dice.pick(tests)
        return comparison(
            .keyPath(["s"]), sign, .constant(wanted), options: ignoresCase ? .caseInsensitive : []
        ) { row in
            guard let text = row.s, let wanted else { return sign == .equalTo && row.s == wanted }
            return ignoresCase ? test(text.lowercased(), wanted.lowercased()) : test(text, wanted)
        }
    }

    private static func lists(_ dice: inout Dice) -> RandomPredicate {
        let limit = dice.below(5)
        let list = ExpressionNode.keyPath(["list"])
        let limitNode = ExpressionNode.constant(limit)
        switch dice.below(5) {
        case 0:
            return comparison(list, .lessThan, limitNode, .any) { $0.list.contains { $0 < limit } }
        case 1:
            return comparison(list, .lessThan, limitNode, .all) {
                $0.list.allSatisfy { $0 < limit }
            }
        case 2: return comparison(list, .contains, limitNode) { $0.list.contains(limit) }
        case 3:
            return comparison(.keyPath(["list", "@count"]), .greaterThan, limitNode) {
                $0.list.count > limit
            }
        default:
            let inner = PredicateNode.comparison(
                ComparisonNode(left: .variable("x"), operator: .greaterThan, right: .keyPath(["a"]))
            )
            let found = ExpressionNode.subquery(collection: list, variable: "x", predicate: inner)
            return comparison(.path(from: found, ["@count"]), .equalTo, limitNode) { row in
                row.list.filter { x in row.a.map { x > $0 } ?? false }.count == limit
            }
        }
    }

    private static func comparison(
        _ left: ExpressionNode, _ sign: ComparisonNode.Operator, _ right: ExpressionNode,
        _ modifier: ComparisonNode.Modifier = .direct, options: ComparisonNode.Options = [],
        holds: @escaping (Row) -> Bool
    ) -> RandomPredicate {
        let node = ComparisonNode(
            left: left, operator: sign, right: right, modifier: modifier, options: options)
        return RandomPredicate(.comparison(node), holds)
    }
}
