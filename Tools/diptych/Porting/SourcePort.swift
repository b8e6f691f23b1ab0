internal import Foundation

/// Rewrites a Swift source that was written for Apple's platforms, as far as that is mechanical.
///
/// Comments, and strings but for what is interpolated, are never touched, and a text that was
/// rewritten is not changed again.
struct SourcePort: Sendable {
    /// A change that was made, or something that is left to a person.
    struct Note: Sendable, Equatable {
        let line: Int
        let what: String
    }

    private(set) var changes: [Note] = []
    private(set) var left: [Note] = []
    /// The text afterwards.
    private(set) var text: [UInt8]

    private let tokens: [SourceToken]
    private var edits: [(range: Range<Int>, text: String)] = []

    init(_ source: [UInt8]) {
        text = source
        tokens = SourceScanner.tokens(of: source)
        var index = 0
        while index < tokens.count { index = max(index + 1, read(index)) }
        readImports()
        apply()
    }

    // MARK: What the rules read

    /// The token at `index`; nil beyond the ends.
    func token(_ index: Int) -> SourceToken? {
        tokens.indices.contains(index) ? tokens[index] : nil
    }

    func isMark(_ mark: String, at index: Int) -> Bool { token(index)?.isMark(mark) == true }
    func isWord(_ word: String, at index: Int) -> Bool { token(index)?.isWord(word) == true }

    /// The index after the bracket that closes the one at `index`.
    func endOfBrackets(at index: Int) -> Int {
        var depth = 0
        for place in index..<tokens.count {
            if isMark("(", at: place) { depth += 1 }
            if isMark(")", at: place) { depth -= 1 }
            if depth == 0 { return place + 1 }
        }
        return tokens.count
    }

    /// The tokens from `index` to before `end` as they are written, without comments.
    func written(_ index: Int, _ end: Int) -> String {
        (index..<end).compactMap { token($0)?.text }.joined()
    }

    mutating func replace(_ first: Int, _ end: Int, with text: String, _ what: String) {
        guard let start = token(first), let last = token(end - 1) else { return }
        edits.append((start.range.lowerBound..<last.range.upperBound, text))
        changes.append(Note(line: start.line, what: what))
    }

    /// Writes `text` in the place of bytes.
    mutating func replace(_ range: Range<Int>, with text: String, _ note: Note) {
        edits.append((range, text))
        changes.append(note)
    }

    /// Takes tokens away with the space after them, or their whole line where nothing else is on
    /// it.
    mutating func remove(_ first: Int, _ end: Int, _ what: String) {
        guard let start = token(first), let last = token(end - 1) else { return }
        let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 }
        var (lower, upper) = (start.range.lowerBound, last.range.upperBound)
        while upper < text.count, isSpace(text[upper]) { upper += 1 }
        var begin = lower
        while begin > 0, isSpace(text[begin - 1]) { begin -= 1 }
        let beginsLine = begin == 0 || text[begin - 1] == UInt8(ascii: "\n")
        if beginsLine, upper < text.count, text[upper] == UInt8(ascii: "\n") {
            lower = begin
            upper += 1
        }
        edits.append((lower..<upper, ""))
        changes.append(Note(line: start.line, what: what))
    }

    mutating func leave(_ index: Int, _ what: String) {
        left.append(Note(line: token(index)?.line ?? 0, what: what))
    }

    private mutating func apply() {
        for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            text.replaceSubrange(edit.range, with: Array(edit.text.utf8))
        }
        changes.sort { ($0.line, $0.what) < ($1.line, $1.what) }
        left.sort { ($0.line, $0.what) < ($1.line, $1.what) }
    }

    // MARK: Imports

    /// Names that are ambiguous in files that import both CoreData and Foundation.
    private static let sharedNames: Set<String> = ["NSExpression", "NSComparisonPredicate"]
    private static let absent = [
        "Combine": "use NotificationCenter messages or AsyncSequence",
        "SwiftUI": "no views here; keep the model apart from them",
        "UIKit": "no views here; keep the model apart from them",
        "AppKit": "no views here; keep the model apart from them",
        "CloudKit": "the product Mirror has it; docs/COMPATIBILITY.md says what of it is there",
        "CoreSpotlight": "there is no system search",
        "OSLog": "there is no unified log; print, or use a package for logs",
        "os": "there is no unified log; print, or use a package for logs",
    ]

    private mutating func readImports() {
        var imports: [String: Int] = [:]
        for index in tokens.indices
        where isWord("import", at: index) && token(index + 1)?.kind == .word
            && !isMark(".", at: index - 1)
        {
            let name = tokens[index + 1].text
            imports[name] = index
            if let advice = Self.absent[name] { leave(index, "import \(name): \(advice)") }
        }
        guard imports["CoreData"] != nil, let foundation = imports["Foundation"],
            tokens.contains(where: { $0.kind == .word && Self.sharedNames.contains($0.text) })
        else { return }
        let isPlain =
            !isMark(".", at: foundation + 2)
            && token(foundation - 1)?.line
                != token(foundation)?.line
        guard isPlain else { return }
        remove(foundation, foundation + 2, "import Foundation, which CoreData brings along")
    }
}
