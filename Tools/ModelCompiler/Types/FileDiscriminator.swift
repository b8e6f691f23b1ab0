internal import Foundation

/// The mark that tells private declarations of one file from those of another in symbols: the MD5
/// digest of the module's and the file's name. Source: the Swift compiler's mangling rules.
enum FileDiscriminator {
    static func text(module: String, file: String) -> String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let digest = digest(Array((module + name).utf8))
        return "_" + digest.map { hexadecimal($0) }.joined()
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return text.count == 1 ? "0" + text : text
    }

    // MARK: MD5 (RFC 1321)

    private static let shifts: [[UInt32]] = [
        [7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21],
    ]

    static func digest(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let length = UInt64(message.count) &* 8
        padded += (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        for start in stride(from: 0, to: padded.count, by: 64) {
            mix(words(padded[start..<start + 64]), into: &state)
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    private static func words(_ block: ArraySlice<UInt8>) -> [UInt32] {
        stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            (0..<4).reduce(0) { $0 | UInt32(block[start + $1]) << UInt32(8 * $1) }
        }
    }

    private static func mix(_ words: [UInt32], into state: inout [UInt32]) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let round = step / 16
            let (choice, index): (UInt32, Int) =
                switch round {
                case 0: ((b & c) | (~b & d), step)
                case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), (7 * step) % 16)
                }
            let sum = a &+ choice &+ constants[step] &+ words[index]
            let shift = shifts[round][step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
    }

    private static let constants: [UInt32] = (1...64).map { step in
        UInt32(abs(sin(Double(step))) * 4_294_967_296)
    }
}
