internal import Foundation
internal import ObjectModel
internal import Predicates

// Requests are compared by what they ask for, as keys of caches are.
extension FetchChoice {
    /// Whether both ask for the same. Predicates count by what they say: of those that Foundation
    /// builds from others, its own comparison takes any two for equal.
    func asksTheSame(as other: FetchChoice) -> Bool {
        name == other.name && isSameEntity(as: other)
            && Self.isSame(predicate, other.predicate)
            && sortDescriptors == other.sortDescriptors
            && (limit, offset, batchSize) == (other.limit, other.offset, other.batchSize)
            && resultType == other.resultType && flags == other.flags
            && prefetching == other.prefetching
            && Self.isSame(values.properties, other.values.properties)
            && Self.isSame(values.grouping, other.values.grouping)
            && Self.isSame(values.having, other.values.having)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(limit)
        hasher.combine(offset)
        hasher.combine(resultType.rawValue)
        hasher.combine(predicate.map { node(of: $0).description })
    }

    private var name: String? { entityName ?? entity?.name }

    private func isSameEntity(as other: FetchChoice) -> Bool {
        guard let entity, let others = other.entity else { return true }
        return entity == others
    }

    private static func isSame(_ first: NSPredicate?, _ second: NSPredicate?) -> Bool {
        guard let first, let second else { return first == nil && second == nil }
        return first === second || node(of: first) == node(of: second)
    }

    private static func isSame(_ first: [Any]?, _ second: [Any]?) -> Bool {
        guard let first, let second else { return first == nil && second == nil }
        return first.count == second.count
            && zip(first, second).allSatisfy { one, other in
                switch (one, other) {
                case (let one as String, let other as String): one == other
                case (let one as NSObject, let other as NSObject): one.isEqual(other)
                default: false
                }
            }
    }
}
