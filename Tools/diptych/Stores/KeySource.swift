internal import Foundation
internal import MirrorEngine
internal import Platform

/// Where the keys of sealed values come from: a key file, and its passphrase from a file or a
/// prompt, never from an argument, which other users of the machine can read.
enum KeySource {
    static let keyFile = Option(
        "key-file", "FILE", setting: true, "the keys of sealed values, as 'diptych key' makes them")
    static let passphraseFile = Option(
        "passphrase-file", "FILE", setting: true,
        "the key file's passphrase, in its first line; asked for without")
    static let options = [keyFile, passphraseFile]

    /// The keys that the arguments name; nil where they name none.
    static func keys(_ arguments: Arguments) throws -> SealingKeys? {
        for option in options {
            guard let given = arguments.fileBesideStore(option) else { continue }
            throw CommandError(
                "usage",
                "\(given.url.path) names the \(option.name), and may have come with the store.",
                hint: "Give \(option.spelling), set \(option.variable), or put it into the "
                    + "diptych.conf of your own settings.", status: .usage)
        }
        guard let file = arguments.file(keyFile) else {
            guard arguments.file(passphraseFile) == nil else {
                throw CommandError(
                    "usage", "--passphrase-file goes with --key-file.",
                    hint: "Name the key file too.", status: .usage)
            }
            return nil
        }
        let keys = try read(file)
        return try keys.open(passphrase: passphrase(of: keys, arguments.file(passphraseFile)))
    }

    static func read(_ file: URL) throws -> KeyFile {
        guard let data = try? Data(contentsOf: file), data.count < 1_000_000 else {
            throw CommandError(
                "noKeys", "The key file \(file.path) cannot be read.",
                hint: "Make one: `diptych key create FILE`, or bring one from another device.")
        }
        return try KeyFile(data)
    }

    /// The passphrase of keys that are there.
    ///
    /// Where the first line ends with a carriage return, earlier versions took the file as it was,
    /// up to a bare line feed: keys that were wrapped so open by that still.
    static func passphrase(of keys: KeyFile, _ file: URL?) throws -> String {
        let line = try passphrase(file, asking: "Passphrase")
        guard let file, let text = try? String(contentsOf: file, encoding: .utf8),
            let former = text.split(separator: "\n", omittingEmptySubsequences: false).first,
            former != line, (try? keys.open(passphrase: line)) == nil
        else { return line }
        return String(former)
    }

    /// The passphrase in a file, or what is typed at the prompt.
    static func passphrase(_ file: URL?, asking prompt: String) throws -> String {
        guard let file else { return try PassphrasePrompt.ask(prompt) }
        guard let data = try? Data(contentsOf: file), data.count < 65_536,
            let line = TextLines.first(of: data)
        else {
            throw CommandError(
                "noPassphrase", "\(file.path) holds no passphrase.",
                hint: "Its first line is the passphrase, as UTF-8.")
        }
        return line
    }
}

/// Asks at the terminal without showing what is typed.
///
/// Whatever ends the question, the terminal is as it was: the keys that interrupt a program are
/// read like others meanwhile, and `exit` puts back what is still changed.
private enum PassphrasePrompt {
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
        atexit { PassphrasePrompt.restore() }
        silenced.withLock { $0 = (terminal, former) }
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else {
            silenced.withLock { $0 = nil }
            throw missing()
        }
    }

    private static func restore() {
        silenced.withLock { silenced in
            guard let (terminal, former) = silenced else { return }
            var settings = former
            tcsetattr(terminal, TCSAFLUSH, &settings)
            silenced = nil
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
