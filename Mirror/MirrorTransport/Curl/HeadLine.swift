/// A line of an answer's head, as it came.
struct HeadLine {
    /// Without the end of the line.
    private let bytes: Slice<UnsafeRawBufferPointer>

    init(_ line: UnsafeRawBufferPointer) {
        var bytes = line[...]
        if bytes.last == UInt8(ascii: "\n") { bytes = bytes.dropLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
        self.bytes = bytes
    }

    /// Whether it ends the head.
    var isEmpty: Bool { bytes.isEmpty }

    /// Of a line that begins a head; 0 where it has no number, nil for any other line.
    var status: Int? {
        guard bytes.starts(with: "HTTP/".utf8) else { return nil }
        let words = bytes.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
        let digits = words.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }

    /// The name in small letters, and the value without the spaces around it.
    var field: (name: String, value: String)? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var value = bytes[(colon + 1)...].drop(while: Self.isSpace)
        while let last = value.last, Self.isSpace(last) { value = value.dropLast() }
        let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        return (name, String(decoding: value, as: UTF8.self))
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (UInt8(ascii: "\t")...UInt8(ascii: "\r")).contains(byte)
    }
}
