/// Cuts a format into tokens, and gives each placeholder the number of its argument.
struct Lexer {
    let format: String
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var placeholders: [Placeholder] = []

    init(_ format: String) {
        self.format = format
        scalars = Array(format.unicodeScalars)
    }

    /// Returns the tokens of the whole format, the end included.
    static func tokens(of format: String) throws(PredicateFormatError) -> [Token] {
        var lexer = Lexer(format)
        var tokens: [Token] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    /// Returns what the format's placeholders take, in order.
    static func placeholders(of format: String) throws(PredicateFormatError) -> [Placeholder] {
        var lexer = Lexer(format)
        while try lexer.next().kind != .end {}
        return lexer.placeholders
    }

    private mutating func next() throws(PredicateFormatError) -> Token {
        while let scalar = peek(), scalar.properties.isWhitespace { index += 1 }
        let start = index
        guard let scalar = peek() else { return Token(kind: .end, position: start) }
        return Token(kind: try kind(startingWith: scalar), position: start)
    }

    private mutating func kind(
        startingWith scalar: Unicode.Scalar
    ) throws(PredicateFormatError) -> Token.Kind {
        switch scalar {
        case "'", "\"": return .literal(.text(try text(endingWith: scalar)))
        case "0"..."9": return .literal(try number())
        case "." where peek(1).map(isDigit) == true: return .literal(try number())
        case "$":
            index += 1
            return .variable(try name("a variable's name after $"))
        case "#":
            index += 1
            return .word(try name("a name after #"), escaped: true)
        case "@":
            index += 1
            return .collectionOperator("@" + (try name("an operator such as @count")))
        case "%": return try placeholder()
        case _ where isNameStart(scalar): return word()
        default: return try symbol()
        }
    }

    // MARK: Words

    private mutating func word() -> Token.Kind {
        var word = takeName()
        if word.uppercased() == "UTI" {
            for rest in ["-CONFORMS-TO", "-EQUALS"] where upcoming(rest.count).uppercased() == rest
            {
                index += rest.count
                return .word(word + rest, escaped: false)
            }
        }
        while peek() == ":", peek(1) != "=" {
            index += 1
            word += ":" + takeName()
        }
        return .word(word, escaped: false)
    }

    private mutating func name(_ expected: String) throws(PredicateFormatError) -> String {
        guard let scalar = peek(), isNameStart(scalar) else { throw failure(expected) }
        return takeName()
    }

    private mutating func takeName() -> String {
        var name = String.UnicodeScalarView()
        while let scalar = peek(), isNameStart(scalar) || isDigit(scalar) || isMark(scalar) {
            name.append(scalar)
            index += 1
        }
        return String(name)
    }

    private func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic
    }

    private func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 127 && scalar.properties.isIDContinue
    }

    // MARK: Signs

    private static let longSigns: Set<String> = [
        "**", "==", "=<", "=>", "<=", ">=", "<>", "!=", "&&", "||", ":=", "<<", ">>",
    ]
    private static let signs = Set("=<>!+-*/(){}[],.&|^~".unicodeScalars)

    private mutating func symbol() throws(PredicateFormatError) -> Token.Kind {
        let long = upcoming(2)
        if Self.longSigns.contains(long) {
            index += 2
            return .symbol(long)
        }
        guard let scalar = peek(), Self.signs.contains(scalar) else {
            throw failure("an operator, a name or a literal")
        }
        index += 1
        return .symbol(String(scalar))
    }

    private mutating func placeholder() throws(PredicateFormatError) -> Token.Kind {
        let start = index
        index += 1
        while let scalar = peek(), "lhqzt".unicodeScalars.contains(scalar) { index += 1 }
        guard let letter = peek(), "@KdDiuUxXofFgGeEaAcCsS".unicodeScalars.contains(letter) else {
            index = start
            throw failure("a placeholder such as %@, %K, %d, %ld, %f or %s")
        }
        index += 1
        let isLong = scalars[start..<index].contains { "lqzt".unicodeScalars.contains($0) }
        placeholders.append(Placeholder(letter, isLong: isLong))
        let number = placeholders.count - 1
        return letter == "K" ? .keyPathArgument(number) : .argument(number)
    }

    // MARK: Literals

    private mutating func text(endingWith quote: Unicode.Scalar) throws(PredicateFormatError)
        -> String
    {
        let start = index
        index += 1
        var text = String.UnicodeScalarView()
        while let scalar = peek() {
            index += 1
            if scalar == quote { return String(text) }
            if scalar == "\\", let escaped = peek() {
                index += 1
                append(escape: escaped, to: &text)
            } else {
                text.append(scalar)
            }
        }
        index = start
        throw failure("a closing \(quote)")
    }

    /// Unknown escapes keep their backslash, as regular expressions want it.
    private mutating func append(
        escape scalar: Unicode.Scalar, to text: inout String.UnicodeScalarView
    ) {
        switch scalar {
        case "\\", "'", "\"": text.append(scalar)
        case "n": text.append("\n")
        case "r": text.append("\r")
        case "t": text.append("\t")
        case "u", "U":
            let length = scalar == "u" ? 4 : 8
            if upcoming(length).unicodeScalars.count == length,
                let value = UInt32(upcoming(length), radix: 16), let made = Unicode.Scalar(value)
            {
                index += length
                text.append(made)
            } else {
                text.append(contentsOf: ["\\", scalar])
            }
        default: text.append(contentsOf: ["\\", scalar])
        }
    }

    private mutating func number() throws(PredicateFormatError) -> Token.Literal {
        let radixes: [String: Int] = ["0x": 16, "0X": 16, "0o": 8, "0O": 8, "0b": 2, "0B": 2]
        if let radix = radixes[upcoming(2)] {
            index += 2
            let digits = takeName()
            guard let value = UInt64(digits, radix: radix) else {
                throw failure("a number of base \(radix) that fits 64 bits")
            }
            return .integer(value)
        }
        var digits = takeDigits()
        var isReal = false
        if peek() == ".", peek(1).map(isDigit) == true {
            index += 1
            digits += "." + takeDigits()
            isReal = true
        }
        if let exponent = takeExponent() {
            digits += exponent
            isReal = true
        }
        if !isReal, let value = UInt64(digits) { return .integer(value) }
        guard let value = Double(digits.hasPrefix(".") ? "0" + digits : digits) else {
            throw failure("a number")
        }
        return .real(value)
    }

    private mutating func takeExponent() -> String? {
        guard peek() == "e" || peek() == "E" else { return nil }
        let signed = peek(1) == "+" || peek(1) == "-"
        guard peek(signed ? 2 : 1).map(isDigit) == true else { return nil }
        let sign = peek(1) == "-" ? "-" : ""
        index += signed ? 2 : 1
        return "e" + sign + takeDigits()
    }

    private mutating func takeDigits() -> String {
        var digits = ""
        while let scalar = peek(), isDigit(scalar) {
            digits.unicodeScalars.append(scalar)
            index += 1
        }
        return digits
    }

    private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    // MARK: Looking

    private func peek(_ ahead: Int = 0) -> Unicode.Scalar? {
        index + ahead < scalars.count ? scalars[index + ahead] : nil
    }

    private func upcoming(_ count: Int) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[index..<min(index + count, scalars.count)])
        return String(text)
    }

    private func failure(_ expected: String) -> PredicateFormatError {
        PredicateFormatError(.syntax, position: index, expected: expected, format: format)
    }
}
