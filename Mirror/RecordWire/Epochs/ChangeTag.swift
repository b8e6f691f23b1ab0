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
        var text = text
        guard let tag = text.withUTF8(Self.read) else { return nil }
        self = tag
    }

    private static func read(_ text: UnsafeBufferPointer<UInt8>) -> ChangeTag? {
        guard text.count <= bytesMax else { return nil }
        let dot = text.firstIndex(of: UInt8(ascii: "."))
        guard let change = number(text[..<(dot ?? text.endIndex)]).flatMap(Int64.init(exactly:))
        else { return nil }
        guard let dot else { return ChangeTag(epoch: 0, change: change) }
        guard let epoch = number(text[(dot + 1)...]), epoch != 0 else { return nil }
        return ChangeTag(epoch: epoch, change: change)
    }

    /// A number in base 36.
    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt64? {
        guard !digits.isEmpty else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            let (product, isLarge) = number.multipliedReportingOverflow(by: 36)
            let (sum, isLarger) = product.addingReportingOverflow(UInt64(value))
            guard !isLarge, !isLarger else { return nil }
            number = sum
        }
        return number
    }

    /// The tag as it travels. A change is not negative.
    public var text: String {
        String(unsafeUninitializedCapacity: Self.bytesMax) { bytes in
            let end = Self.spell(UInt64(clamping: change), in: bytes, at: 0)
            guard epoch != 0 else { return end }
            bytes[end] = UInt8(ascii: ".")
            return Self.spell(epoch, in: bytes, at: end + 1)
        }
    }

    /// Returns where the number ends.
    private static func spell(
        _ number: UInt64, in bytes: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) -> Int {
        var (end, rest) = (start, number)
        repeat {
            let digit = UInt8(rest % 36)
            bytes[end] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            rest /= 36
            end += 1
        } while rest > 0
        bytes[start..<end].reverse()
        return end
    }

    /// Two numbers of 64 bits in base 36, and the dot.
    private static let bytesMax = 13 + 1 + 13
}
