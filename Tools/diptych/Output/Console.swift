internal import Foundation
internal import Platform

/// Where the command writes: results on standard output, progress and errors on standard error.
struct Console: Sendable {
    let isJSON: Bool
    let isQuiet: Bool
    /// Whether progress may overwrite its own line.
    let hasTerminal: Bool
    /// Whether standard output may have colours.
    let hasColour: Bool
    /// How many characters a line of standard output may have: the terminal's, else 100.
    let width: Int
    private let progressLength = Lock(0)

    init(isJSON: Bool, isQuiet: Bool, environment: [String: String]) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        let isDumb = environment["TERM"] == "dumb"
        hasTerminal = isatty(STDERR_FILENO) == 1 && !isDumb
        let isPlain = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        width = isKnown ? max(Int(size.ws_col), 40) : 100
        hasColour = isatty(STDOUT_FILENO) == 1 && !isDumb && !isPlain && !isJSON
    }

    // MARK: Results

    /// One line, or several, of the result.
    func line(_ text: String) {
        clearProgress()
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// One JSON value on a line of its own.
    func emit(_ value: JSON) { line(value.text) }

    func bold(_ text: String) -> String { hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func dim(_ text: String) -> String { hasColour ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    // MARK: Beside the result

    /// What the command is doing now. On a terminal the next word of it takes its place.
    func progress(_ text: String) {
        guard !isQuiet, !isJSON else { return }
        guard hasTerminal else { return write(text + "\n", to: STDERR_FILENO) }
        let former = progressLength.withLock { length in
            defer { length = text.count }
            return length
        }
        let padding = String(repeating: " ", count: max(0, former - text.count))
        write("\r" + text + padding, to: STDERR_FILENO)
    }

    /// Something to know that is no failure.
    func warn(_ text: String) {
        guard !isQuiet else { return }
        clearProgress()
        if isJSON {
            write(JSON.object([("warning", .string(text))]).text + "\n", to: STDERR_FILENO)
        } else {
            write("warning: \(text)\n", to: STDERR_FILENO)
        }
    }

    /// Text on standard error that is neither progress nor an error with a code.
    func complain(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    func report(_ error: CommandError) {
        clearProgress()
        if isJSON {
            let members: JSON = [
                "code": .string(error.code), "message": .string(error.message),
                "hint": JSON(error.hint),
            ]
            write(JSON.object([("error", members)]).text + "\n", to: STDERR_FILENO)
        } else {
            write("diptych: \(error.message)\n", to: STDERR_FILENO)
            if let hint = error.hint { write("hint: \(hint)\n", to: STDERR_FILENO) }
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
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            // Nobody reads any more, as behind `head`.
            guard count > 0 else { exit(ExitStatus.failed.rawValue) }
            bytes = bytes.dropFirst(count)
        }
    }
}
