public import Foundation

/// An order by the property at a key path. Source: Apple, SortDescriptor, which Foundation has on
/// Apple's platforms only.
///
/// Give it to a fetch with `NSSortDescriptor(_:)`. Missing values come first in forward order.
public struct SortDescriptor<Compared>: SortComparator, @unchecked Sendable {
    // @unchecked: key paths of properties capture nothing.
    /// Which way it sorts.
    public var order: SortOrder
    /// The property's path.
    public let keyPath: PartialKeyPath<Compared>?
    /// How texts are compared.
    public let comparison: SortComparison
    private let made: @Sendable (SortOrder, SortComparison) -> NSSortDescriptor

    /// Sorts by a property's own order.
    public init<Value>(_ keyPath: KeyPath<Compared, Value>, order: SortOrder = .forward) {
        self.init(keyPath, comparison: .compare, order: order)
    }

    /// Sorts by a text as people expect it (`localizedStandard`), as Apple's does.
    public init(_ keyPath: KeyPath<Compared, String>, order: SortOrder = .forward) {
        self.init(keyPath, comparison: .localizedStandard, order: order)
    }

    /// Sorts by a text as people expect it (`localizedStandard`), as Apple's does.
    public init(_ keyPath: KeyPath<Compared, String?>, order: SortOrder = .forward) {
        self.init(keyPath, comparison: .localizedStandard, order: order)
    }

    /// Sorts by a property with one of Apple's comparisons of texts.
    public init<Value>(
        _ keyPath: KeyPath<Compared, Value>, comparison: SortComparison,
        order: SortOrder = .forward
    ) {
        let path = Path(path: keyPath)
        self.order = order
        self.keyPath = keyPath
        self.comparison = comparison
        made = { order, comparison in
            PathSortDescriptor(path.path, ascending: order == .forward, comparison: comparison)
        }
    }

    /// Sorts by a text with one of Apple's comparators of texts.
    public init(
        _ keyPath: KeyPath<Compared, String>, comparator: SortComparison,
        order: SortOrder = .forward
    ) {
        self.init(keyPath, comparison: comparator, order: order)
    }

    /// Sorts by a text with one of Apple's comparators of texts.
    public init(
        _ keyPath: KeyPath<Compared, String?>, comparator: SortComparison,
        order: SortOrder = .forward
    ) {
        self.init(keyPath, comparison: comparator, order: order)
    }

    /// How two objects stand to each other.
    public func compare(_ lhs: Compared, _ rhs: Compared) -> ComparisonResult {
        foundation().compare(lhs, to: rhs)
    }

    /// Equal where path, comparison and order are.
    public static func == (left: Self, right: Self) -> Bool {
        left.keyPath == right.keyPath && left.order == right.order
            && left.comparison == right.comparison
    }

    /// Hashes path and order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(keyPath)
        hasher.combine(order)
    }

    /// The descriptor that fetch requests take.
    func foundation<Made: NSSortDescriptor>() -> Made {
        parsedOrTrapped {
            guard let made = made(order, comparison) as? Made else {
                throw PredicateFormatError(
                    .unsupported, position: 0,
                    expected: "NSSortDescriptor itself, not \(Made.self)", format: "")
            }
            return made
        }
    }

    private struct Path<Value>: @unchecked Sendable {
        // @unchecked: see SortDescriptor.
        let path: KeyPath<Compared, Value>
    }
}
