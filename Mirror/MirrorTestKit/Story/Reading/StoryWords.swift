internal import Foundation

/// The words of one line: plain words, texts in quotes, and the marks `,` and `:`.
struct StoryWords {
    enum Word: Equatable {
        case plain(String)
        case quoted(String)
        case comma
        case colon
    }

    private var rest: ArraySlice<Word>

    /// Throws `StoryError` for a quote that is not closed.
    init(_ line: String) throws {
        var words: [Word] = []
        var rest = line[...]
        while let first = rest.first, first != "#" {
            switch first {
            case _ where first.isWhitespace: rest.removeFirst()
            case ",":
                words.append(.comma)
                rest.removeFirst()
            case "\"", "\u{201C}": words.append(.quoted(try Self.quoted(&rest)))
            default: words += Self.plain(&rest)
            }
        }
        self.rest = words[...]
    }

    /// A word up to a space, a comma or a quote; a colon at its end stands alone, but for that of
    /// data without a byte.
    private static func plain(_ rest: inout Substring) -> [Word] {
        let word = rest.prefix { !$0.isWhitespace && $0 != "," && $0 != "\"" }
        rest = rest[word.endIndex...]
        guard word.hasSuffix(":"), word != "base64:" else { return [.plain(String(word))] }
        return word.count == 1 ? [.colon] : [.plain(String(word.dropLast())), .colon]
    }

    private static func quoted(_ rest: inout Substring) throws -> String {
        let end: Character = rest.removeFirst() == "\"" ? "\"" : "\u{201D}"
        var text = ""
        while let character = rest.popFirst() {
            if character == end { return text }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            switch rest.popFirst() {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case let other?: text.append(other)
            case nil: break
            }
        }
        throw StoryError("A quote is not closed.", "Close it with \(end).")
    }

    // MARK: Taking words

    var isEmpty: Bool { rest.isEmpty }
    var next: Word? { rest.first }

    /// The next word where it is a plain one.
    var plain: String? {
        if case .plain(let word)? = rest.first { word } else { nil }
    }

    mutating func take() -> Word? { rest.popFirst() }

    /// Takes the words of `phrase` where they stand next. Returns whether they did.
    mutating func take(_ phrase: String) -> Bool {
        let words = phrase.split(separator: " ").map { Word.plain(String($0)) }
        guard rest.starts(with: words) else { return false }
        rest = rest.dropFirst(words.count)
        return true
    }

    mutating func takeAny(_ phrases: String...) -> Bool {
        for phrase in phrases where take(phrase) { return true }
        return false
    }

    mutating func takeComma() -> Bool {
        guard rest.first == .comma else { return false }
        rest.removeFirst()
        return true
    }

    mutating func takeColon() -> Bool {
        guard rest.first == .colon else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes a plain word; `what` says in an error what was looked for.
    mutating func word(_ what: String, _ form: String) throws -> String {
        guard case .plain(let word)? = rest.first else {
            throw StoryError(
                rest.isEmpty
                    ? "The line ends where \(what) should stand."
                    : "\(described) stands where \(what) should.", "Write: \(form)")
        }
        rest.removeFirst()
        return word
    }

    mutating func value(_ form: String) throws -> StoryLiteral {
        switch rest.popFirst() {
        case .quoted(let text)?: return .text(text)
        case .plain("nothing")?: return .nothing
        case .plain(let word)?: return .word(word)
        default: throw StoryError("A value is missing.", "Write: \(form)")
        }
    }

    /// Words between commas or `and`: "a, b and c".
    mutating func list(_ what: String, _ form: String) throws -> [String] {
        var words = [try word(what, form)]
        while takeComma() || take("and") {
            _ = take("and")
            words.append(try word(what, form))
        }
        return words
    }

    /// Throws where words are left.
    func end(_ form: String) throws {
        guard !rest.isEmpty else { return }
        throw StoryError("\(described) is too much here.", "Write: \(form)")
    }

    private var described: String {
        switch rest.first {
        case .plain(let word)?: "'\(word)'"
        case .quoted(let text)?: "\"\(text)\""
        case .comma?: "A comma"
        case .colon?: "A colon"
        case nil: "Nothing"
        }
    }
}
