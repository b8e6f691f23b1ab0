import Foundation
import Predicates
import Stores

/// Predicates and sort orders over the people of a `SocietyWorld`, from a seed.
struct RandomQuery {
    var random: SeededRandom
    /// Whether it may ask that something does *not* hold, on which the rules of SQL and of memory
    /// differ where values are missing.
    let asksNegatives: Bool
    /// Whether it may compare what is missing for want of members, such as a greatest value.
    let asksMissing: Bool
    let people: [RowID]
    let tags: [RowID]
    private(set) var clauses = 0

    init(seed: UInt64, asksNegatives: Bool, asksMissing: Bool, world: SocietyWorld) {
        random = SeededRandom(seed: seed)
        self.asksNegatives = asksNegatives
        self.asksMissing = asksMissing
        people = world.people
        tags = world.tags
    }

    private mutating func one<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    mutating func predicate(depth: Int = 3) -> PredicateNode {
        let kind = Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random)
        switch kind {
        case 6, 7: return .and([predicate(depth: depth - 1), predicate(depth: depth - 1)])
        case 8: return .or([predicate(depth: depth - 1), predicate(depth: depth - 1)])
        case 9 where asksNegatives: return .not(predicate(depth: depth - 1))
        default: return clause(depth: depth)
        }
    }

    mutating func sort() -> [NSSortDescriptor] {
        let paths = ["name", "age", "born", "home.name", "home.mayor.age", "email"]
        let comparisons: [SortComparison] = [
            .compare, .caseInsensitive, .localizedStandard, .localized,
        ]
        return (0..<Int.random(in: 0...2, using: &random)).map { _ in
            NSSortDescriptor(
                key: one(paths), ascending: Bool.random(using: &random),
                comparison: one(comparisons))
        }
    }

    // MARK: Clauses

    private mutating func clause(depth: Int) -> PredicateNode {
        clauses += 1
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1: return number(.keyPath([one(["age", "home.mayor.age"])].flatMap(Self.path)))
        case 2, 3:
            return text(
                .keyPath(Self.path(one(["name", "home.name", "email", "home.mayor.name"]))))
        case 4: return date()
        case 5: return nilTest()
        case 6: return identity()
        case 7: return any(depth: depth)
        case 8: return subquery(depth: depth)
        case 9: return aggregate()
        case 10: return computedText()
        case 11: return twoPaths()
        case 12: return computedBounds()
        case 13: return sized()
        case 14: return placed()
        default: return number(arithmetic())
        }
    }

    private static func path(_ text: String) -> [String] {
        text.split(separator: ".").map(String.init)
    }

    private func comparison(
        _ left: ExpressionNode, _ name: ComparisonNode.Operator, _ right: ExpressionNode,
        _ modifier: ComparisonNode.Modifier = .direct, _ options: ComparisonNode.Options = []
    ) -> PredicateNode {
        .comparison(
            .init(left: left, operator: name, right: right, modifier: modifier, options: options))
    }

    private mutating func number(
        _ left: ExpressionNode, _ modifier: ComparisonNode.Modifier = .direct
    ) -> PredicateNode {
        var names: [ComparisonNode.Operator] = [
            .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .in,
            .between,
        ]
        if asksNegatives { names.append(.notEqualTo) }
        let name = one(names)
        let low = Int.random(in: -1..<9, using: &random)
        switch name {
        case .in:
            let lists: [[Any]] = [
                [low, low + 2, 5], [low, NSNull()], ["\(low)", low + 1, "none"], [],
            ]
            return comparison(left, .in, .constant(one(lists)), modifier)
        case .between: return comparison(left, .between, .constant([low, low + 3]), modifier)
        default:
            let value: Any = Bool.random(using: &random) ? low : Double(low) + 0.5
            return comparison(left, name, .constant(value), modifier)
        }
    }

    private mutating func text(
        _ left: ExpressionNode, _ modifier: ComparisonNode.Modifier = .direct
    ) -> PredicateNode {
        let options: ComparisonNode.Options = one([
            [], [], .caseInsensitive, .diacriticInsensitive,
            [.caseInsensitive, .diacriticInsensitive],
            .normalized,
        ])
        var names: [ComparisonNode.Operator] = [
            .equalTo, .lessThan, .greaterThanOrEqualTo, .beginsWith, .endsWith, .contains, .like,
            .matches, .in,
        ]
        if asksNegatives { names.append(.notEqualTo) }
        let word = one(SocietyWorld.names)
        switch one(names) {
        case .like:
            return comparison(
                left, .like, .constant(one(Self.wildcards)), modifier,
                options)
        case .matches:
            return comparison(
                left, .matches, .constant(one(["[aA].*", ".*[oö].*", "ada", "..."])), modifier,
                options)
        case .in:
            let other: Any = Bool.random(using: &random) ? one(SocietyWorld.names) : NSNull()
            return comparison(left, .in, .constant([word, other]), modifier, options)
        case .beginsWith:
            return comparison(
                left, .beginsWith, .constant(String(word.prefix(1))), modifier, options)
        case .endsWith:
            return comparison(left, .endsWith, .constant(String(word.suffix(2))), modifier, options)
        case .contains:
            return comparison(
                left, .contains, .constant(String(word.dropFirst().prefix(1))), modifier, options)
        case let name: return comparison(left, name, .constant(word), modifier, options)
        }
    }

    private static let wildcards = [
        "a*", "*a", "?da", "*o*", "A?A", "a\\*c", "*?", "ad?", "?*a", "**", "*d*a", "z?ë", "*ö*",
    ]

    private mutating func date() -> PredicateNode {
        let seconds = Double(Int.random(in: 0..<5, using: &random)) * 1000
        if Bool.random(using: &random) {
            let later = ExpressionNode.function("add:to:", [.keyPath(["born"]), .constant(1000)])
            return comparison(
                later, .greaterThan, .constant(Date(timeIntervalSinceReferenceDate: seconds)))
        }
        let names: [ComparisonNode.Operator] = [.lessThan, .greaterThanOrEqualTo, .equalTo]
        return comparison(
            .keyPath(["born"]), one(names), .constant(Date(timeIntervalSinceReferenceDate: seconds))
        )
    }

    private mutating func nilTest() -> PredicateNode {
        let path = Self.path(one(["name", "age", "home", "home.name", "born", "home.mayor"]))
        return comparison(.keyPath(path), one([.equalTo, .notEqualTo]), .constant(nil))
    }

    private mutating func identity() -> PredicateNode {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            return comparison(
                .evaluatedObject, .in, .constant([one(people), one(people), one(tags)] as [Any]))
        case 1: return comparison(.keyPath(["home", "mayor"]), .equalTo, .constant(one(people)))
        case 2: return comparison(.keyPath(["tags"]), .contains, .constant(one(tags)))
        case 3: return comparison(.constant(one(people)), .in, .keyPath(["friends"]))
        default:
            return comparison(.keyPath(["favorites"]), .in, .constant([one(tags)] as [Any]), .any)
        }
    }

    private mutating func any(depth: Int) -> PredicateNode {
        let modifier: ComparisonNode.Modifier =
            asksNegatives && Bool.random(using: &random) ? .all : .any
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return number(.keyPath(["tags", "rank"]), modifier)
        case 1:
            return text(
                .keyPath(Self.path(one(["tags.name", "favorites.name", "friends.home.name"]))),
                modifier)
        case 2: return number(.keyPath(["friends", "age"]), modifier)
        case 3:
            return comparison(
                .keyPath(["friends", "age"]), one(pathOrders),
                .keyPath(["age"]), modifier)
        default: return text(.keyPath(["friends", "tags", "name"]), modifier)
        }
    }

    private mutating func subquery(depth: Int) -> PredicateNode {
        let variable = "x\(depth)"
        var inner: PredicateNode
        let collection: [String]
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            collection = ["friends"]
            inner = .and([
                number(.path(from: .variable(variable), ["age"])),
                comparison(
                    .path(from: .variable(variable), ["age"]), .lessThanOrEqualTo, .keyPath(["age"])
                ),
            ])
        case 1:
            collection = ["tags"]
            inner = text(.path(from: .variable(variable), ["name"]))
        default:
            collection = ["friends"]
            let tags = ExpressionNode.subquery(
                collection: .path(from: .variable(variable), ["tags"]), variable: "y",
                predicate: number(.path(from: .variable("y"), ["rank"])))
            inner = comparison(.path(from: tags, ["@count"]), .greaterThan, .constant(0))
        }
        let found = ExpressionNode.subquery(
            collection: .keyPath(collection), variable: variable, predicate: inner)
        return number(.path(from: found, ["@count"]))
    }

    private mutating func aggregate() -> PredicateNode {
        var paths = [
            "tags.@count", "friends.@count", "notes.@count", "tags.@sum.rank", "friends.@sum.age",
        ]
        if asksMissing {
            paths += ["tags.@max.rank", "friends.@min.age", "tags.@avg.rank", "friends.@avg.age"]
        }
        return number(.keyPath(Self.path(one(paths))))
    }

    private mutating func arithmetic() -> ExpressionNode {
        let age = ExpressionNode.keyPath(["age"])
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return .function("add:to:", [age, .constant(2)])
        case 1: return .function("multiply:by:", [age, .keyPath(["home", "mayor", "age"])])
        case 2: return .function("divide:by:", [age, .constant(2)])
        case 3: return .function("from:subtract:", [.constant(10), age])
        case 4: return .function("length:", [.keyPath(["name"])])
        case 5: return .function("abs:", [.function("from:subtract:", [age, .constant(5)])])
        default:
            return .conditional(
                comparison(age, .greaterThan, .constant(4)), .constant(1), .constant(7))
        }
    }

    // MARK: Computed on both sides

    /// A text that a function, a choice or a cast makes.
    private mutating func computedText() -> PredicateNode {
        let name = ExpressionNode.keyPath(["name"])
        let made: [ExpressionNode] = [
            .function("uppercase:", [name]), .function("lowercase:", [name]),
            .function("canonical:", [name]),
            .function(FunctionName.cast, [.keyPath(["age"]), .constant("NSString")]),
            .conditional(
                comparison(.keyPath(["age"]), .lessThan, .constant(5)), name,
                .keyPath(["home", "name"])),
        ]
        return text(one(made))
    }

    /// How two paths are compared: two missing values are equal in memory only.
    private var pathOrders: [ComparisonNode.Operator] {
        let orders: [ComparisonNode.Operator] = [.lessThan, .greaterThanOrEqualTo]
        return asksNegatives ? orders + [.equalTo, .notEqualTo] : orders
    }

    private mutating func twoPaths() -> PredicateNode {
        let pairs = [("name", "home.name"), ("name", "home.mayor.name"), ("age", "home.mayor.age")]
        let (left, right) = one(pairs)
        let options: ComparisonNode.Options = left == "name" ? one([[], .caseInsensitive]) : []
        return comparison(
            .keyPath(Self.path(left)), one(pathOrders), .keyPath(Self.path(right)), .direct, options
        )
    }

    private mutating func computedBounds() -> PredicateNode {
        let age = ExpressionNode.keyPath(["age"])
        let lower = ExpressionNode.function("from:subtract:", [age, .constant(2)])
        let uppers: [ExpressionNode] = [
            .keyPath(["home", "mayor", "age"]), .function("add:to:", [age, .constant(1)]),
            .constant(6),
        ]
        let bounds = ExpressionNode.aggregate([lower, one(uppers)])
        let subject = one([age, .keyPath(["home", "mayor", "age"])])
        return comparison(subject, .between, bounds)
    }

    /// The number of members, in its other spellings.
    private mutating func sized() -> PredicateNode {
        let members = ExpressionNode.keyPath([one(["tags", "friends", "notes", "favorites"])])
        let size = ExpressionNode.function(
            FunctionName.index, [members, .function(FunctionName.sizeSymbol, [])])
        return number(one([size, .function("count:", [members])]))
    }

    /// A member of an ordered relationship by its place; there may be none.
    private mutating func placed() -> PredicateNode {
        let places: [ExpressionNode] = [
            .function(FunctionName.firstSymbol, []), .function(FunctionName.lastSymbol, []),
            .constant(0), .constant(1),
        ]
        let place = one(places)
        func member(_ path: String...) -> ExpressionNode {
            .function(FunctionName.index, [.keyPath(path), place])
        }
        guard asksMissing else { return sized() }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return text(member("favorites", "name"))
        case 1: return number(.path(from: member("favorites"), ["rank"]))
        case 2: return comparison(member("notes"), .equalTo, .constant(nil))
        default: return comparison(member("favorites"), .equalTo, .constant(one(tags)))
        }
    }
}
