internal import Foundation

/// How predicates compare values of any kind: by Apple's rules for objects in memory.
enum ValueRules {
    /// Numbers are equal across widths, Booleans count as 0 and 1; nil equals nil only; a URL is
    /// the text that spells it, as its column is; other values of two kinds are never equal.
    static func equal(
        _ left: Constant, _ right: Constant, _ options: ComparisonNode.Options = []
    ) -> Bool {
        if let order = numericOrder(left, right) { return order == .orderedSame }
        return switch (left, right) {
        case (.text(let a), .text(let b)): TextRules.equal(a, b, options)
        case (.url(let a), .url(let b)):
            TextRules.equal(a.absoluteString, b.absoluteString, options)
        case (.url(let url), .text(let text)), (.text(let text), .url(let url)):
            TextRules.equal(url.absoluteString, text, options)
        case (.list(let a), .list(let b)):
            a.count == b.count
                && zip(a, b).allSatisfy { equal(Constant($0), Constant($1), options) }
        default: left == right
        }
    }

    /// Whether a list's element is the value. A text is a number's where it spells it, as columns
    /// of a database have it: `name IN %@` with `[1, 2]`; and an identifier is listed as its text.
    static func isListed(
        _ value: Constant, as element: Constant, _ options: ComparisonNode.Options
    ) -> Bool {
        switch (value, element) {
        case (.text(let text), _) where element.isNumber:
            Cast.cast(element, to: "NSString") as? String == text
        case (_, .text(let text)) where value.isNumber:
            equal(value, Constant(Cast.cast(.text(text), to: "NSNumber")))
        case (.uuid(let id), .text(let text)): UUID(uuidString: text) == id
        default: equal(element, value, options)
        }
    }

    /// Returns how two values are ordered, and nil when one of them is absent or not a number.
    /// Throws `.typeMismatch` for values that have no order.
    static func order(
        _ left: Constant, _ right: Constant, _ options: ComparisonNode.Options = []
    ) throws -> ComparisonResult? {
        if let order = numericOrder(left, right) { return order }
        switch (left, right) {
        case (.null, _), (_, .null): return nil
        case (.text(let a), .text(let b)): return TextRules.order(a, b, options)
        case (.date(let a), .date(let b)): return a.compare(b)
        case (.uuid(let a), .uuid(let b)): return bytes(a.uuid, b.uuid)
        case (.url(let a), .url(let b)):
            return TextRules.order(a.absoluteString, b.absoluteString, options)
        case (.url(let url), .text(let text)):
            return TextRules.order(url.absoluteString, text, options)
        case (.text(let text), .url(let url)):
            return TextRules.order(text, url.absoluteString, options)
        case (.data(let a), .data(let b)):
            if a == b { return .orderedSame }
            return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
        default:
            if left.isNumber, right.isNumber { return nil }
            throw EvaluationError(
                .typeMismatch,
                "A \(left.kindName) has no order with a \(right.kindName); compare equal kinds."
            )
        }
    }

    /// Returns the order of two numbers, and nil when one is none or NaN.
    private static func numericOrder(_ left: Constant, _ right: Constant) -> ComparisonResult? {
        if let a = left.integer, let b = right.integer { return compared(a, b) }
        guard left.isNumber, right.isNumber else { return nil }
        if left.isDecimal || right.isDecimal, let a = left.decimal, let b = right.decimal {
            return compared(a, b)
        }
        guard let a = left.double, let b = right.double, !a.isNaN, !b.isNaN else { return nil }
        if let integer = left.integer { return order(integer, b) }
        if let integer = right.integer { return order(integer, a).reversed }
        return compared(a, b)
    }

    /// Exact, as in a database: the real next to a large integer may be another number.
    private static func order(_ integer: Int, _ real: Double) -> ComparisonResult {
        guard real < 0x1p63 else { return .orderedAscending }
        guard real >= -0x1p63 else { return .orderedDescending }
        let whole = Int(real.rounded(.down))
        if integer != whole { return compared(integer, whole) }
        return real > Double(whole) ? .orderedAscending : .orderedSame
    }

    private static func compared<Value: Comparable>(_ a: Value, _ b: Value) -> ComparisonResult {
        a < b ? .orderedAscending : (b < a ? .orderedDescending : .orderedSame)
    }

    private static func bytes(_ left: uuid_t, _ right: uuid_t) -> ComparisonResult {
        withUnsafeBytes(of: left) { a in
            withUnsafeBytes(of: right) { b in
                if a.elementsEqual(b) { return .orderedSame }
                return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
            }
        }
    }
}

extension Constant {
    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    var isNumber: Bool {
        switch self {
        case .bool, .integer, .real, .decimal: true
        case .null, .text, .date, .uuid, .url, .data, .list, .other: false
        }
    }

    /// Whether it is one value: no list, no object that may be one, and not missing.
    var isSingle: Bool {
        switch self {
        case .bool, .integer, .real, .decimal, .text, .date, .uuid, .url, .data: true
        case .null, .list, .other: false
        }
    }

    var isDecimal: Bool {
        if case .decimal = self { true } else { false }
    }

    /// The number when it is an integer or a Boolean.
    var integer: Int? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): number
        default: nil
        }
    }

    var double: Double? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Double(number)
        case .real(let number): number
        case .decimal(let number): number.nearestReal
        default: nil
        }
    }

    var decimal: Decimal? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Decimal(number)
        case .real(let number): Self.decimal(number)
        case .decimal(let number): number
        default: nil
        }
    }

    /// The real as a decimal, with the digits that spell it: those that Foundation makes are others
    /// from the 16th on. Nil where it is too large or too small for one, too.
    private static func decimal(_ number: Double) -> Decimal? {
        guard number.isFinite else { return nil }
        let made = Decimal(number)
        return made.isNaN ? nil : Decimal(string: "\(number)") ?? made
    }

    /// A text, or the text of a URL.
    var spelling: String? {
        switch self {
        case .text(let text): text
        case .url(let url): url.absoluteString
        default: nil
        }
    }

    /// What to call the value in a message, without showing it.
    var kindName: String {
        switch self {
        case .null: "missing value"
        case .bool: "Boolean"
        case .integer, .real, .decimal: "number"
        case .text: "text"
        case .date: "date"
        case .uuid: "UUID"
        case .url: "URL"
        case .data: "data"
        case .list: "list"
        case .other(let value): "\(type(of: value))"
        }
    }
}
