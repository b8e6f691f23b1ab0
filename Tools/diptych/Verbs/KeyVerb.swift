internal import Foundation
internal import MirrorEngine

/// `diptych key`: files with the keys under which values are sealed.
struct KeyVerb: Verb {
    private static let newPassphraseFile = Option(
        "new-passphrase-file", "FILE", "passphrase: the new one, in its first line")

    static let manual = Manual(
        name: "key", summary: "Makes and keeps the keys of sealed values.",
        operands: ["WORK", "FILE"], works: Work.allCases.map(\.rawValue),
        options: [KeySource.passphraseFile, newPassphraseFile],
        readsSettingsBesideStore: false,
        notes: [
            """
            WORK is one of
              create FILE       a new key in a new file, wrapped by a passphrase
              show FILE         the names of its keys; the last one seals
              rotate FILE       adds a new key, which seals from now on; the others still open
              passphrase FILE   wraps the keys by another passphrase
            """,
            HelpText.wrapped(
                "Attributes that the model marks with 'Allows Cloud Encryption' travel sealed "
                    + "(AES-256-GCM): `diptych sync --key-file FILE`. The service never has the "
                    + "key. Bring a copy of the file to each device, after a rotation anew, and "
                    + "keep one and the passphrase where they last: without them nobody opens "
                    + "the values again. The passphrase is asked for, or read from a file; it is "
                    + "no argument, which other users of the machine could read."),
        ],
        examples: [
            ("diptych key create Library.keys", "the first device"),
            ("diptych sync Library.sqlite --key-file Library.keys", "on each device"),
            ("diptych key rotate Library.keys", "a new key from now on"),
        ])

    private enum Work: String, CaseIterable {
        case create, show, rotate, passphrase
    }

    private let work: Work
    private let file: URL
    private let passphraseFile: URL?
    private let newPassphraseFile: URL?

    init(_ arguments: Arguments) throws {
        work = try arguments.work(Work.self)
        file = URL(fileURLWithPath: arguments.operand(1)).absoluteURL
        passphraseFile = arguments.file(KeySource.passphraseFile)
        newPassphraseFile = arguments.file(Self.newPassphraseFile)
        guard newPassphraseFile == nil || work == .passphrase else {
            throw CommandError(
                "usage", "--new-passphrase-file belongs to passphrase.", hint: "Leave it out.",
                status: .usage)
        }
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let keys: KeyFile
        switch work {
        case .show: keys = try KeySource.read(file)
        case .create:
            try requireNew()
            let passphrase = try new(passphraseFile)
            keys = try kept {
                try requireNew()
                return try KeyFile(wrapping: SealingKeys([.drawn()]), passphrase: passphrase)
            }
        case .rotate:
            let passphrase = try known(for: KeySource.read(file))
            keys = try kept { try KeySource.read(file).rotated(passphrase: passphrase) }
        case .passphrase:
            let present = try KeySource.read(file)
            let former = try known(for: present)
            _ = try present.open(passphrase: former)
            let next = try new(newPassphraseFile)
            keys = try kept { try KeySource.read(file).rewrapped(from: former, to: next) }
        }
        tell(keys, console)
        return .done
    }

    private func requireNew() throws {
        guard PrivateFile.isTaken(file) else { return }
        throw CommandError(
            "fileExists", "There is a file \(file.path) already.",
            hint: "A key that is lost opens nothing again; name another file.")
    }

    /// Writes the keys that `body` makes; what other processes do to the file comes before or
    /// after.
    private func kept(_ body: () throws -> KeyFile) throws -> KeyFile {
        try PrivateFile.alone(with: file) {
            let keys = try body()
            try PrivateFile.write(String(decoding: keys.data, as: UTF8.self) + "\n", to: file)
            return keys
        }
    }

    private func known(for keys: KeyFile) throws -> String {
        try KeySource.passphrase(of: keys, passphraseFile)
    }

    /// A new passphrase is typed twice.
    private func new(_ file: URL?) throws -> String {
        let passphrase = try KeySource.passphrase(file, asking: "New passphrase")
        guard file == nil else { return passphrase }
        guard try KeySource.passphrase(nil, asking: "Once more") == passphrase else {
            throw CommandError(
                "passphrasesDiffer", "The two passphrases differ.", hint: "Run it again.")
        }
        return passphrase
    }

    private func tell(_ keys: KeyFile, _ console: Console) {
        if console.isJSON {
            return console.emit([
                "file": .string(file.path), "keys": .array(keys.keyIDs.map(JSON.string)),
                "seals": JSON(keys.keyIDs.last),
            ])
        }
        for id in keys.keyIDs {
            console.line(id == keys.keyIDs.last ? "\(id)  seals and opens" : "\(id)  opens")
        }
        switch work {
        case .show: break
        case .create: console.note("Made \(file.path). Keep a copy, and the passphrase.")
        case .rotate: console.note("Bring \(file.path) to the other devices; until then they wait.")
        case .passphrase: console.note("Copies of \(file.path) keep the former passphrase.")
        }
    }
}
