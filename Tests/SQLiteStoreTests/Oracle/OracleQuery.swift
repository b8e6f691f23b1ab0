import Foundation
import Predicates
import Stores

/// A condition with its two meanings: the tree that stores read, and what it says of a thing in
/// plain dictionaries. `nil` is SQL's "unknown", which memory does not know.
indirect enum OracleQuery: CustomStringConvertible {
    typealias Options = ComparisonNode.Options

    case compare([String], ComparisonNode.Operator, AttributeValue, Options, Modifier)
    case isIn([String], [AttributeValue], Options)
    case between([String], AttributeValue, plus: String, Int)
    case text([String], ComparisonNode.Operator, String, Options, Modifier)
    case isNil([String], Bool)
    case points(String, [RowID?])
    case not(OracleQuery)
    case and([OracleQuery])
    case or([OracleQuery])

    enum Modifier { case direct, any, all }

    // MARK: As a tree

    var node: PredicateNode {
        switch self {
        case .compare(let path, let name, let value, let options, let modifier):
            Self.comparison(path, name, .constant(Self.plain(value)), options, modifier)
        case .isIn(let path, let values, let options):
            Self.comparison(
                path, .in, .constant(values.map { Self.plain($0) ?? NSNull() }), options, .direct)
        case .between(let path, let low, let other, let plus):
            Self.comparison(
                path, .between,
                .aggregate([
                    .constant(Self.plain(low)),
                    .function("add:to:", [.keyPath([other]), .constant(plus)]),
                ]), [], .direct)
        case .text(let path, let name, let part, let options, let modifier):
            Self.comparison(path, name, .constant(part), options, modifier)
        case .isNil(let path, let isNil):
            Self.comparison(path, isNil ? .equalTo : .notEqualTo, .constant(nil), [], .direct)
        case .points(let name, let ids):
            Self.comparison(
                [name], .in, .constant(ids.map { $0.map { $0 as Any } ?? NSNull() }), [], .direct)
        case .not(let part): .not(part.node)
        case .and(let parts): .and(parts.map(\.node))
        case .or(let parts): .or(parts.map(\.node))
        }
    }

    var description: String { node.description }

    private static func comparison(
        _ path: [String], _ name: ComparisonNode.Operator, _ right: ExpressionNode,
        _ options: Options, _ modifier: Modifier
    ) -> PredicateNode {
        let word: ComparisonNode.Modifier =
            switch modifier {
            case .direct: .direct
            case .any: .any
            case .all: .all
            }
        return .comparison(
            .init(
                left: .keyPath(path), operator: name, right: right, modifier: word,
                options: options))
    }

    private static func plain(_ value: AttributeValue) -> Any? {
        switch value {
        case .null: nil
        case .integer(let number): Int(number)
        case .double(let number): number
        case .decimal(let number): number
        case .text(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .uuid(let uuid): uuid
        case .uri(let text): URL(string: text)
        case .data(let data): data
        }
    }
}

/// What queries find in plain dictionaries.
struct OracleEvaluation {
    let state: OracleState
    /// Whether missing values are unknown, as in SQL, or values like others, as in memory.
    let isSQL: Bool

    func holds(_ query: OracleQuery, _ id: RowID) -> Bool? {
        switch query {
        case .compare(let path, let name, let value, let options, let modifier):
            return over(path, id, modifier) { compare($0, name, value, options) }
        case .isIn(let path, let values, let options):
            return member(value(path, id), values, options)
        case .between(let path, let low, let other, let plus):
            let high: AttributeValue =
                if case .integer(let number) = value([other], id) {
                    .integer(number + Int64(plus))
                } else { .null }
            let found = value(path, id)
            return and([
                compare(found, .greaterThanOrEqualTo, low, []),
                compare(found, .lessThanOrEqualTo, high, []),
            ])
        case .text(let path, let name, let part, let options, let modifier):
            return over(path, id, modifier) { test($0, name, part, options) }
        case .isNil(let path, let isNil):
            if let one = path.first, path.count == 1, ["owner", "star"].contains(one) {
                return (state.things[id]?.ones[one] == nil) == isNil
            }
            return value(path, id).isNull == isNil
        case .points(let name, let ids):
            let target = state.things[id]?.ones[name]
            if target == nil, !ids.contains(nil) { return unknown(false, isEmpty: ids.isEmpty) }
            return ids.contains(target)
        case .not(let part): return holds(part, id).map { !$0 }
        case .and(let parts): return and(parts.map { holds($0, id) })
        case .or(let parts):
            return and(parts.map { holds($0, id).map { !$0 } }).map { !$0 }
        }
    }

    private func and(_ parts: [Bool?]) -> Bool? {
        if parts.contains(false) { return false }
        return parts.contains(nil) ? nil : true
    }

    /// What a comparison with something missing gives.
    private func unknown(_ inMemory: Bool, isEmpty: Bool = false) -> Bool? {
        isSQL && !isEmpty ? nil : inMemory
    }

    // MARK: Values

    /// The value at the end of a path over to-ones.
    func value(_ path: [String], _ id: RowID) -> AttributeValue {
        guard let thing = state.things[id], let name = path.first else { return .null }
        if path.count == 1 { return thing.values[name] ?? .null }
        return thing.ones[name].map { value(Array(path.dropFirst()), $0) } ?? .null
    }

    /// A test over one value, or over the members of a to-many.
    private func over(
        _ path: [String], _ id: RowID, _ modifier: OracleQuery.Modifier,
        _ test: (AttributeValue) -> Bool?
    ) -> Bool? {
        if case .direct = modifier { return test(value(path, id)) }
        let answers = state.list(id, path[0]).map { test(value(Array(path.dropFirst()), $0)) }
        if case .any = modifier { return answers.contains(true) }
        return answers.allSatisfy { $0 == true }
    }

    private func compare(
        _ left: AttributeValue, _ name: ComparisonNode.Operator, _ right: AttributeValue,
        _ options: OracleQuery.Options
    ) -> Bool? {
        if left.isNull || right.isNull {
            let areEqual = left.isNull && right.isNull
            switch name {
            case .equalTo: return unknown(areEqual)
            case .notEqualTo: return unknown(!areEqual)
            default: return unknown(false)
            }
        }
        let order = Self.order(left, right, options)
        return switch name {
        case .equalTo: order == 0
        case .notEqualTo: order != 0
        case .lessThan: order < 0
        case .lessThanOrEqualTo: order <= 0
        case .greaterThan: order > 0
        default: order >= 0
        }
    }

    private func member(
        _ found: AttributeValue, _ values: [AttributeValue], _ options: OracleQuery.Options
    ) -> Bool? {
        if found.isNull {
            return values.contains(.null) ? true : unknown(false, isEmpty: values.isEmpty)
        }
        return values.contains { !$0.isNull && Self.order($0, found, options) == 0 }
    }

    /// Texts by their bytes once folded, numbers by value: −1, 0 or 1.
    static func order(
        _ left: AttributeValue, _ right: AttributeValue, _ options: OracleQuery.Options = []
    ) -> Int {
        func sign<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a > b ? 1 : 0 }
        switch (left, right) {
        case (.text(let a), .text(let b)):
            let (one, other) = (Array(folded(a, options).utf8), Array(folded(b, options).utf8))
            return one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
        case (.integer(let a), .integer(let b)): return sign(a, b)
        case (.decimal(let a), .decimal(let b)): return sign(a, b)
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)): return sign(a, b)
        default: return left == right ? 0 : 2
        }
    }

    static func folded(_ text: String, _ options: OracleQuery.Options) -> String {
        var made: String.CompareOptions = []
        if options.contains(.caseInsensitive) { made.insert(.caseInsensitive) }
        if options.contains(.diacriticInsensitive) { made.insert(.diacriticInsensitive) }
        return made.isEmpty ? text : text.folding(options: made, locale: nil)
    }

    private func test(
        _ found: AttributeValue, _ name: ComparisonNode.Operator, _ part: String,
        _ options: OracleQuery.Options
    ) -> Bool? {
        guard case .text(let text) = found else { return unknown(false) }
        let whole = Array(Self.folded(text, options).unicodeScalars)
        let wanted = Array(Self.folded(part, options).unicodeScalars)
        switch name {
        case .beginsWith: return whole.starts(with: wanted)
        case .endsWith: return whole.reversed().starts(with: wanted.reversed())
        case .contains:
            return (0...whole.count).contains { whole[$0...].starts(with: wanted) }
        default: return Self.isLike(whole[...], wanted[...])
        }
    }

    private static func isLike(
        _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
    ) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return (text.startIndex...text.endIndex).contains {
                isLike(text[$0...], pattern.dropFirst())
            }
        }
        guard let scalar = text.first, first == "?" || first == scalar else { return false }
        return isLike(text.dropFirst(), pattern.dropFirst())
    }
}
