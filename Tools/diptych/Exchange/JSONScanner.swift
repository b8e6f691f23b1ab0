internal import Foundation

/// What is wrong with a text of JSON, before its line is known.
struct JSONFault: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// A string of JSON where it stands, without its quotes.
struct JSONText {
    let bytes: UnsafeBufferPointer<UInt8>
    let hasEscapes: Bool

    /// The string. Throws for what is no UTF-8 and for half a character.
    func string() throws -> String {
        let text =
            try hasEscapes
            ? String(validating: unescaped(), as: UTF8.self)
            : String(validating: bytes, as: UTF8.self)
        guard let text else { throw JSONFault("A text is not UTF-8.") }
        return text
    }

    /// Whether it is `name`, letter by letter.
    func isSame(as name: [UInt8]) -> Bool {
        guard !hasEscapes, bytes.count == name.count else { return false }
        return name.withUnsafeBufferPointer { other in
            guard let start = bytes.baseAddress, let otherStart = other.baseAddress else {
                return true
            }
            return memcmp(start, otherStart, other.count) == 0
        }
    }

    /// Runs `body` with the same string spelled without escapes.
    func withoutEscapes<Result>(_ body: (JSONText) throws -> Result) throws -> Result {
        guard hasEscapes else { return try body(self) }
        return try unescaped().withUnsafeBufferPointer {
            try body(JSONText(bytes: $0, hasEscapes: false))
        }
    }

    private func unescaped() throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < bytes.count else {
                result.append(byte)
                continue
            }
            let letter = bytes[index]
            index += 1
            if letter == UInt8(ascii: "u") {
                let scalar = try scalar(at: &index)
                result.append(contentsOf: String(Character(scalar)).utf8)
            } else {
                result.append(Self.plain[letter] ?? letter)
            }
        }
        return result
    }

    /// The character of one \u, or of the two that make one.
    private func scalar(at index: inout Int) throws -> Unicode.Scalar {
        let first = try unit(at: index)
        index += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        else { throw JSONFault("A \\u is half a character.") }
        let second = try unit(at: index + 2)
        index += 6
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw JSONFault("A \\u is half a character.") }
        return scalar
    }

    private func unit(at index: Int) throws -> UInt32 {
        let digits = bytes[index..<min(index + 4, bytes.count)]
        // The radix alone would take a sign for a digit.
        guard digits.count == 4,
            digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw JSONFault("A \\u lacks its four digits.") }
        return unit
    }

    private static let plain: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C,
    ]
}

/// Reads JSON (RFC 8259) from bytes, strictly and without building a tree: a value is looked at
/// where it stands, or passed over.
struct JSONScanner {
    enum Kind {
        case object, array, string, number, boolean, null
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private(set) var position = 0
    private static let depthMax = 32

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// The part of the text that `range` names, to be read on its own.
    func part(_ range: Range<Int>) -> JSONScanner {
        JSONScanner(UnsafeBufferPointer(rebasing: bytes[range]))
    }

    // MARK: Looking

    /// What stands next.
    mutating func kind() throws -> Kind {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"): return .number
        case let byte? where (0x30...0x39).contains(byte): return .number
        case nil: throw JSONFault("The line ends too soon.")
        default: throw unexpected
        }
    }

    /// Throws unless nothing is left.
    mutating func end() throws {
        skipSpace()
        guard position == bytes.count else {
            throw JSONFault("Something stands behind the object (at byte \(position + 1)).")
        }
    }

    // MARK: Reading

    /// Reads an object; `body` reads or skips the value of each key.
    mutating func members(_ body: (JSONText, inout JSONScanner) throws -> Void) throws {
        try list(UInt8(ascii: "{"), UInt8(ascii: "}")) { scanner in
            let key = try scanner.text()
            try scanner.take(UInt8(ascii: ":"))
            try body(key, &scanner)
        }
    }

    /// Reads an array; `body` reads or skips each element.
    mutating func elements(_ body: (inout JSONScanner) throws -> Void) throws {
        try list(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    private mutating func list(
        _ opening: UInt8, _ closing: UInt8, _ body: (inout JSONScanner) throws -> Void
    ) throws {
        try take(opening)
        skipSpace()
        if peek == closing {
            position += 1
            return
        }
        while true {
            try body(&self)
            skipSpace()
            if peek == closing {
                position += 1
                return
            }
            try take(UInt8(ascii: ","))
        }
    }

    mutating func text() throws -> JSONText {
        try take(UInt8(ascii: "\""))
        let start = position
        var hasEscapes = false
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                let whole = UnsafeBufferPointer(rebasing: bytes[start..<position - 1])
                return JSONText(bytes: whole, hasEscapes: hasEscapes)
            }
            guard byte >= 0x20 else { throw unexpected }
            position += 1
            guard byte == UInt8(ascii: "\\") else { continue }
            hasEscapes = true
            guard let letter = peek, "\"\\/bfnrtu".utf8.contains(letter) else { throw unexpected }
            position += 1
        }
        throw JSONFault("A text is not closed.")
    }

    /// The bytes of a number.
    mutating func number() throws -> UnsafeBufferPointer<UInt8> {
        skipSpace()
        let start = position
        if peek == UInt8(ascii: "-") { position += 1 }
        if peek == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if peek == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            position += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return UnsafeBufferPointer(rebasing: bytes[start..<position])
    }

    private mutating func digits() throws {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            position += 1
        }
        guard position > start else { throw unexpected }
    }

    mutating func boolean() throws -> Bool {
        skipSpace()
        let isTrue = peek == UInt8(ascii: "t")
        try word(isTrue ? "true" : "false")
        return isTrue
    }

    mutating func null() throws {
        skipSpace()
        try word("null")
    }

    private mutating func word(_ word: String) throws {
        for letter in word.utf8 {
            guard peek == letter else { throw unexpected }
            position += 1
        }
    }

    /// Passes over a value and returns where it stood.
    @discardableResult
    mutating func skip(depth: Int = 0) throws -> Range<Int> {
        guard depth < Self.depthMax else {
            throw JSONFault("Lists and objects are nested more than \(Self.depthMax) deep.")
        }
        let kind = try kind()
        let start = position
        switch kind {
        case .object: try members { _, scanner in try scanner.skip(depth: depth + 1) }
        case .array: try elements { scanner in try scanner.skip(depth: depth + 1) }
        case .string: _ = try text()
        case .number: _ = try number()
        case .boolean: _ = try boolean()
        case .null: try null()
        }
        return start..<position
    }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) throws {
        skipSpace()
        guard position < bytes.count else { throw JSONFault("The line ends too soon.") }
        guard bytes[position] == byte else { throw unexpected }
        position += 1
    }

    private var unexpected: JSONFault {
        position < bytes.count
            ? JSONFault("The line is no JSON from byte \(position + 1) on.")
            : JSONFault("The line ends too soon.")
    }
}
