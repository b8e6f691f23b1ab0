extension TableSchema {
    /// The names of the columns in the text of a table as stores declare theirs: a name, a type,
    /// and the key. Nil for any other text, which says more than this reads, and where a name
    /// stands twice.
    static func plainColumns(ofStatement text: String) -> Set<String>? {
        var columns: Set<String> = []
        var isPlain = true
        var text = text
        text.withUTF8 { bytes in
            isPlain = readPlain(bytes) { name in
                columns.insert(String(decoding: bytes[name], as: UTF8.self)).inserted
            }
        }
        return isPlain ? columns : nil
    }

    /// Whether `plainColumns` can read the text. Cost: a look at each byte, nothing is kept; names
    /// are not compared, since SQLite lets none stand twice.
    static func isPlain(statement bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        readPlain(bytes) { _ in true }
    }

    /// Hands each column's name to `each`, which says whether to go on. Returns whether the whole
    /// text is plain and has a column.
    private static func readPlain(
        _ bytes: UnsafeBufferPointer<UInt8>, _ each: (Range<Int>) -> Bool
    ) -> Bool {
        var text = TableText(bytes)
        guard text.takeHead() else { return false }
        var isEmpty = true
        while true {
            let first = text.takeWord()
            guard !first.isEmpty, !text.isAtEndOfPart else { return false }
            let second = text.takeWord()
            if text.holds(first, "PRIMARY"), text.holds(second, "KEY") {
                guard text.skipKey() else { return false }
            } else {
                guard text.isName(first), text.isType(second), text.takeEndOfColumn(),
                    each(first)
                else { return false }
                isEmpty = false
            }
            switch text.takeSeparator() {
            case .comma: continue
            case .end: return !isEmpty
            case nil: return false
            }
        }
    }
}

/// A place in the text of a table, from which words are taken.
private struct TableText {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    enum Separator { case comma, end }

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private static let types: [StaticString] = [
        "INTEGER", "VARCHAR", "TIMESTAMP", "FLOAT", "BLOB", "DECIMAL", "VARCHAR(255)",
    ]

    /// `CREATE TABLE` and what stands before the first parenthesis.
    mutating func takeHead() -> Bool {
        let words: StaticString = "CREATE TABLE "
        guard bytes.count > words.utf8CodeUnitCount,
            holds(0..<words.utf8CodeUnitCount, words), bytes.last == UInt8(ascii: ")"),
            let open = bytes.firstIndex(of: UInt8(ascii: "("))
        else { return false }
        place = open + 1
        return true
    }

    private mutating func skipSpaces() {
        while place < bytes.count, bytes[place] == UInt8(ascii: " ") { place += 1 }
    }

    /// The bytes up to a space, or to a comma or a parenthesis that ends the part. A type's own
    /// parentheses belong to it.
    mutating func takeWord() -> Range<Int> {
        skipSpaces()
        let start = place
        var depth = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: " ") { break }
            if byte == UInt8(ascii: "(") { depth += 1 }
            if depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: ")") { break }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            place += 1
        }
        return start..<place
    }

    /// Whether nothing but spaces is left of the part between two commas.
    var isAtEndOfPart: Bool {
        var rest = self
        rest.skipSpaces()
        guard rest.place < bytes.count else { return true }
        let byte = bytes[rest.place]
        return byte == UInt8(ascii: ",") || byte == UInt8(ascii: ")")
    }

    /// Nothing, or `PRIMARY KEY`.
    mutating func takeEndOfColumn() -> Bool {
        if isAtEndOfPart { return true }
        let (first, second) = (takeWord(), takeWord())
        return holds(first, "PRIMARY") && holds(second, "KEY") && isAtEndOfPart
    }

    /// The names of a compound key, in parentheses.
    mutating func skipKey() -> Bool {
        skipSpaces()
        guard place < bytes.count, bytes[place] == UInt8(ascii: "("),
            let close = bytes[place...].firstIndex(of: UInt8(ascii: ")"))
        else { return false }
        place = close + 1
        return isAtEndOfPart
    }

    /// The comma after a part, or the parenthesis that ends the text.
    mutating func takeSeparator() -> Separator? {
        skipSpaces()
        guard place < bytes.count else { return nil }
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: ",") { return .comma }
        return place == bytes.count && byte == UInt8(ascii: ")") ? .end : nil
    }

    func isName(_ word: Range<Int>) -> Bool {
        bytes[word].allSatisfy { byte in
            byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
        }
    }

    func isType(_ word: Range<Int>) -> Bool { Self.types.contains { holds(word, $0) } }

    func holds(_ word: Range<Int>, _ text: StaticString) -> Bool {
        guard word.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { other in
            zip(bytes[word], other).allSatisfy { $0 == $1 }
        }
    }
}
