/// How a text ends its lines. Swift takes "\r\n" for one character, which is no "\n".
enum LineEnding: String {
    case lineFeed = "\n"
    case carriageReturnLineFeed = "\r\n"

    /// What both sides' texts end their lines with after a merge: what either side changed it to.
    static func merged(
        base: LineEnding?, local: LineEnding?, remote: LineEnding?
    ) -> LineEnding {
        guard let local, let remote else { return local ?? remote ?? base ?? .lineFeed }
        if local == remote { return local }
        guard let base else { return .carriageReturnLineFeed }
        return local == base ? remote : local
    }
}

/// A text whose lines all end alike.
struct EvenText {
    /// With line feeds alone.
    let text: String
    /// nil for a text of one line.
    let ending: LineEnding?

    /// nil for a text that ends its lines in several ways, or with anything else.
    init?(_ text: String) {
        var ending: LineEnding?
        for character in text
        where character == "\n" || character.unicodeScalars.first == "\r" {
            guard let found = LineEnding(rawValue: String(character)), found == ending ?? found
            else { return nil }
            ending = found
        }
        self.ending = ending
        self.text =
            ending == .carriageReturnLineFeed
            ? String(text.map { $0 == "\r\n" ? "\n" : $0 }) : text
    }

    /// The text with an ending.
    static func text(_ text: String, _ ending: LineEnding) -> String {
        guard ending != .lineFeed else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: ending.rawValue)
    }
}
