/// The keys that keep ordered members in their places: the first is 2048, each further one 1024
/// more, and one that goes between two others takes the middle.
enum OrderKeys {
    static let first: Int64 = 2048
    static let step: Int64 = 1024

    static func after(_ last: Int64?) -> Int64 {
        guard let last else { return first }
        let (next, overflows) = last.addingReportingOverflow(step)
        return overflows ? last : max(next, step)
    }

    /// New keys for members in their wanted order, given the keys they have. As many as possible
    /// keep theirs; all get new ones when there is no room between two that stay.
    static func keys(for present: [Int64?]) -> [Int64] {
        let stays = increasing(present)
        var keys = present.map { $0 ?? 0 }
        var index = 0
        var low: Int64 = 0
        while index < present.count {
            if stays[index] {
                low = keys[index]
                index += 1
                continue
            }
            let end = (index..<present.count).first { stays[$0] } ?? present.count
            guard fill(&keys, index..<end, after: low, before: end < keys.count ? keys[end] : nil)
            else { return fresh(present.count) }
            low = keys[end - 1]
            index = end
        }
        return keys
    }

    private static func fresh(_ count: Int) -> [Int64] {
        (0..<count).map { first + Int64($0) * step }
    }

    /// Spreads a run between two neighbours; false when there is no room.
    private static func fill(
        _ keys: inout [Int64], _ run: Range<Int>, after low: Int64, before high: Int64?
    ) -> Bool {
        guard let high else {
            var last: Int64? = run.lowerBound == 0 ? nil : low
            for index in run {
                guard (last ?? 0) < Int64.max - step else { return false }
                keys[index] = after(last)
                last = keys[index]
            }
            return true
        }
        let gap = high - low
        let parts = Int64(run.count + 1)
        guard gap >= parts else { return false }
        for (offset, index) in run.enumerated() {
            keys[index] =
                low &+ Int64((Double(gap) / Double(parts) * Double(offset + 1)).rounded(.down))
        }
        // Rounding of great gaps could let two meet.
        return zip(run, run.dropFirst()).allSatisfy { keys[$0] < keys[$1] }
            && keys[run.lowerBound] > low && keys[run.upperBound - 1] < high
    }

    /// Marks a longest strictly increasing run of positive keys.
    private static func increasing(_ keys: [Int64?]) -> [Bool] {
        var tails: [Int] = []
        var previous = [Int?](repeating: nil, count: keys.count)
        for (index, key) in keys.enumerated() {
            guard let key, key > 0 else { continue }
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if (keys[tails[middle]] ?? 0) < key { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? tails[low - 1] : nil
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var stays = [Bool](repeating: false, count: keys.count)
        var next = tails.last
        while let index = next {
            stays[index] = true
            next = previous[index]
        }
        return stays
    }
}
