internal import Foundation

/// A key path through the members of a relationship: the values of all, or what an operator such as
/// `@count` or `@sum.age` makes of them.
struct CollectionPath {
    private let objects: [Any]

    init(_ objects: [Any]) { self.objects = objects }

    func value(at path: String) -> Any? {
        guard path.hasPrefix("@") else { return values(path) }
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        let rest = parts.count > 1 ? parts[1] : "self"
        switch parts[0] {
        case "@count": return NSNumber(value: objects.count)
        case "@sum": return sum(rest)
        case "@avg":
            let count = numbers(rest).count
            guard count > 0 else { return NSDecimalNumber.zero }
            return sum(rest).dividing(by: NSDecimalNumber(value: count))
        case "@min": return extreme(rest, .orderedAscending)
        case "@max": return extreme(rest, .orderedDescending)
        case "@unionOfObjects": return values(rest)
        case "@distinctUnionOfObjects":
            var seen: Set<AnyHashable> = []
            return values(rest).filter { value in
                (value as? AnyHashable).map { seen.insert($0).inserted } ?? true
            }
        default: return nil
        }
    }

    /// The values at the end of a path, those of further to-manys in one array.
    private func values(_ path: String) -> [Any] {
        objects.flatMap { object -> [Any] in
            let value = (object as? NSManagedObject)?.value(forKeyPath: path)
            switch value {
            case let several as [Any]: return several
            case let several as Set<NSManagedObject>: return Array(several)
            case let several as NSOrderedSet: return several.array
            default: return value.map { [$0] } ?? []
            }
        }
    }

    private func numbers(_ path: String) -> [NSNumber] {
        values(path).compactMap { $0 as? NSNumber }
    }

    private func sum(_ path: String) -> NSDecimalNumber {
        numbers(path).reduce(.zero) { $0.adding(NSDecimalNumber(decimal: $1.decimalValue)) }
    }

    private func extreme(_ path: String, _ wanted: ComparisonResult) -> Any? {
        var best: Any?
        for value in values(path) {
            guard let present = best else {
                best = value
                continue
            }
            if Self.compare(value, present) == wanted { best = value }
        }
        return best
    }

    private static func compare(_ left: Any, _ right: Any) -> ComparisonResult {
        switch (left, right) {
        case let (left as NSNumber, right as NSNumber): left.compare(right)
        case let (left as Date, right as Date): left.compare(right)
        case let (left as String, right as String): left.compare(right)
        default: .orderedSame
        }
    }
}
