/// Cuts Swift source into tokens; comments are left out, strings are single tokens.
struct Lexer {
    private let bytes: [UInt8]
    private let file: String
    private var position = 0
    private var line = 1
    private var isApart = true
    private(set) var tokens: [Token] = []

    /// The tokens of `text`. Throws where a string or a comment does not end.
    static func tokens(of text: String, file: String) throws -> [Token] {
        var lexer = Lexer(text: text, file: file)
        while lexer.position < lexer.bytes.count { try lexer.step() }
        return lexer.tokens
    }

    private init(text: String, file: String) {
        bytes = Array(text.utf8)
        self.file = file
    }

    private func peek(_ offset: Int = 0) -> UInt8 {
        position + offset < bytes.count ? bytes[position + offset] : 0
    }

    private func starts(with text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return bytes[position...].prefix(wanted.count).elementsEqual(wanted)
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func step() throws {
        let byte = peek()
        if byte <= 32 {
            isApart = true
            return advance()
        }
        if starts(with: "//") { return skipLine() }
        if starts(with: "/*") { return try skipComment() }
        if try takeString() { return }
        if byte == UInt8(ascii: "#") { return takeHash() }
        if byte == UInt8(ascii: "`") { return takeQuotedWord() }
        if Self.isWordByte(byte) { return takeWord() }
        if byte == UInt8(ascii: "/"), let end = regularExpressionEnd() {
            return add(.literal, upTo: end)
        }
        if starts(with: "->") { return add(.mark, upTo: position + 2) }
        add(.mark, upTo: position + 1)
    }

    private mutating func add(_ kind: Token.Kind, upTo end: Int) {
        let text = String(decoding: bytes[position..<min(end, bytes.count)], as: UTF8.self)
        add(kind, text, line: line)
        advance(end - position)
    }

    private mutating func add(_ kind: Token.Kind, _ text: String, line: Int) {
        tokens.append(Token(kind: kind, text: text, line: line, isApart: isApart))
        isApart = false
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 128...:
            true
        default: false
        }
    }

    private mutating func takeWord() {
        var end = position
        while end < bytes.count, Self.isWordByte(bytes[end]) { end += 1 }
        let isNumber = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(peek())
        add(isNumber ? .literal : .word, upTo: end)
    }

    private mutating func takeQuotedWord() {
        let start = position + 1
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "`")) ?? bytes.count
        add(.quotedWord, String(decoding: bytes[start..<end], as: UTF8.self), line: line)
        advance(end + 1 - position)
    }

    // MARK: Comments and conditions

    private mutating func skipLine() {
        while position < bytes.count, peek() != UInt8(ascii: "\n") { position += 1 }
        isApart = true
    }

    private mutating func skipComment() throws {
        let first = line
        var depth = 0
        repeat {
            guard position < bytes.count else {
                throw CompilerError(
                    .malformedSource, "the comment does not end; close it",
                    at: SourcePlace(file: file, line: first))
            }
            if starts(with: "/*") {
                depth += 1
                advance(2)
            } else if starts(with: "*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0
        isApart = true
    }

    private mutating func takeHash() {
        let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let text = String(decoding: bytes[position..<end], as: UTF8.self)
        let word = text.dropFirst().prefix { $0.isLetter }
        guard ["if", "elseif", "else", "endif"].contains(word) else {
            return add(.mark, upTo: position + 1)
        }
        add(.condition, text, line: line)
        position = end
    }

    // MARK: Strings and regular expressions

    /// Takes a string literal, raw or of several lines, with what is interpolated.
    private mutating func takeString() throws -> Bool {
        var hashes = 0
        while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
        let opener = peek(hashes)
        if hashes > 0, opener == UInt8(ascii: "/") {
            try takeExtendedExpression(hashes)
            return true
        }
        guard opener == UInt8(ascii: "\"") else { return false }
        let first = line
        try skipString(hashes)
        add(.literal, "\"\"", line: first)
        return true
    }

    private mutating func skipString(_ hashes: Int) throws {
        let first = line
        advance(hashes)
        let quotes = starts(with: "\"\"\"") ? 3 : 1
        advance(quotes)
        while position < bytes.count {
            if isRun(of: UInt8(ascii: "\""), quotes), isRun(of: UInt8(ascii: "#"), hashes, quotes) {
                return advance(quotes + hashes)
            }
            if peek() == UInt8(ascii: "\\"), isRun(of: UInt8(ascii: "#"), hashes, 1) {
                advance(1 + hashes)
                if peek() == UInt8(ascii: "(") { try skipInterpolation() } else { advance() }
            } else if quotes == 1, peek() == UInt8(ascii: "\n") {
                break
            } else {
                advance()
            }
        }
        throw CompilerError(
            .malformedSource, "the string does not end; close it",
            at: SourcePlace(file: file, line: first))
    }

    private mutating func skipInterpolation() throws {
        var depth = 0
        repeat {
            guard position < bytes.count else { return }
            var hashes = 0
            while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
            if peek(hashes) == UInt8(ascii: "\"") {
                try skipString(hashes)
                continue
            }
            if peek() == UInt8(ascii: "(") { depth += 1 }
            if peek() == UInt8(ascii: ")") { depth -= 1 }
            advance()
        } while depth > 0
    }

    private func isRun(of byte: UInt8, _ count: Int, _ offset: Int = 0) -> Bool {
        (0..<count).allSatisfy { peek(offset + $0) == byte }
    }

    private mutating func takeExtendedExpression(_ hashes: Int) throws {
        var end = position + hashes + 1
        while end < bytes.count {
            if bytes[end] == UInt8(ascii: "/"),
                bytes[(end + 1)...].prefix(hashes).allSatisfy({ $0 == UInt8(ascii: "#") })
            {
                return add(.literal, upTo: end + 1 + hashes)
            }
            end += 1
        }
        throw CompilerError(
            .malformedSource, "the regular expression does not end; close it",
            at: SourcePlace(file: file, line: line))
    }

    /// The end of a bare `/…/`: only where a value may begin, closed on its line, and without a
    /// `)` that nothing opens, which is the end of a call with the operator as an argument.
    private func regularExpressionEnd() -> Int? {
        guard peek(1) > 32, let last = tokens.last else { return nil }
        let mayBegin =
            last.kind == .mark && ["(", ",", "=", ":", "[", "{", "!", "&", "|"].contains(last.text)
            || last.kind == .word && ["return", "in", "case", "try"].contains(last.text)
        guard mayBegin else { return nil }
        var end = position + 1
        var (groups, classes) = (0, 0)
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
            switch bytes[end] {
            case UInt8(ascii: "\\"): end += 1
            case UInt8(ascii: "/"): return end + 1
            case UInt8(ascii: "["): classes += 1
            case UInt8(ascii: "]"): classes = max(0, classes - 1)
            case UInt8(ascii: "(") where classes == 0: groups += 1
            case UInt8(ascii: ")") where classes == 0:
                guard groups > 0 else { return nil }
                groups -= 1
            default: break
            }
            end += 1
        }
        return nil
    }
}
