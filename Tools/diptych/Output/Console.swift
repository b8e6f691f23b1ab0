internal import Foundation
internal import Platform

/// Where the command writes: results on standard output, progress and errors on standard error.
///
/// Nothing that is written acts on a terminal but the console's own two or three sequences: all
/// text goes through `PlainText`, and JSON escapes by itself.
struct Console: Sendable {
    let isJSON: Bool
    let isQuiet: Bool
    /// Whether results that nobody asked for by name are kept back, for `--quiet`.
    let isSilent: Bool
    /// Whether progress may overwrite its own line.
    let hasTerminal: Bool
    /// Whether standard output may have colours.
    let hasColour: Bool
    /// How many columns a line of standard output may take: the terminal's, else COLUMNS, else 80.
    let width: Int
    private let progressLength = Lock(0)

    init(
        isJSON: Bool, isQuiet: Bool, isSilent: Bool? = nil, environment: [String: String]
    ) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.isSilent = isSilent ?? isQuiet
        let isDumb = environment["TERM"] == "dumb"
        hasTerminal = isatty(STDERR_FILENO) == 1 && !isDumb
        let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        let given = environment["COLUMNS"].flatMap(Int.init)
        width = max(Self.columns(of: STDOUT_FILENO) ?? given ?? 80, 40)
        hasColour = isatty(STDOUT_FILENO) == 1 && !isDumb && !isPlain && !isJSON
    }

    private static func columns(of terminal: Int32) -> Int? {
        var size = winsize()
        let isKnown = ioctl(terminal, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : nil
    }

    // MARK: Results

    /// One line of the result.
    func line(_ text: String) { result(PlainText.line(text)) }

    /// Several lines of the result.
    func block(_ text: String) { result(PlainText.block(text)) }

    /// A line above others.
    func title(_ text: String) { result(styled(PlainText.line(text), "1")) }

    /// A line of less weight.
    func aside(_ text: String) { result(styled(PlainText.line(text), "2")) }

    /// What was done, for people; `--quiet` keeps it back also where a verb answers a question.
    func note(_ text: String) {
        if !isQuiet { line(text) }
    }

    /// What was done: with `--json` an object, else words that `--quiet` keeps back.
    func did(_ words: String, _ members: JSON) {
        if isJSON { emit(members) } else { note(words) }
    }

    /// One JSON value on a line of its own.
    func emit(_ value: JSON) {
        clearProgress()
        write(value.text + "\n", to: STDOUT_FILENO)
    }

    private func result(_ text: String) {
        guard !isSilent else { return }
        clearProgress()
        write(text + "\n", to: STDOUT_FILENO)
    }

    private func styled(_ text: String, _ code: String) -> String {
        hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    // MARK: Beside the result

    /// What the command is doing now. On a terminal the next word of it takes its place, and a bar
    /// shows how far it is where `total` is known; elsewhere each is a line.
    func progress(_ text: String, done: Int = 0, total: Int = 0) {
        guard !isQuiet, !isJSON else { return }
        let text = PlainText.line(text)
        guard hasTerminal else { return write(text + "\n", to: STDERR_FILENO) }
        let room = max((Self.columns(of: STDERR_FILENO) ?? 80) - 1, 20)
        let shown = PlainText.cut(Self.bar(done, of: total) + text, to: room)
        let length = TextWidth.columns(of: shown)
        let former = progressLength.withLock { former in
            defer { former = length }
            return former
        }
        let padding = String(repeating: " ", count: max(0, former - length))
        write("\r" + shown + padding, to: STDERR_FILENO)
    }

    private static func bar(_ done: Int, of total: Int) -> String {
        guard total > 0 else { return "" }
        let share = min(max(Double(done) / Double(total), 0), 1)
        let full = Int(share * 20)
        return "[" + String(repeating: "#", count: full)
            + String(repeating: ".", count: 20 - full) + "] "
    }

    /// Something to know that is no failure.
    func warn(_ text: String) {
        guard !isQuiet else { return }
        clearProgress()
        if isJSON {
            write(JSON.object([("warning", .string(text))]).text + "\n", to: STDERR_FILENO)
        } else {
            write("warning: \(PlainText.line(text))\n", to: STDERR_FILENO)
        }
    }

    /// Text on standard error that is neither progress nor an error with a code.
    func complain(_ text: String) { write(PlainText.block(text) + "\n", to: STDERR_FILENO) }

    func report(_ error: CommandError) {
        clearProgress()
        if isJSON {
            let members: JSON = [
                "code": .string(error.code), "message": .string(error.message),
                "hint": JSON(error.hint),
            ]
            write(JSON.object([("error", members)]).text + "\n", to: STDERR_FILENO)
        } else {
            write("diptych: \(PlainText.line(error.message))\n", to: STDERR_FILENO)
            if let hint = error.hint {
                write("hint: \(PlainText.line(hint))\n", to: STDERR_FILENO)
            }
        }
    }

    private func clearProgress() {
        guard hasTerminal else { return }
        let length = progressLength.withLock { length in
            defer { length = 0 }
            return length
        }
        guard length > 0 else { return }
        write("\r" + String(repeating: " ", count: length) + "\r", to: STDERR_FILENO)
    }

    private func write(_ text: String, to descriptor: Int32) {
        let failure = Array(text.utf8).withUnsafeBytes { StandardStream.write($0, to: descriptor) }
        // What nobody takes beside the result is no reason to leave work half done.
        if let failure, descriptor == STDOUT_FILENO { Self.end(failure) }
    }

    /// Ends the program whose output nobody takes any more, or nothing holds.
    private static func end(_ code: Int32) -> Never {
        if code == EPIPE { ProcessEnd.now(.outputClosed) }
        let reason = String(cString: strerror(code))
        let words = Array("diptych: The output cannot be written: \(reason).\n".utf8)
        _ = Foundation.write(STDERR_FILENO, words, words.count)
        ProcessEnd.now(.failed)
    }
}
