internal import Foundation
internal import Platform

/// Asks at the terminal without showing what is typed.
///
/// Whatever ends the question, the terminal is as it was: the keys that interrupt a program are
/// read like others meanwhile, and `exit`, as well as the signals that end a program, put back what
/// is still changed.
enum PassphrasePrompt {
    private static let bytesMax = 4_096
    /// A terminal that shows nothing just now, and how it was.
    private static let silenced = Lock<(terminal: Int32, former: termios)?>(nil)

    static func ask(_ prompt: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else { throw missing() }
        defer { close(terminal) }
        var former = termios()
        guard tcgetattr(terminal, &former) == 0 else { throw missing() }
        try silence(terminal, former)
        defer { restore() }
        write(prompt + ": ", to: terminal)
        let typed = try line(from: terminal, keys(of: former))
        write("\n", to: terminal)
        guard let text = String(bytes: typed, encoding: .utf8), !text.isEmpty else {
            throw CommandError(
                "noPassphrase",
                "The passphrase is \(typed.isEmpty ? "empty" : "no text in UTF-8").",
                hint: "Type another one, or name a file that holds it with --passphrase-file.")
        }
        return text
    }

    private static func silence(_ terminal: Int32, _ former: termios) throws {
        let keys = keys(of: former)
        var silent = former
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        // Lines end with them, so that they are read at once.
        withUnsafeMutableBytes(of: &silent.c_cc) { marks in
            marks[Int(VEOL)] = keys.interrupt
            marks[Int(VEOL2)] = keys.quit
        }
        ProcessEnd.willCall { restore() }
        silenced.withLock { $0 = (terminal, former) }
        EndingSignals.putBack(former, of: terminal)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else {
            silenced.withLock { $0 = nil }
            EndingSignals.letGo()
            throw missing()
        }
    }

    private static func restore() {
        silenced.withLock { silenced in
            guard let (terminal, former) = silenced else { return }
            var settings = former
            tcsetattr(terminal, TCSAFLUSH, &settings)
            silenced = nil
            EndingSignals.letGo()
        }
    }

    /// What is typed up to its end. Throws where it is interrupted.
    private static func line(
        from terminal: Int32, _ keys: (interrupt: UInt8, quit: UInt8, suspend: UInt8)
    ) throws -> [UInt8] {
        var typed: [UInt8] = []
        var byte: UInt8 = 0
        while typed.count < bytesMax, read(terminal, &byte, 1) == 1, byte != UInt8(ascii: "\n") {
            // A key that the terminal does not have is 0.
            guard byte == 0 || byte != keys.interrupt && byte != keys.quit else {
                write("\n", to: terminal)
                throw interrupted()
            }
            if byte == 0 || byte != keys.suspend { typed.append(byte) }
        }
        return typed
    }

    private static func keys(
        of terminal: termios
    ) -> (interrupt: UInt8, quit: UInt8, suspend: UInt8) {
        withUnsafeBytes(of: terminal.c_cc) { marks in
            (marks[Int(VINTR)], marks[Int(VQUIT)], marks[Int(VSUSP)])
        }
    }

    private static func write(_ text: String, to terminal: Int32) {
        let bytes = Array(text.utf8)
        _ = Foundation.write(terminal, bytes, bytes.count)
    }

    private static func interrupted() -> CommandError {
        CommandError(
            "interrupted", "Interrupted.", hint: "Nothing was changed; run the command again.",
            status: .interrupted)
    }

    private static func missing() -> CommandError {
        CommandError(
            "noPassphrase", "There is no passphrase, and no terminal to ask for it.",
            hint: "Name a file that holds it with --passphrase-file.")
    }
}

/// Signals that end the program while a terminal shows nothing: its settings are put back first.
/// Those that are ignored, as somebody else looks after them, stay so.
private enum EndingSignals {
    private static let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU]
    // Unsafe: a handler may take no lock. They are written before it stands, by the thread that
    // asks; one question is asked at a time.
    nonisolated(unsafe) private static let settings = UnsafeMutablePointer<termios>.allocate(
        capacity: 1)
    nonisolated(unsafe) private static let terminal = UnsafeMutablePointer<Int32>.allocate(
        capacity: 1)
    /// What the signals did before; SIGQUIT has a handler of Swift's own.
    private static let former = Lock<[(number: Int32, action: sigaction)]>([])

    static func putBack(_ shown: termios, of place: Int32) {
        settings.initialize(to: shown)
        terminal.initialize(to: place)
        former.withLock { former in
            for number in all {
                var action = sigaction()
                guard sigaction(number, nil, &action) == 0, !isIgnored(action) else { continue }
                former.append((number, action))
                signal(number, handler)
            }
        }
    }

    /// Only calls that a handler may make. What was typed so far is not left for the shell to read.
    private static let handler: @convention(c) (Int32) -> Void = { number in
        tcsetattr(EndingSignals.terminal.pointee, TCSANOW, EndingSignals.settings)
        tcflush(EndingSignals.terminal.pointee, TCIFLUSH)
        // It comes once this function has returned.
        signal(number, SIG_DFL)
        raise(number)
    }

    /// Lets the signals do again what they did.
    static func letGo() {
        former.withLock { former in
            for (number, action) in former {
                var action = action
                sigaction(number, &action, nil)
            }
            former = []
        }
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
