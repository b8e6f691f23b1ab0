/// Which sections of two contents are the same, so that their items may stay where they are.
///
/// Sections with the same name match, as far as they stand in the same order; Apple's delegates
/// know no moved sections, so the others are deleted and inserted.
struct SectionMatching {
    /// For each former section the present one.
    private(set) var present: [Int?]
    private(set) var deleted: [Int] = []
    private(set) var inserted: [Int] = []

    init(_ old: [ResultContent.Section], _ new: [ResultContent.Section]) {
        present = Array(repeating: nil, count: old.count)
        var places: [Key: Int] = [:]
        for (index, key) in Self.keys(new).enumerated() { places[key] = index }
        let common = Self.keys(old).enumerated().compactMap { index, key in
            places[key].map { (old: index, new: $0) }
        }
        var met = Array(repeating: false, count: new.count)
        for index in longestRise(common.map(\.new)) {
            present[common[index].old] = common[index].new
            met[common[index].new] = true
        }
        deleted = present.indices.filter { present[$0] == nil }
        inserted = met.indices.filter { !met[$0] }
    }

    /// A name, and how many sections before have the same.
    private struct Key: Hashable {
        let name: String
        let number: Int
    }

    private static func keys(_ sections: [ResultContent.Section]) -> [Key] {
        var counts: [String: Int] = [:]
        return sections.map { section in
            defer { counts[section.name, default: 0] += 1 }
            return Key(name: section.name, number: counts[section.name, default: 0])
        }
    }
}

/// The places of a longest rising subsequence. Cost: O(n log n).
func longestRise(_ values: [Int]) -> [Int] {
    // For each length the place of the smallest value that ends so long a rise.
    var ends: [Int] = []
    var previous = Array(repeating: -1, count: values.count)
    for (place, value) in values.enumerated() {
        var low = 0
        var high = ends.count
        while low < high {
            let middle = (low + high) / 2
            if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
        }
        if low > 0 { previous[place] = ends[low - 1] }
        if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var rise: [Int] = []
    var place = ends.last ?? -1
    while place >= 0 {
        rise.append(place)
        place = previous[place]
    }
    return rise.reversed()
}
