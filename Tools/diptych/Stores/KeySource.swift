internal import Foundation
internal import MirrorEngine

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
        guard let data = try? GivenFile.data(file, bytesMax: 1_000_000), data.count < 1_000_000
        else {
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
        guard let data = try? GivenFile.data(file, bytesMax: 65_536), data.count < 65_536,
            let line = TextLines.first(of: data)
        else {
            throw CommandError(
                "noPassphrase", "\(file.path) holds no passphrase.",
                hint: "Its first line is the passphrase, as UTF-8.")
        }
        return line
    }
}
