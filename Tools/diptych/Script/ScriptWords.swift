/// Splits a line into words at spaces; quotes and brackets keep theirs together.
struct ScriptWords {
    private var rest: Substring
    private(set) var words: [String] = []

    /// Throws `ScriptError` for a quote or a bracket that is not closed.
    static func split(_ line: String) throws -> [String] {
        var splitter = ScriptWords(rest: line[...])
        try splitter.run()
        return splitter.words
    }

    private init(rest: Substring) { self.rest = rest }

    private mutating func run() throws {
        while true {
            rest = rest.drop { $0.isWhitespace }
            guard let first = rest.first, first != "#" else { return }
            words.append(try word())
        }
    }

    private mutating func word() throws -> String {
        var word = ""
        var depth = 0
        while let character = rest.first {
            if character.isWhitespace, depth == 0 { break }
            if character == "\"" || (character == "'" && depth > 0) {
                word += try quoted(character)
                continue
            }
            if character == "[" { depth += 1 }
            // One that closes none is a letter as others.
            if character == "]", depth > 0 { depth -= 1 }
            word.append(character)
            rest.removeFirst()
        }
        guard depth == 0 else { throw ScriptError("A '[' is not closed.", "Close it with ']'.") }
        return word
    }

    /// A quoted stretch as it stands, quotes included.
    private mutating func quoted(_ quote: Character) throws -> String {
        var text = String(rest.removeFirst())
        while let character = rest.popFirst() {
            text.append(character)
            if character == quote { return text }
            if character == "\\", let next = rest.popFirst() { text.append(next) }
        }
        throw ScriptError("A quote is not closed.", "Close it with \(quote).")
    }
}

extension ScriptValue {
    /// Reads what stands after `key=`.
    init(word: String) throws {
        guard word.hasPrefix("\"") else {
            self = word == "null" ? .null : .text(word)
            return
        }
        self = .text(try Self.unquoted(word))
    }

    private static func unquoted(_ word: String) throws -> String {
        var text = ""
        var rest = word.dropFirst()
        while let character = rest.popFirst() {
            if character == "\"" {
                guard rest.isEmpty else {
                    throw ScriptError(
                        "'\(rest)' stands behind a closed quote.",
                        "Write \\\" for a quote inside a text.")
                }
                return text
            }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            text.append(try escape(&rest))
        }
        throw ScriptError("A quote is not closed.", "Close it with \".")
    }

    private static func escape(_ rest: inout Substring) throws -> Character {
        switch rest.popFirst() {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "\"": return "\""
        case "\\": return "\\"
        case "u":
            if rest.first == "{", let end = rest.firstIndex(of: "}"),
                let number = UInt32(rest[..<end].dropFirst(), radix: 16),
                let scalar = Unicode.Scalar(number)
            {
                rest = rest[rest.index(after: end)...]
                return Character(scalar)
            }
            throw ScriptError("\\u lacks its number.", "Write it as \\u{1F4D6}.")
        case let other:
            throw ScriptError(
                "\\\(other.map(String.init) ?? "") means nothing.",
                "There are \\n, \\t, \\r, \\\", \\\\ and \\u{…}.")
        }
    }
}
