public import Foundation

/// How two values are put in order. Raw values are the selectors of Apple's descriptors that stores
/// know.
public enum SortComparison: String, Sendable {
    /// By value; texts letter by letter, capitals before small ones.
    case compare = "compare:"
    /// Texts without regard to case.
    case caseInsensitive = "caseInsensitiveCompare:"
    /// Texts by the user's language.
    case localized = "localizedCompare:"
    /// Texts by the user's language, without regard to case.
    case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
    /// Texts as people list files: numbers within them by value.
    case localizedStandard = "localizedStandardCompare:"
    /// A comparator of the app's: in memory only.
    case custom = ""

    /// Orders two texts. `custom` orders as `compare` does.
    public func order(_ left: String, _ right: String) -> ComparisonResult {
        switch self {
        case .compare, .custom: TextRules.order(left, right)
        case .caseInsensitive: TextRules.order(left, right, .caseInsensitive)
        case .localized: left.compare(right, options: [], range: nil, locale: .current)
        case .localizedCaseInsensitive:
            left.compare(right, options: .caseInsensitive, range: nil, locale: .current)
        case .localizedStandard: left.localizedStandardCompare(right)
        }
    }
}

/// A sort descriptor as a value.
public struct SortKey: Sendable, Hashable {
    /// One element per name or `@operator`; empty for the object itself.
    public var path: [String]
    /// False turns the order round.
    public var ascending: Bool
    /// How two values compare.
    public var comparison: SortComparison

    /// Smallest first, by value, unless it is said otherwise.
    public init(path: [String], ascending: Bool = true, comparison: SortComparison = .compare) {
        self.path = path
        self.ascending = ascending
        self.comparison = comparison
    }

    /// Orders two objects by this key; missing values come first when ascending. Throws
    /// `EvaluationError` for values without an order.
    public func order(_ left: Any?, _ right: Any?) throws -> ComparisonResult {
        let a = Constant(try KeyPathReading.value(of: path[...], in: left))
        let b = Constant(try KeyPathReading.value(of: path[...], in: right))
        let order = try ascendingOrder(a, b)
        return ascending ? order : order.reversed
    }

    private func ascendingOrder(_ a: Constant, _ b: Constant) throws -> ComparisonResult {
        switch (a, b) {
        case (.null, .null): .orderedSame
        case (.null, _): .orderedAscending
        case (_, .null): .orderedDescending
        case (.text(let left), .text(let right)): comparison.order(left, right)
        default: try ValueRules.order(a, b) ?? .orderedSame
        }
    }
}

extension ComparisonResult {
    var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedDescending: .orderedAscending
        case .orderedSame: .orderedSame
        @unknown default: self
        }
    }
}
