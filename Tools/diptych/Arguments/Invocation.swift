internal import Foundation

/// The call that is being answered, from which commands in hints are completed: with its store, the
/// flags it was given, and quotes for the shell, so that they run as they are printed.
struct Invocation: Sendable {
    let manual: Manual
    let operands: [String]
    /// As they were given: by name, without the dashes.
    let flags: [String: String]

    /// The store of the call; nil where its verb takes none.
    var store: String? { manual.operands.first == "STORE" ? operands.first : nil }

    /// A line that calls a verb on the same store with those of the given flags that it takes.
    func line(calling other: Manual, adding words: [String] = []) -> String {
        var line = ["diptych", other.name]
        if other.operands.first == "STORE" {
            line.append(store.map(ShellWord.file) ?? "STORE")
            let rest = Array(other.operands.dropFirst())
            let isSame = other.name == manual.name
            line += rest.enumerated().map { index, name in
                let given = isSame && index + 1 < operands.count ? operands[index + 1] : nil
                return given.map { $0 == "-" ? $0 : ShellWord.file($0) } ?? name
            }
        } else {
            line += other.operands
        }
        for option in other.options where keeps(option, of: other) {
            guard let value = flags[option.name], !words.contains("--\(option.name)") else {
                continue
            }
            line.append("--\(option.name)")
            if option.value != nil { line.append(ShellWord.quoted(value)) }
        }
        if other.name == Create.manual.name, flags[Option.model.name] == nil {
            line += ["--\(Option.model.name)", "MODEL"]
        }
        return (line + words).joined(separator: " ")
    }

    /// What was said of the store and its service holds for other calls too, and the same verb is
    /// called with the same switches; what it was to do this time is not repeated.
    private func keeps(_ option: Option, of other: Manual) -> Bool {
        // A line to copy is no place for a password.
        let isSecret =
            option.name == RecordPlace.database.name
            && flags[option.name].map(RecordPlace.showsPassword) == true
        return !isSecret
            && (option.isSetting || (other.name == manual.name && option.value == nil))
    }

    /// The text with each `diptych VERB` in it completed. The libraries put theirs in quotes.
    func completing(_ text: String) -> String {
        guard let pattern = try? Regex(#"[`']diptych ([a-z]+)((?: --[a-z-]+(?: [A-Za-z]+)?)*)[`']"#)
        else { return text }
        return text.replacing(pattern) { match in
            let verb = String(match.output[1].substring ?? "")
            let rest = String(match.output[2].substring ?? "")
            guard let other = VerbTable.verb(named: verb)?.manual, rest != " --help" else {
                return "`diptych \(verb)\(rest)`"
            }
            let words = rest.split(separator: " ").map(String.init)
            return "`\(line(calling: other, adding: words))`"
        }
    }

    func completing(_ error: CommandError) -> CommandError {
        var error = error
        error.message = completing(error.message)
        error.hint = error.hint.map(completing)
        return error
    }
}
