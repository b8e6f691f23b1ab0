internal import Foundation

/// Walks a key path: through objects and dictionaries to what a key names, through collections to
/// what it names in each member, with the collection operators `@count`, `@sum`, `@avg`, `@min`,
/// `@max`, and the unions.
///
/// Values of a set's members are a set, of others' an array or ordered set; those of members of
/// members stand in one collection, where Apple nests them. Numbers are computed in decimal. A path
/// that leads nowhere ends in nil, as does one with an operator that is none.
enum KeyPathWalk {
    static func value(of start: Any?, at path: String) -> Any? {
        guard let start else { return nil }
        if let members = Members(start) { return members.value(at: path) }
        if let object = start as? NSManagedObject, object.shape.slot(path) != nil {
            // The element of a composite attribute has a name with a dot.
            return object.value(forKey: path)
        }
        let (key, rest) = split(path)
        guard let next = step(start, key) else { return nil }
        return rest.isEmpty ? next : value(of: next, at: rest)
    }

    /// The first key of a path, and what follows it.
    static func split(_ path: String) -> (key: String, rest: String) {
        guard let dot = path.firstIndex(of: ".") else { return (path, "") }
        return (String(path[..<dot]), String(path[path.index(after: dot)...]))
    }

    private static func step(_ start: Any, _ key: String) -> Any? {
        if key == "self" { return start }
        if let object = start as? NSManagedObject { return object.value(forKey: key) }
        if let dictionary = start as? [String: Any] { return dictionary[key] }
        return nil
    }
}

/// The members of a collection that a key path leads through.
private struct Members {
    private enum Kind {
        case set
        case array
        case orderedSet
    }

    private let all: [Any]
    private let kind: Kind

    init?(_ collection: Any) {
        switch collection {
        case let set as Set<NSManagedObject>: (all, kind) = (Array(set), .set)
        case let set as Set<AnyHashable>: (all, kind) = (set.map(\.base), .set)
        case let set as NSSet: (all, kind) = (set.allObjects, .set)
        case let ordered as NSOrderedSet: (all, kind) = (ordered.array, .orderedSet)
        case let array as [Any]: (all, kind) = (array, .array)
        default: return nil
        }
    }

    func value(at path: String) -> Any? {
        guard path.hasPrefix("@") else { return collected(values(path)) }
        let (name, rest) = KeyPathWalk.split(path)
        let path = rest.isEmpty ? "self" : rest
        switch name {
        case "@count": return NSNumber(value: all.count)
        case "@sum": return sum(path)
        case "@avg": return average(path)
        case "@min": return extreme(path, .orderedAscending)
        case "@max": return extreme(path, .orderedDescending)
        case "@unionOfObjects", "@unionOfArrays", "@unionOfSets": return values(path)
        case "@distinctUnionOfObjects": return kind == .set ? unique(path) : distinct(path)
        case "@distinctUnionOfArrays": return distinct(path)
        case "@distinctUnionOfSets": return unique(path)
        default: return nil
        }
    }

    /// What stands at the end of a path from each member.
    private func values(_ path: String) -> [Any] {
        all.flatMap { member -> [Any] in
            // A collection among the members is walked through.
            let value: Any? = path == "self" ? member : KeyPathWalk.value(of: member, at: path)
            guard let value, !(value is NSNull) else { return [] }
            return Members(value)?.all ?? [value]
        }
    }

    private func collected(_ values: [Any]) -> Any {
        switch kind {
        case .array: values
        case .orderedSet: NSOrderedSet(array: Self.distinct(values))
        case .set: Self.set(values) ?? values
        }
    }

    /// Nil where a value cannot be in a set.
    private static func set(_ values: [Any]) -> Any? {
        if let objects = values as? [NSManagedObject] { return Set(objects) }
        let members = values.compactMap { $0 as? AnyHashable }
        return members.count == values.count ? Set(members) : nil
    }

    private func unique(_ path: String) -> Any { Self.set(values(path)) ?? values(path) }

    private func distinct(_ path: String) -> [Any] { Self.distinct(values(path)) }

    private static func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<AnyHashable> = []
        return values.filter { value in
            (value as? AnyHashable).map { seen.insert($0).inserted } ?? true
        }
    }

    private func numbers(_ path: String) -> [NSNumber] {
        values(path).compactMap { $0 as? NSNumber }
    }

    /// No number where one of them is none, or beyond what decimals tell.
    private func sum(_ path: String) -> NSDecimalNumber {
        NSDecimalNumber(
            decimal: numbers(path).reduce(0) { $0 + (ExactNumber.decimal($1) ?? .nan) })
    }

    private func average(_ path: String) -> NSDecimalNumber {
        let count = numbers(path).count
        guard count > 0 else { return .zero }
        return NSDecimalNumber(decimal: sum(path).decimalValue / Decimal(count))
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
