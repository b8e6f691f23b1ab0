import Foundation
import Predicates
import Stores

/// Random conditions over one entity of the `OracleModel`.
struct OracleQueryMaker {
    let entity: String
    let state: OracleState
    var random: SeededRandom

    private static let numbers = [
        "Asset": ["size"], "Movie": ["size"], "Clip": ["size", "length"],
        "Trailer": ["length", "size"], "Person": ["age"], "Tag": ["rank"], "Ticket": ["seat"],
    ]
    private static let words = [
        "Asset": ["name", "code"], "Movie": ["name", "title"], "Clip": ["title", "name"],
        "Trailer": ["title", "name"], "Person": ["nick"], "Tag": ["word"],
    ]
    private static let patterns = [
        "*a", "a*", "?", "*", "??", "*é", "*e\u{301}", "ÅNG*", "*RÖM", "*m", "o\u{2A}", "naï?e", "",
    ]

    private mutating func one<Element>(_ elements: [Element], or other: Element) -> Element {
        elements.randomElement(using: &random) ?? other
    }

    mutating func query(depth: Int = 2) -> OracleQuery {
        switch Int.random(in: 0..<(depth > 0 ? 14 : 10), using: &random) {
        case 10: .not(query(depth: depth - 1))
        case 11, 12: .and([query(depth: depth - 1), query(depth: depth - 1)])
        case 13: .or([query(depth: depth - 1), query(depth: depth - 1)])
        default: clause()
        }
    }

    private mutating func clause() -> OracleQuery {
        let isAsset = OracleState.isKind(entity, of: "Asset")
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return number(path(Self.numbers, or: "age"), .direct)
        case 1: return text(path(Self.words, or: "nick"), .direct)
        case 2: return membership()
        case 3 where isAsset: return exact()
        case 4: return range()
        case 5: return quantified()
        case 6 where isAsset: return pointing()
        case 7:
            let names = (isAsset ? ["owner"] : []) + [one(Self.numbers[entity] ?? [], or: "seat")]
            return .isNil([one(names, or: "seat")], Bool.random(using: &random))
        default: return text(path(Self.words, or: "nick"), .direct)
        }
    }

    /// An attribute of the entity, or of what a to-one of it points at.
    private mutating func path(_ names: [String: [String]], or other: String) -> [String] {
        let hop = OracleState.isKind(entity, of: "Asset") ? "owner" : "holder"
        let hasHop = hop == "owner" || entity == "Ticket"
        if hasHop, names[entity] == nil || Int.random(in: 0..<4, using: &random) == 0 {
            return [hop, other]
        }
        return [one(names[entity] ?? [], or: "size")]
    }

    private mutating func options() -> OracleQuery.Options {
        one(
            [
                [], .caseInsensitive, .diacriticInsensitive,
                [.caseInsensitive, .diacriticInsensitive],
            ],
            or: [])
    }

    private mutating func number(
        _ path: [String], _ modifier: OracleQuery.Modifier
    ) -> OracleQuery {
        let names: [ComparisonNode.Operator] = [
            .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan,
            .greaterThanOrEqualTo,
        ]
        return .compare(
            path, one(names, or: .equalTo), .integer(.random(in: -3...9, using: &random)), [],
            modifier)
    }

    private mutating func text(_ path: [String], _ modifier: OracleQuery.Modifier) -> OracleQuery {
        let text = one(OracleModel.texts, or: "")
        let scalars = text.unicodeScalars
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            return .compare(
                path, one([.equalTo, .notEqualTo, .lessThan], or: .equalTo), .text(text),
                options(), modifier)
        case 1:
            return .text(
                path, .beginsWith, String(String.UnicodeScalarView(scalars.prefix(2))), options(),
                modifier)
        case 2:
            return .text(
                path, .endsWith, String(String.UnicodeScalarView(scalars.suffix(1))), options(),
                modifier)
        case 3:
            return .text(
                path, .contains, String(String.UnicodeScalarView(scalars.dropFirst().prefix(2))),
                options(), modifier)
        default: return .text(path, .like, one(Self.patterns, or: "*"), options(), modifier)
        }
    }

    private mutating func membership() -> OracleQuery {
        let holdsNil = Bool.random(using: &random)
        let count = Int.random(in: 0...3, using: &random)
        if Bool.random(using: &random), Self.words[entity] != nil {
            var values = (0..<count).map { _ in AttributeValue.text(one(OracleModel.texts, or: ""))
            }
            if holdsNil { values.append(.null) }
            return .isIn(path(Self.words, or: "nick"), values, options())
        }
        var values = (0..<count).map { _ in
            AttributeValue.integer(.random(in: -3...9, using: &random))
        }
        if holdsNil { values.append(.null) }
        return .isIn(path(Self.numbers, or: "age"), values, [])
    }

    /// Values whose exact form counts.
    private mutating func exact() -> OracleQuery {
        let name: ComparisonNode.Operator = one(
            [.equalTo, .lessThan, .greaterThanOrEqualTo, .notEqualTo], or: .equalTo)
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return .compare(
                ["price"], name, .decimal(one(OracleModel.decimals, or: 0)), [], .direct)
        case 1: return .compare(["at"], name, .date(one(OracleModel.dates, or: 0)), [], .direct)
        default:
            return .compare(["ratio"], name, .double(one(OracleModel.doubles, or: 0)), [], .direct)
        }
    }

    /// Both ends of a range; the upper one is computed from another value of the object.
    private mutating func range() -> OracleQuery {
        let names = Self.numbers[entity] ?? ["size"]
        return .between(
            [one(names, or: "size")], .integer(.random(in: -3...3, using: &random)),
            plus: one(names, or: "size"), .random(in: -2...2, using: &random))
    }

    private mutating func quantified() -> OracleQuery {
        let modifier: OracleQuery.Modifier = Bool.random(using: &random) ? .any : .all
        switch entity {
        case "Person":
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return number(["assets", "size"], modifier)
            case 1: return number(["friends", "age"], modifier)
            case 2: return text(["pins", "name"], modifier)
            default: return number(["tickets", "seat"], modifier)
            }
        case "Movie", "Clip", "Trailer":
            return Bool.random(using: &random)
                ? number(["tags", "rank"], modifier) : text(["tags", "word"], modifier)
        case "Tag":
            return Bool.random(using: &random)
                ? number(["movies", "size"], modifier) : text(["movies", "title"], modifier)
        default: return number(path(Self.numbers, or: "age"), .direct)
        }
    }

    private mutating func pointing() -> OracleQuery {
        let people = state.ids(of: "Person")
        var ids: [RowID?] = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
            people.randomElement(using: &random)
        }
        if Bool.random(using: &random) { ids.append(nil) }
        return .points("owner", ids)
    }
}
