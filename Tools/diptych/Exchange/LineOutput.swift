internal import Foundation

/// Standard output for many lines of JSON, written in blocks.
struct LineOutput {
    /// Nobody reads any more, as behind `head`.
    struct Closed: Error {}

    private var bytes: [UInt8] = []
    private static let blockBytes = 1 << 16

    init() { bytes.reserveCapacity(Self.blockBytes * 2) }

    /// Adds a line. Throws `Closed`.
    mutating func line(_ write: (inout [UInt8]) throws -> Void) throws {
        try write(&bytes)
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count >= Self.blockBytes { try flush() }
    }

    /// Writes what is left.
    mutating func flush() throws {
        if let failure = bytes.withUnsafeBytes({ StandardStream.write($0, to: STDOUT_FILENO) }) {
            if failure == EPIPE { throw Closed() }
            throw CommandError(
                "output", "Standard output cannot be written.",
                hint: "Look at the free space where it leads.")
        }
        bytes.removeAll(keepingCapacity: bytes.capacity < 1 << 22)
    }
}

extension [UInt8] {
    mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { append(contentsOf: $0) }
    }

    /// A text of JSON, quotes and all.
    mutating func writeQuoted(_ text: String) {
        // Marks beyond ASCII that a terminal obeys begin with one of these bytes; they are rare.
        let mayAct = text.utf8.contains { [0xC2, 0xD8, 0xE2, 0xEF].contains($0) }
        if mayAct, text.unicodeScalars.contains(where: PlainText.acts) {
            append(contentsOf: JSON.string(text).text.utf8)
            return
        }
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { letters in
            var start = 0
            for (index, letter) in letters.enumerated() where Self.isSpecial(letter) {
                append(contentsOf: UnsafeBufferPointer(rebasing: letters[start..<index]))
                writeEscaped(letter)
                start = index + 1
            }
            append(contentsOf: UnsafeBufferPointer(rebasing: letters[start...]))
        }
        append(UInt8(ascii: "\""))
    }

    private static func isSpecial(_ letter: UInt8) -> Bool {
        letter < 0x20 || letter == 0x22 || letter == 0x5C || letter == 0x7F
    }

    private mutating func writeEscaped(_ letter: UInt8) {
        switch letter {
        case 0x22: write("\\\"")
        case 0x5C: write("\\\\")
        case 0x0A: write("\\n")
        case 0x0D: write("\\r")
        case 0x09: write("\\t")
        default:
            let digits = Array("0123456789abcdef".utf8)
            write("\\u00")
            append(digits[Int(letter >> 4)])
            append(digits[Int(letter & 15)])
        }
    }

    /// Texts that need no escapes, in quotes.
    mutating func writePlain(_ text: String) {
        append(UInt8(ascii: "\""))
        append(contentsOf: text.utf8)
        append(UInt8(ascii: "\""))
    }

    mutating func write(_ number: Int64) {
        var digits: (UInt64, UInt64, UInt32) = (0, 0, 0)
        Swift.withUnsafeMutableBytes(of: &digits) { digits in
            var rest = number.magnitude
            var place = digits.count
            repeat {
                place -= 1
                digits[place] = 0x30 + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 { append(UInt8(ascii: "-")) }
            append(contentsOf: UnsafeRawBufferPointer(rebasing: digits[place...]))
        }
    }
}
