public import Foundation

/// Gives Foundation's `NSSortDescriptor` the initializers that corelibs marks unavailable; see
/// `PredicateFormatParsing`.
public protocol SortKeyParsing {}

extension NSSortDescriptor: SortKeyParsing {}

extension SortKeyParsing where Self: NSSortDescriptor {
    /// Sorts by a key path's text; nil sorts by the objects themselves.
    public init(key: String?, ascending: Bool) {
        self = keyed(key, ascending, .compare, nil)
    }

    /// Sorts by a key path's text with one of Apple's comparisons; it stands for `selector:`.
    public init(key: String?, ascending: Bool, comparison: SortComparison) {
        self = keyed(key, ascending, comparison, nil)
    }

    /// As without a selector: there are none here, but sources name nil for one.
    public init(key: String?, ascending: Bool, selector: Never?) {
        self = keyed(key, ascending, .compare, nil)
    }

    /// Sorts by a key path's text with a comparator of the app's: in memory only.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        self = keyed(key, ascending, .custom, comparator)
    }

    /// The key path's text, nil for the objects themselves or for a Swift key path.
    public var key: String? {
        guard let path = (self as? KeyedSortDescriptor)?.sortKey.path, !path.isEmpty else {
            return nil
        }
        return path.joined(separator: ".")
    }
}

private func keyed<Made: NSSortDescriptor>(
    _ key: String?, _ ascending: Bool, _ comparison: SortComparison, _ comparator: Comparator?
) -> Made {
    let path = key.map { $0.split(separator: ".").map(String.init) } ?? []
    let sortKey = SortKey(path: path, ascending: ascending, comparison: comparison)
    return parsedOrTrapped {
        guard let made = KeyedSortDescriptor(sortKey, comparator: comparator) as? Made else {
            throw PredicateFormatError(
                .unsupported, position: 0, expected: "NSSortDescriptor itself, not \(Made.self)",
                format: key ?? "")
        }
        return made
    }
}

/// Returns what `descriptor` sorts by, and nil for a Swift key path, whose name `naming` may know.
public func key(
    of descriptor: NSSortDescriptor, naming: (AnyKeyPath) -> String? = { _ in nil }
) -> SortKey? {
    if let keyed = descriptor as? KeyedSortDescriptor { return keyed.sortKey }
    guard let name = naming(descriptor.keyPath) else { return nil }
    return SortKey(
        path: name.split(separator: ".").map(String.init), ascending: descriptor.ascending,
        comparison: (descriptor as? PathSortDescriptor)?.comparison ?? .compare)
}

/// A sort descriptor over a key's name.
final class KeyedSortDescriptor: NSSortDescriptor {
    let sortKey: SortKey
    private let comparisonOfApp: Comparator?

    init(_ sortKey: SortKey, comparator: Comparator? = nil) {
        self.sortKey = sortKey
        comparisonOfApp = comparator
        // Foundation wants a Swift key path; nothing reads it, since `compare` is overridden.
        super.init(keyPath: \String.count, ascending: sortKey.ascending)
    }

    /// Compares two values of the property: the comparator that was given, or the order's own.
    override var comparator: Comparator {
        if let comparisonOfApp { return comparisonOfApp }
        let key = SortKey(path: [], comparison: sortKey.comparison)
        return { (try? key.order($0, $1)) ?? .orderedSame }
    }

    /// Values without an order are left as they stand.
    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        guard let comparator = comparisonOfApp else {
            return (try? sortKey.order(object1, object2)) ?? .orderedSame
        }
        let path = sortKey.path[...]
        guard let a = try? KeyPathReading.value(of: path, in: object1),
            let b = try? KeyPathReading.value(of: path, in: object2)
        else { return .orderedSame }
        let order = comparator(a, b)
        return sortKey.ascending ? order : order.reversed
    }

    override var reversedSortDescriptor: Any {
        var reversed = sortKey
        reversed.ascending.toggle()
        return KeyedSortDescriptor(reversed, comparator: comparisonOfApp)
    }

    override var hash: Int { sortKey.hashValue }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeyedSortDescriptor else { return false }
        return other === self
            || (other.sortKey == sortKey && other.comparisonOfApp == nil && comparisonOfApp == nil)
    }
}
