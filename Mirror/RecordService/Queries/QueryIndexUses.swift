internal import Platform

/// Which indexes queries used last, in this process. One that was not used since its start counts
/// as used before all others.
final class QueryIndexUses: Sendable {
    private struct Uses {
        /// The number of each index's last use.
        var last: [Int64: Int] = [:]
        var count = 0
    }

    private let uses = Lock(Uses())
    /// So many are remembered; beyond it those that were used longest ago are forgotten.
    private static let indexesMax = 10_000

    func note(_ indexes: [Int64]) {
        uses.withLock { uses in
            for index in indexes {
                uses.count += 1
                uses.last[index] = uses.count
            }
            guard uses.last.count > Self.indexesMax else { return }
            let middle = uses.last.values.sorted()[uses.last.count / 2]
            uses.last = uses.last.filter { $0.value >= middle }
        }
    }

    /// The index that was used longest ago; of those that never were, the oldest.
    func longestUnused(of indexes: [Int64]) -> Int64? {
        uses.withLock { uses in
            indexes.min { (uses.last[$0] ?? 0, $0) < (uses.last[$1] ?? 0, $1) }
        }
    }
}
