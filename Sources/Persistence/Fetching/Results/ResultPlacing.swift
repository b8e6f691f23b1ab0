internal import Foundation
internal import Stores

/// Puts changed objects among those that did not change.
///
/// An object stays where it stood if that place is right for it; otherwise it goes after those that
/// are equal to it.
struct ResultPlacing {
    typealias Order = (NSManagedObject, NSManagedObject) throws -> ComparisonResult

    private let order: Order
    private var kept: [(item: NSManagedObject, section: String)] = []
    /// For changed objects: how many unchanged ones stood before them, and their own places.
    private var former: [ObjectIdentifier: (slot: Int, place: Int)] = [:]
    private var placed: [Placed] = []

    private struct Placed {
        let item: NSManagedObject
        let section: String
        /// Before which of the unchanged objects it stands.
        let slot: Int
        /// What decides between equal ones.
        let rank: Rank
    }

    /// Former objects keep their order; new ones follow, in the order of their rows.
    private struct Rank: Comparable {
        let place: Int
        let row: Int64
        let name: String

        static func < (left: Rank, right: Rank) -> Bool {
            (left.place, left.row, left.name) < (right.place, right.row, right.name)
        }
    }

    init(_ content: ResultContent, touched: Set<ObjectIdentifier>, order: @escaping Order) {
        self.order = order
        for section in content.sections {
            for place in section.range {
                guard let item = content.items[place] as? NSManagedObject else { continue }
                let id = ObjectIdentifier(item)
                if touched.contains(id) {
                    former[id] = (kept.count, place)
                } else {
                    kept.append((item, section.name))
                }
            }
        }
    }

    /// Finds the place of an object that belongs to the results. Cost: O(log n) comparisons.
    mutating func place(_ item: NSManagedObject, section: String) throws {
        let known = former[ObjectIdentifier(item)]
        let slot: Int
        if let known, try fits(item, at: known.slot) {
            slot = known.slot
        } else {
            slot = try firstPlaceAfterEqual(item)
        }
        let rank =
            known.map { Rank(place: $0.place, row: 0, name: "") }
            ?? Rank(
                place: .max, row: item.reservedRow?.key ?? .max,
                name: item.objectID.uriRepresentation().absoluteString)
        placed.append(Placed(item: item, section: section, slot: slot, rank: rank))
    }

    private func fits(_ item: NSManagedObject, at slot: Int) throws -> Bool {
        if slot > 0, try order(kept[slot - 1].item, item) == .orderedDescending { return false }
        guard slot < kept.count else { return true }
        return try order(item, kept[slot].item) != .orderedDescending
    }

    private func firstPlaceAfterEqual(_ item: NSManagedObject) throws -> Int {
        var low = 0
        var high = kept.count
        while low < high {
            let middle = (low + high) / 2
            if try order(item, kept[middle].item) == .orderedAscending {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    /// All objects in order, with the names of their sections.
    func merged() throws -> (items: [NSObject], names: [String]) {
        let sorted = try placed.sorted { left, right in
            guard left.slot == right.slot else { return left.slot < right.slot }
            let result = try order(left.item, right.item)
            return result == .orderedSame ? left.rank < right.rank : result == .orderedAscending
        }
        var items: [NSObject] = []
        var names: [String] = []
        items.reserveCapacity(kept.count + sorted.count)
        var next = 0
        for slot in 0...kept.count {
            while next < sorted.count, sorted[next].slot == slot {
                items.append(sorted[next].item)
                names.append(sorted[next].section)
                next += 1
            }
            guard slot < kept.count else { break }
            items.append(kept[slot].item)
            names.append(kept[slot].section)
        }
        return (items, names)
    }
}
