/// A piece of Swift source, with its place in the text.
struct SourceToken: Sendable {
    enum Kind: Sendable {
        /// A name, a keyword or a number.
        case word
        /// A sign such as `@`, `(` or `#`.
        case mark
        /// A string, a regular expression or a comment: never touched.
        case opaque
    }

    let kind: Kind
    /// Bytes of the source.
    let range: Range<Int>
    let text: String
    let line: Int

    func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }
    func isWord(_ word: String) -> Bool { kind == .word && text == word }
}

/// Cuts Swift source into tokens without ever failing: what does not end goes to the end.
struct SourceScanner {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var tokens: [SourceToken] = []
    /// In how many strings the text is interpolated.
    private let depth: Int
    /// What is nested deeper is nobody's source; it is passed over.
    private static let depthMax = 16

    static func tokens(of bytes: [UInt8], depth: Int = 0) -> [SourceToken] {
        var scanner = SourceScanner(bytes: bytes, depth: depth)
        while scanner.position < bytes.count { scanner.step() }
        return scanner.tokens
    }

    private init(bytes: [UInt8], depth: Int) {
        self.bytes = bytes
        self.depth = depth
    }

    private func peek(_ offset: Int = 0) -> UInt8 {
        position + offset < bytes.count ? bytes[position + offset] : 0
    }

    private func starts(with text: StaticString, at offset: Int = 0) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        let start = position + offset
        return start <= bytes.count && bytes[start...].prefix(wanted.count).elementsEqual(wanted)
    }

    private mutating func step() {
        let byte = peek()
        if byte <= 32 {
            if byte == UInt8(ascii: "\n") { line += 1 }
            position += 1
        } else if starts(with: "//") {
            take(.opaque, to: lineEnd)
        } else if starts(with: "/*") {
            take(.opaque, to: commentEnd)
        } else if let string {
            take(string)
        } else if let end = expressionEnd {
            take(.opaque, to: end)
        } else if Self.isWord(byte) {
            take(.word, to: end { Self.isWord($0) })
        } else if byte == UInt8(ascii: "`") {
            take(.opaque, to: min(1 + end(from: 1) { $0 != UInt8(ascii: "`") }, bytes.count))
        } else {
            take(.mark, to: position + 1)
        }
    }

    private mutating func take(_ kind: SourceToken.Kind, to end: Int) {
        let range = position..<end
        let text = String(decoding: bytes[range], as: UTF8.self)
        tokens.append(SourceToken(kind: kind, range: range, text: text, line: line))
        line += bytes[range].count { $0 == UInt8(ascii: "\n") }
        position = end
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 128...:
            true
        default: false
        }
    }

    private func end(from offset: Int = 0, _ holds: (UInt8) -> Bool) -> Int {
        bytes[min(position + offset, bytes.count)...].firstIndex { !holds($0) } ?? bytes.count
    }

    private var lineEnd: Int { end { $0 != UInt8(ascii: "\n") } }

    /// The end of a comment, in which others may nest.
    private var commentEnd: Int {
        var depth = 0
        var index = position
        while index + 1 < bytes.count {
            let pair = (bytes[index], bytes[index + 1])
            if pair == (UInt8(ascii: "/"), UInt8(ascii: "*")) {
                depth += 1
                index += 2
            } else if pair == (UInt8(ascii: "*"), UInt8(ascii: "/")) {
                depth -= 1
                index += 2
                if depth == 0 { return index }
            } else {
                index += 1
            }
        }
        return bytes.count
    }

    /// Where a string ends, and where code is in it.
    private struct StringShape {
        var end: Int
        var interpolations: [Range<Int>] = []
    }

    /// The string that begins here; nil where none begins.
    private var string: StringShape? {
        var hashes = 0
        while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
        guard peek(hashes) == UInt8(ascii: "\"") else { return nil }
        return Self.string(in: bytes, at: position + hashes, hashes: hashes, depth)
    }

    /// Takes a string: what is interpolated is code as any other.
    private mutating func take(_ string: StringShape) {
        for code in string.interpolations {
            take(.opaque, to: code.lowerBound)
            let inner = Self.tokens(of: Array(bytes[code]), depth: depth + 1)
            tokens += inner.map { token in
                let range = token.range
                return SourceToken(
                    kind: token.kind,
                    range: (range.lowerBound + position)..<(range.upperBound + position),
                    text: token.text, line: token.line + line - 1)
            }
            line += bytes[code].count { $0 == UInt8(ascii: "\n") }
            position = code.upperBound
        }
        take(.opaque, to: string.end)
    }

    private static func string(
        in bytes: [UInt8], at start: Int, hashes: Int, _ depth: Int
    ) -> StringShape {
        let quote = UInt8(ascii: "\"")
        let isLong = bytes[start...].prefix(3).elementsEqual([quote, quote, quote])
        let close =
            Array(repeating: quote, count: isLong ? 3 : 1)
            + Array(repeating: UInt8(ascii: "#"), count: hashes)
        let escape = [UInt8(ascii: "\\")] + Array(repeating: UInt8(ascii: "#"), count: hashes)
        var index = start + (isLong ? 3 : 1)
        var shape = StringShape(end: bytes.count)
        while index < bytes.count {
            if bytes[index...].starts(with: close) {
                shape.end = index + close.count
                return shape
            }
            if !isLong, bytes[index] == UInt8(ascii: "\n") {
                shape.end = index
                return shape
            }
            guard bytes[index...].starts(with: escape) else {
                index += 1
                continue
            }
            index += escape.count
            guard index < bytes.count else { break }
            guard bytes[index] == UInt8(ascii: "("), depth < depthMax else {
                index += 1
                continue
            }
            let end = endOfBrackets(in: bytes, at: index, depth + 1)
            if end - index > 2 { shape.interpolations.append((index + 1)..<(end - 1)) }
            index = end
        }
        return shape
    }

    /// The end of an interpolation, whose strings may hold brackets of their own.
    private static func endOfBrackets(in bytes: [UInt8], at start: Int, _ inner: Int) -> Int {
        var depth = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: "\""):
                index = string(in: bytes, at: index, hashes: 0, inner).end
                continue
            default: break
            }
            index += 1
            if depth == 0 { return index }
        }
        return bytes.count
    }

    /// The end of a regular expression between `#/` and `/#`; nil where none begins. Bare ones are
    /// read as marks, which nothing here looks for.
    private var expressionEnd: Int? {
        var hashes = 0
        while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
        guard hashes > 0, peek(hashes) == UInt8(ascii: "/") else { return nil }
        let close = [UInt8(ascii: "/")] + Array(repeating: UInt8(ascii: "#"), count: hashes)
        var index = position + hashes + 1
        while index < bytes.count {
            if bytes[index...].starts(with: close) { return index + close.count }
            index += 1
        }
        return bytes.count
    }
}
