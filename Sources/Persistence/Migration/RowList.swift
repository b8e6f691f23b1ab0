internal import Stores

/// Rows in the order in which they came, 12 bytes each, that can be found again.
struct RowList {
    private var entities: [Int32] = []
    private var keys: [Int64] = []
    /// Whether the rows came in their order, as they mostly do: nothing else is needed to find one.
    private var isAscending = true
    /// Else the places of the first so many rows, by rows, equal ones by places.
    private var order: [Int32] = []

    var count: Int { keys.count }
    subscript(place: Int) -> RowID { RowID(entity: entities[place], key: keys[place]) }

    mutating func append(_ row: RowID) {
        if isAscending, let last = keys.indices.last, Self.precedes(row, self[last]) {
            isAscending = false
        }
        entities.append(row.entity)
        keys.append(row.key)
    }

    /// The rows at some places.
    func rows(_ places: Range<Int>) -> [RowID] { places.map { self[$0] } }

    /// Where a row is, every time. Cost: O(log n), and O(n) where rows came since the last search
    /// out of order.
    mutating func places(of row: RowID) -> [Int] {
        sortNewcomers()
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(self[place(middle)], row) { low = middle + 1 } else { high = middle }
        }
        var found: [Int] = []
        while low < count, self[place(low)] == row {
            found.append(place(low))
            low += 1
        }
        return found
    }

    /// The place of the row that stands so far in order.
    private func place(_ position: Int) -> Int {
        isAscending ? position : Int(order[position])
    }

    /// By keys first: those of new rows grow, whatever their entities.
    private static func precedes(_ one: RowID, _ other: RowID) -> Bool {
        (one.key, one.entity) < (other.key, other.entity)
    }

    private mutating func sortNewcomers() {
        guard !isAscending, order.count < count else { return }
        func isBefore(_ one: Int32, _ other: Int32) -> Bool {
            let rows = (self[Int(one)], self[Int(other)])
            return Self.precedes(rows.0, rows.1) || rows.0 == rows.1 && one < other
        }
        let fresh = (Int32(order.count)..<Int32(count)).sorted(by: isBefore)
        var merged: [Int32] = []
        merged.reserveCapacity(count)
        var next = 0
        for place in order {
            while next < fresh.count, isBefore(fresh[next], place) {
                merged.append(fresh[next])
                next += 1
            }
            merged.append(place)
        }
        order = merged + fresh[next...]
    }
}
