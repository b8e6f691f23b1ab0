import CoreData
import Foundation

/// Formats of predicates over objects that have an attribute of each type, from a seed.
struct RandomKindQuery {
    var dice: Dice
    /// Whether values may be missing: then nothing is asked that the rules of SQL and of objects
    /// answer differently.
    let isPositive: Bool
    private(set) var arguments: [Any] = []

    static let ids = (0..<4).compactMap {
        UUID(uuidString: "8C5B3C3A-98E9-4C40-8B29-1F6B0A3F4E1\($0)")
    }
    static let addresses = (0..<4).compactMap { URL(string: "https://example.org/\($0)") }
    static let words = ["Ada", "ada", "Ångström", "Zoë", "a*c", "12", "", "Bo b"]
    static let blobs = (0..<3).map { Data(repeating: $0, count: 3) }
    static let colors = [["red"], ["red", "blue"], []]

    init(seed: UInt64, isPositive: Bool) {
        dice = Dice(seed)
        self.isPositive = isPositive
    }

    private mutating func one<Element>(_ elements: Element...) -> Element {
        elements[dice.below(elements.count)]
    }

    private mutating func given(_ value: Any) -> String {
        arguments.append(value)
        return "%@"
    }

    // MARK: Predicates

    mutating func predicate(depth: Int = 2) -> String {
        switch dice.below(depth > 0 ? 12 : 7) {
        case 7, 8: "(\(predicate(depth: depth - 1)) AND \(predicate(depth: depth - 1)))"
        case 9: "(\(predicate(depth: depth - 1)) OR \(predicate(depth: depth - 1)))"
        case 10 where !isPositive: "NOT (\(predicate(depth: depth - 1)))"
        case 10, 11: members(depth: depth)
        default: clause("")
        }
    }

    /// A comparison of what a prefix leads to.
    private mutating func clause(_ prefix: String) -> String {
        switch dice.below(9) {
        case 0, 1, 2: numbers(prefix)
        case 3, 4: texts(prefix)
        case 5: identities(prefix)
        case 6: dates(prefix)
        case 7: lists(prefix)
        default: exact(prefix)
        }
    }

    private mutating func members(depth: Int) -> String {
        let path = one("parts", "list", "links")
        switch dice.below(5) {
        case 0: return "ANY \(clause("\(path)."))"
        case 1 where !isPositive: return "ALL \(path).i16 \(order()) \(number())"
        case 2:
            let inner = clause("$p.")
            return "SUBQUERY(\(path), $p, \(inner)).@count \(order()) \(dice.below(3))"
        case 3:
            return "\(path).@count \(order()) \(dice.below(4))"
        default:
            // What has no members has no extremes, which are missing then.
            let name = isPositive ? "@sum" : one("@sum", "@max", "@min", "@avg")
            let test = "\(path).\(name).\(one("i16", "i64", "real")) \(order(isOrdered: true)) "
            return isPositive || name == "@sum"
                ? test + number() : "(\(path).@count > 0 AND \(test)\(number()))"
        }
    }

    private mutating func order(isOrdered: Bool = false) -> String {
        let all = ["<", "<=", ">", ">=", "=="]
        return isPositive || isOrdered ? all[dice.below(5)] : (all + ["!="])[dice.below(6)]
    }

    // MARK: Numbers

    private mutating func number() -> String {
        switch dice.below(10) {
        case 0..<5: "\(dice.below(12) - 3)"
        case 5, 6: "\(Double(dice.below(12)) - 2.5)"
        case 7: one("9223372036854775807", "-9223372036854775807", "4611686018427387904")
        case 8: one("1e300", "-1e300", "1e-300")
        default: "0"
        }
    }

    private mutating func numeric(_ prefix: String, depth: Int = 2) -> String {
        let names = ["i16", "i32", "i64", "flag", "real", "single", "amount", "i16", "big"]
        let own = prefix.isEmpty && dice.hits(20) ? "peer." : prefix
        guard depth > 0, !prefix.contains("parts"), !prefix.contains("li") else {
            return own + names[dice.below(names.count)]
        }
        func part(_ query: inout Self) -> String { query.numeric(prefix, depth: depth - 1) }
        func other(_ query: inout Self) -> String {
            query.dice.hits(60) ? query.number() : part(&query)
        }
        switch dice.below(14) {
        case 0: return "(\(part(&self)) + \(other(&self)))"
        case 1: return "(\(part(&self)) - \(other(&self)))"
        case 2: return "(\(part(&self)) * \(other(&self)))"
        case 3 where !isPositive: return "(\(part(&self)) / \(one("2", "3", "2.5", "-4")))"
        case 4:
            // A missing power of nothing would be asked for what it is not.
            let exponent = isPositive ? one("2", "0", "-1") : one("2", "0", "3")
            return "(\(own)\(one("i16", "i64", "real", "big")) ** \(exponent))"
        case 5 where !isPositive:
            let name = one("i16", "i32", "i64", "real", "big")
            return "modulus:by:(\(own)\(name), \(one("2", "3", "-4", "2.5")))"
        case 6:
            return "\(one("abs:", "floor:", "ceiling:", "trunc:"))(\(part(&self)))"
        case 7 where !isPositive:
            return "TERNARY(\(own)i16 > \(number()), \(own)i32, \(own)i64)"
        default: return own + names[dice.below(names.count)]
        }
    }

    private mutating func numbers(_ prefix: String) -> String {
        let left = numeric(prefix)
        switch dice.below(6) {
        case 0: return "\(left) BETWEEN {\(dice.below(5) - 2), \(dice.below(9))}"
        case 1: return "\(left) IN {\(dice.below(5)), \(dice.below(9)).5, 7}"
        // Two values that are missing are equal to objects alone.
        case 2 where prefix.isEmpty:
            return "\(left) \(isPositive ? one("<", ">=") : order()) \(numeric(""))"
        default: return "\(left) \(order()) \(number())"
        }
    }

    // MARK: Others

    private mutating func option() -> String { one("", "", "[c]", "[d]", "[cd]", "[n]") }

    private mutating func word() -> String { given(Self.words[dice.below(Self.words.count)]) }

    private mutating func texts(_ prefix: String) -> String {
        let names = ["text", "uri", "text"]
        var left = prefix + names[dice.below(3)]
        if prefix.isEmpty, dice.hits(20) {
            left = "\(one("uppercase:", "lowercase:", "canonical:"))(\(left))"
        }
        switch dice.below(6) {
        case 0: return "\(left) \(order())\(option()) \(word())"
        case 1: return "\(left) LIKE\(option()) \(one("'*a*'", "'?da'", "'*/1'", "'a\\\\*c'"))"
        case 2: return "\(left) MATCHES\(one("", "[c]")) \(one("'[aA].*'", "'.*[0-9]'", "'...'"))"
        default: return "\(left) \(one("BEGINSWITH", "CONTAINS", "ENDSWITH"))\(option()) \(word())"
        }
    }

    private mutating func identities(_ prefix: String) -> String {
        let id = Self.ids[dice.below(Self.ids.count)]
        let url = Self.addresses[dice.below(Self.addresses.count)]
        let order = order()
        switch dice.below(6) {
        case 0: return "\(prefix)uuid \(order) \(given(id))"
        case 1: return "\(prefix)uuid \(order) '\(id.uuidString)'"
        case 2: return "\(prefix)uuid IN {'\(id.uuidString.lowercased())', 'none'}"
        case 3: return "\(prefix)uri \(order) \(given(url))"
        case 4: return "\(prefix)uri \(order)\(option()) '\(url.absoluteString)'"
        default: return "\(prefix)uri IN {'\(url.absoluteString)', 'none'}"
        }
    }

    private mutating func dates(_ prefix: String) -> String {
        let date = given(Date(timeIntervalSinceReferenceDate: Double(dice.below(5)) * 1.5))
        guard prefix.isEmpty, dice.hits(30) else { return "\(prefix)when \(order()) \(date)" }
        return "when + \(dice.below(4)) \(order()) \(date)"
    }

    private mutating func lists(_ prefix: String) -> String {
        let name = one("i16", "text", "real", "amount", "flag")
        switch name {
        case "text": return "\(prefix)text IN\(option()) {'Ada', 'zoë', 12}"
        case "flag": return "\(prefix)flag \(order()) \(one("YES", "NO", "1"))"
        default: return "\(prefix)\(name) IN {1, 2.5, '3', 'x'}"
        }
    }

    private mutating func exact(_ prefix: String) -> String {
        let order = isPositive ? "==" : one("==", "!=")
        if prefix.isEmpty, dice.hits(25) {
            return "peer \(order) nil"
        }
        guard dice.hits(50), prefix.isEmpty else {
            return "\(prefix)data \(order) \(given(Self.blobs[dice.below(Self.blobs.count)]))"
        }
        return "colors \(order) \(given(Self.colors[dice.below(Self.colors.count)] as NSArray))"
    }

    // MARK: Orders

    mutating func sort() -> [NSSortDescriptor] {
        let keys = [
            "i16", "i64", "flag", "real", "single", "amount", "text", "when", "peer.i16",
            "peer.text", "big",
        ]
        var sort = (0..<dice.below(3)).map { _ in
            NSSortDescriptor(key: keys[dice.below(keys.count)], ascending: dice.hits(50))
        }
        sort.append(NSSortDescriptor(key: "number", ascending: true))
        return sort
    }
}
