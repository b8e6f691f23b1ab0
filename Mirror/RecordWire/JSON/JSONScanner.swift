/// Goes over the bytes of a JSON text, a token at a time.
struct JSONScanner {
    private let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var place: UInt32 { UInt32(index) }
    var isAtEnd: Bool { index == bytes.count }
    /// The byte at which the scanner stands; 0, which begins no token, at the end.
    var byte: UInt8 { index < bytes.count ? bytes[index] : 0 }

    mutating func skip() { index += 1 }

    mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    @inline(__always)
    mutating func skipSpace() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                index += 1
            default: return
            }
        }
    }

    @inline(__always)
    mutating func takes(_ byte: UInt8) -> Bool {
        guard self.byte == byte else { return false }
        index += 1
        return true
    }

    func unexpected() -> RecordError {
        let what = isAtEnd ? "it ends too early" : "an unexpected character"
        return RecordError(.badRequest, "The body is not valid JSON: \(what) at byte \(index).")
    }

    mutating func word(
        _ word: StaticString, _ kind: JSONNode.Kind, at node: Int
    ) throws(RecordError) -> JSONNode {
        let start = place
        for offset in 0..<word.utf8CodeUnitCount {
            guard takes(word.utf8Start[offset]) else { throw unexpected() }
        }
        return JSONNode(
            kind: kind, start: start, length: UInt32(word.utf8CodeUnitCount),
            next: UInt32(node + 1))
    }

    // MARK: Numbers

    mutating func number(at node: Int) throws(RecordError) -> JSONNode {
        let start = place
        var kind = JSONNode.Kind.whole
        _ = takes(UInt8(ascii: "-"))
        if !takes(UInt8(ascii: "0")) { try digits() }
        if takes(UInt8(ascii: ".")) {
            kind = .number
            try digits()
        }
        if takes(UInt8(ascii: "e")) || takes(UInt8(ascii: "E")) {
            kind = .number
            if !takes(UInt8(ascii: "+")) { _ = takes(UInt8(ascii: "-")) }
            try digits()
        }
        return JSONNode(kind: kind, start: start, length: place - start, next: UInt32(node + 1))
    }

    private mutating func digits() throws(RecordError) {
        let start = index
        while index < bytes.count, Self.isDigit(bytes[index]) { index += 1 }
        guard index > start else { throw unexpected() }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    // MARK: Texts

    /// Reads a text from its first quotation mark behind its last one.
    mutating func text(at node: Int) throws(RecordError) -> JSONNode {
        index += 1
        var text = JSONNode(kind: .text, start: place, length: 0, next: UInt32(node + 1))
        while true {
            skipPlain()
            guard index < bytes.count else { throw unexpected() }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                text.length = place - text.start
                index += 1
                return text
            case UInt8(ascii: "\\"):
                text.hasEscapes = true
                try skipEscape()
            case 0x80...:
                text.isForeign = true
                index += 1
            default: throw unexpected()
            }
        }
    }

    /// Whether the escapes of a text that was read stand for characters.
    func isSound(_ text: JSONNode) -> Bool {
        let start = Int(text.start)
        return JSONEscapes.string(
            UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(text.length)])) != nil
    }

    private mutating func skipEscape() throws(RecordError) {
        index += 1
        guard let length = JSONEscapes.length(behind: byte) else { throw unexpected() }
        index += 1
        for _ in 0..<length {
            guard JSONEscapes.digit(byte) != nil else { throw unexpected() }
            index += 1
        }
    }

    /// Skips characters of ASCII that stand for themselves, eight at a time.
    @inline(__always)
    private mutating func skipPlain() {
        while index + 8 <= bytes.count {
            let word = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let special = Self.special(word)
            guard special == 0 else {
                index += special.trailingZeroBitCount / 8
                return
            }
            index += 8
        }
        while index < bytes.count, Self.isPlain(bytes[index]) { index += 1 }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Has the highest bit of the first byte that is not plain, and of none before it.
    @inline(__always)
    private static func special(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let slash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let isQuote = (quote &- ones) & ~quote
        let isSlash = (slash &- ones) & ~slash
        let isControl = (word &- (ones &* 0x20)) & ~word
        return (isQuote | isSlash | isControl | word) & highs
    }
}
