public import Foundation

// Sorting by Swift key paths of any value: Foundation's own initializer asks for `Comparable`,
// which optionals, Booleans and relationships are not.
extension SortKeyParsing where Self: NSSortDescriptor {
    /// Sorts by the property at a Swift key path: missing values first, texts by their bytes.
    ///
    /// A fetch sorts by the property's name in the model, in the store. Properties without a name
    /// there, and values without an order, are left as they stand.
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self = descriptor(keyPath, ascending, .compare)
    }

    /// Sorts by the property at a Swift key path with one of Apple's comparisons.
    public init<Root, Value>(
        keyPath: KeyPath<Root, Value>, ascending: Bool, comparison: SortComparison
    ) {
        self = descriptor(keyPath, ascending, comparison)
    }

    /// The same order as a descriptor of the newer form.
    public init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
        self = sortDescriptor.foundation()
    }
}

private func descriptor<Root, Value, Made: NSSortDescriptor>(
    _ path: KeyPath<Root, Value>, _ ascending: Bool, _ comparison: SortComparison
) -> Made {
    parsedOrTrapped {
        let made = PathSortDescriptor(path, ascending: ascending, comparison: comparison)
        guard let made = made as? Made else {
            throw PredicateFormatError(
                .unsupported, position: 0, expected: "NSSortDescriptor itself, not \(Made.self)",
                format: "")
        }
        return made
    }
}

/// A sort descriptor over a Swift key path to a value of any type.
final class PathSortDescriptor: NSSortDescriptor {
    let comparison: SortComparison
    private let path: AnyKeyPath

    init<Root, Value>(
        _ path: KeyPath<Root, Value>, ascending: Bool, comparison: SortComparison
    ) {
        self.comparison = comparison
        self.path = path
        super.init(keyPath: path, ascending: ascending) { _, _ in .orderedSame }
    }

    private init(reversing other: PathSortDescriptor) {
        comparison = other.comparison
        path = other.path
        // Foundation asks for a path with known types; `keyPath` answers with ours.
        super.init(keyPath: \String.count, ascending: !other.ascending)
    }

    override var keyPath: AnyKeyPath { path }

    /// Compares two values of the property.
    override var comparator: Comparator {
        let key = SortKey(path: [], comparison: comparison)
        return { (try? key.order($0, $1)) ?? .orderedSame }
    }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let key = SortKey(path: [], ascending: ascending, comparison: comparison)
        return (try? key.order(object1[keyPath: path], object2[keyPath: path])) ?? .orderedSame
    }

    override var reversedSortDescriptor: Any { PathSortDescriptor(reversing: self) }

    override var hash: Int { path.hashValue }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? PathSortDescriptor else { return false }
        return other.path == path && other.ascending == ascending
            && other.comparison == comparison
    }
}
