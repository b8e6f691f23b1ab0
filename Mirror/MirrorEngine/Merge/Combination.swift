internal import Foundation
internal import Stores

/// The rules that make a new value of two: each answers nil where the values do not allow it.
enum Combination {
    /// Remote plus what this device added since the base. Integers that would overflow are not
    /// combined.
    static func counter(
        base: AttributeValue, local: AttributeValue, remote: AttributeValue
    ) -> AttributeValue? {
        switch (number(base), local, remote) {
        case (.integer(let base), .integer(let local), .integer(let remote)):
            let (added, overflow) = local.subtractingReportingOverflow(base)
            let (sum, overflow2) = remote.addingReportingOverflow(added)
            return overflow || overflow2 ? nil : .integer(sum)
        case (let base, .double(let local), .double(let remote)):
            let sum = remote + (local - (double(base) ?? 0))
            // Infinities that are no sum would be no value.
            return sum.isNaN ? nil : .double(sum)
        case (.decimal(let base), .decimal(let local), .decimal(let remote)):
            return .decimal(remote + (local - base))
        case (.integer(0), .decimal(let local), .decimal(let remote)):
            return .decimal(remote + local)
        default: return nil
        }
    }

    static func larger(_ one: AttributeValue, _ other: AttributeValue) -> AttributeValue? {
        precedes(one, other).map { $0 ? other : one }
    }

    static func smaller(_ one: AttributeValue, _ other: AttributeValue) -> AttributeValue? {
        precedes(one, other).map { $0 ? one : other }
    }

    /// Keeps what either side put into a text. Answers nil for what is no text, or too long.
    static func text(
        base: AttributeValue, local: AttributeValue, remote: AttributeValue
    ) -> AttributeValue? {
        guard case .text(let local) = local, case .text(let remote) = remote else { return nil }
        let common: String? = if case .text(let text) = base { text } else { nil }
        return TextMerge.merge(base: common, local: local, remote: remote).map { .text($0) }
    }

    /// The counter's base: an absent one is zero.
    private static func number(_ value: AttributeValue) -> AttributeValue {
        value.isNull ? .integer(0) : value
    }

    private static func double(_ value: AttributeValue) -> Double? {
        switch value {
        case .double(let double): double
        case .integer(let integer): Double(integer)
        default: nil
        }
    }

    /// Whether `one` comes before `other`; nil for values that have no order between them.
    private static func precedes(_ one: AttributeValue, _ other: AttributeValue) -> Bool? {
        switch (one, other) {
        case (.null, _): true
        case (_, .null): false
        case (.integer(let one), .integer(let other)): one < other
        case (.double(let one), .double(let other)): one < other
        case (.decimal(let one), .decimal(let other)): one < other
        case (.date(let one), .date(let other)): one < other
        case (.text(let one), .text(let other)):
            one.utf8.lexicographicallyPrecedes(other.utf8)
        default: nil
        }
    }
}
