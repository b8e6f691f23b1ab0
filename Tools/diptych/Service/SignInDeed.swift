internal import Foundation
internal import RecordService

/// What `diptych service users` does about ways to sign in. Passwords come from a file, standard
/// input or a prompt, never from an argument, which other users of the machine can read.
enum SignInDeed {
    private static let password = Option(
        "password", "USER", "users: let this one sign in by password, or change it")
    private static let file = Option(
        "password-file", "FILE|-", "users: the password, in its first line; asked for without")
    private static let name = Option(
        "sign-in-name", "NAME", "users: the name to sign in with (the label)")
    private static let removal = Option(
        "no-password", "USER", "users: let this one sign in by password no more")
    private static let unlinking = Option(
        "unlink", "USER", "users: let no provider name this one any more")
    /// Those of which one decides what is done.
    static let deeds = [password, removal, unlinking]
    static let details = [file, name]
    static let options = deeds + details

    case set(user: String, file: String?, name: String?)
    case remove(user: String)
    case unlink(user: String)

    /// nil where nothing of it was asked for.
    init?(_ arguments: Arguments) throws {
        if let user = arguments.value(Self.password) {
            self = .set(
                user: user, file: arguments.value(Self.file), name: arguments.value(Self.name))
            return
        }
        if let option = Self.details.first(where: { arguments.has($0) }) {
            throw CommandError(
                "usage", "--\(option.name) goes with --password.",
                hint: "Name the user with --password USER.", status: .usage)
        }
        if let user = arguments.value(Self.removal) {
            self = .remove(user: user)
        } else if let user = arguments.value(Self.unlinking) {
            self = .unlink(user: user)
        } else {
            return nil
        }
    }

    func perform(_ accounts: ServiceAccounts, _ console: Console) throws {
        switch self {
        case .set(let called, let file, let name):
            let user = try accounts.user(called: called)
            let former = try accounts.passwordNames()[user.userRecordName]
            let name = name ?? former ?? user.label
            try accounts.setPassword(
                try Self.read(file), name: name, of: user.userRecordName)
            console.did(
                "\(user.userRecordName) signs in at the console as \(name).",
                ["userRecordName": .string(user.userRecordName), "signsInAs": .string(name)])
        case .remove(let called):
            let user = try accounts.user(called: called)
            try accounts.removePassword(of: user.userRecordName)
            console.did(
                "\(user.label) signs in by password no more.",
                ["userRecordName": .string(user.userRecordName), "signsInAs": .null])
        case .unlink(let called):
            let user = try accounts.user(called: called)
            try accounts.removeIdentities(of: user.userRecordName)
            console.did(
                "\(user.label) is signed in by no provider now.",
                ["userRecordName": .string(user.userRecordName), "providers": []])
        }
    }

    /// A new password that is typed is typed twice.
    private static func read(_ file: String?) throws -> String {
        if file == "-" {
            // What is no UTF-8 is repaired by this mark: it would be another password.
            guard let line = readLine(), !line.isEmpty, !line.contains("\u{FFFD}") else {
                throw CommandError(
                    "noPassword", "Standard input holds no password.",
                    hint: "Its first line is the password, as UTF-8.")
            }
            return line
        }
        let place = file.map { URL(fileURLWithPath: $0) }
        let password = try KeySource.passphrase(place, asking: "New password")
        guard place == nil else { return password }
        guard try KeySource.passphrase(nil, asking: "Once more") == password else {
            throw CommandError(
                "passphrasesDiffer", "The two passwords differ.", hint: "Run it again.")
        }
        return password
    }
}
