package import Foundation
package import Platform

extension Environment {
    /// Returns a UUID of version 7 (RFC 9562 §5.7, with §6.2's fraction of a millisecond): what
    /// this device makes later by its own clock sorts later, by bytes and by text. Whoever keeps
    /// such names in an index writes to its end, instead of to as many places as there are names.
    ///
    /// 62 bits are random, so that clocks which agree or go backwards give no name twice.
    package func timeOrderedUUID() -> UUID {
        let milliseconds = clock.now().timeIntervalSince1970 * 1000
        let whole = milliseconds.rounded(.down)
        let fraction = (milliseconds - whole) * 4096
        return UUID(
            version: 7, milliseconds: whole, order: fraction.isFinite ? UInt16(fraction) : 0,
            rest: randomness.next())
    }
}

extension UUID {
    /// A UUID that sorts by `milliseconds` since 1970 (48 bits; other times are taken for the first
    /// or the last of them), then by the twelve low bits of `order`, then by 62 bits of `rest`: as
    /// versions 7 and 8 may (RFC 9562 §5.7, §5.8).
    init(version: UInt8, milliseconds: Double, order: UInt16, rest: UInt64) {
        let time = UInt64(max(0, min(milliseconds, Self.millisecondsMax)))
        func byte(_ word: UInt64, _ shift: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> shift)
        }
        self.init(
            uuid: (
                byte(time, 40), byte(time, 32), byte(time, 24), byte(time, 16), byte(time, 8),
                byte(time, 0), version << 4 | UInt8(order >> 8 & 0x0F), UInt8(order & 0xFF),
                byte(rest, 56) & 0x3F | 0x80, byte(rest, 48), byte(rest, 40), byte(rest, 32),
                byte(rest, 24), byte(rest, 16), byte(rest, 8), byte(rest, 0)
            ))
    }

    private static let millisecondsMax = Double(1 << 48 - 1)
}
