/// A record's change tag, read: the change number it stands for, and the epoch in which the
/// service gave the number out. (SERVICE §8, epochs)
///
/// Change numbers rise over all epochs of a zone. A service that was restored from a backup counts
/// again from an older number, but in an epoch of its own, so its tags differ from those of the
/// time that was lost.
public struct ChangeTag: Hashable, Sendable {
    /// 0: the number was given out before there were epochs.
    public var epoch: UInt64
    public var change: Int64

    public init(epoch: UInt64, change: Int64) {
        self.epoch = epoch
        self.change = change
    }

    /// Reads a tag; nil for one of a service that gives out other tags.
    public init?(text: String) {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let change = Int64(first, radix: 36), change >= 0 else {
            return nil
        }
        switch parts.count {
        case 1: self.init(epoch: 0, change: change)
        case 2:
            guard let epoch = UInt64(parts[1], radix: 36), epoch != 0 else { return nil }
            self.init(epoch: epoch, change: change)
        default: return nil
        }
    }

    /// The tag as it travels.
    public var text: String {
        let number = String(change, radix: 36)
        return epoch == 0 ? number : "\(number).\(String(epoch, radix: 36))"
    }

    /// Two numbers of 64 bits in base 36, and the dot.
    private static let bytesMax = 13 + 1 + 13
}
