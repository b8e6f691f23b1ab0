public import Foundation

/// How two values are put in order. Raw values are the selectors of Apple's descriptors that stores
/// know.
public enum SortComparison: String, Sendable {
    case compare = "compare:"
    case caseInsensitive = "caseInsensitiveCompare:"
    case localized = "localizedCompare:"
    case localizedCaseInsensitive = "localizedCaseInsensitiveCompare:"
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
    public var ascending: Bool
    public var comparison: SortComparison

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
