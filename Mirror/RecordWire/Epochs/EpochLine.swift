/// The epochs in which a zone's changes were written, oldest first. (SERVICE §8, epochs)
///
/// A service draws an epoch at each start over its data. By the line a device tells which of the
/// tags it keeps are of a time that the service no longer knows: it was restored from a backup
/// meanwhile, or is another one.
public struct EpochLine: Hashable, Sendable {
    public struct Epoch: Hashable, Sendable {
        public var id: UInt64
        /// The first change written in it.
        public var first: Int64

        public init(id: UInt64, first: Int64) {
            self.id = id
            self.first = first
        }
    }

    /// Drawn when the zone was made: a zone that was deleted and made again is another one.
    public var incarnation: UInt64
    /// Deletions up to this change may be forgotten.
    public var floor: Int64
    /// The zone's last change.
    public var newest: Int64
    public var epochs: [Epoch]

    public init(incarnation: UInt64, floor: Int64, newest: Int64, epochs: [Epoch]) {
        self.incarnation = incarnation
        self.floor = floor
        self.newest = newest
        self.epochs = epochs
    }

    /// How many epochs a zone remembers; tags of forgotten ones count as lost.
    public static let epochsMax = 512

    /// Whether `tag` was given out in this line, and not in a time that was lost.
    public func contains(_ tag: ChangeTag) -> Bool {
        if tag.change == 0 { return true }
        guard let index = epochs.firstIndex(where: { $0.id == tag.epoch }) else { return false }
        return tag.change >= epochs[index].first && tag.change <= last(of: index)
    }

    /// The epoch in which `change` was written; 0 where the line does not reach.
    public func epoch(of change: Int64) -> UInt64 {
        var low = 0
        var high = epochs.count
        while low < high {
            let middle = (low + high) / 2
            if epochs[middle].first <= change { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? 0 : epochs[low - 1].id
    }

    /// The tag of the record that `change` wrote.
    public func tag(of change: Int64) -> ChangeTag {
        ChangeTag(epoch: epoch(of: change), change: change)
    }

    /// The last change that this line and an `older` state of it have in common: what came later
    /// in `older` was lost. nil for lines of two zones.
    public func lastCommonChange(with older: EpochLine) -> Int64? {
        guard incarnation == older.incarnation else { return nil }
        var common: Int64 = 0
        for index in older.epochs.indices {
            guard let here = epochs.firstIndex(of: older.epochs[index]) else { break }
            common = max(common, min(last(of: here), older.last(of: index)))
            if last(of: here) != older.last(of: index) { break }
        }
        return common
    }

    /// Whether `tag` was given out after `other` in a time both of whose epochs this line knows.
    public func follows(_ tag: ChangeTag, _ other: ChangeTag) -> Bool {
        let isComparable = tag.epoch == other.epoch || (knows(tag.epoch) && knows(other.epoch))
        return isComparable && tag.change > other.change
    }

    private func knows(_ epoch: UInt64) -> Bool { epochs.contains { $0.id == epoch } }

    /// The last change of an epoch; nil for one that the line does not know.
    package func lastChange(ofEpoch id: UInt64) -> Int64? {
        epochs.firstIndex { $0.id == id }.map(last)
    }

    /// What a service tells may be any number, also one that nothing comes before.
    private func last(of index: Int) -> Int64 {
        guard index + 1 < epochs.count else { return newest }
        let next = epochs[index + 1].first
        return next == .min ? .min : next - 1
    }
}
