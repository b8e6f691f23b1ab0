internal import Foundation

/// One call of the command: finds the verb, reads its words, runs it, and says what went wrong.
struct Command {
    let words: [String]
    let environment: [String: String]
    private let console: Console

    static let version = "0.1.0"

    init(words: [String], environment: [String: String]) {
        self.words = words
        self.environment = environment
        console = Console(
            isJSON: words.contains("--json"), isQuiet: words.contains("--quiet"),
            environment: environment)
    }

    func run() async -> ExitStatus {
        do {
            return try await perform()
        } catch {
            let failure = CommandFailure.describe(error)
            console.report(failure)
            return failure.status
        }
    }

    private func perform() async throws -> ExitStatus {
        guard let first = words.first else {
            console.complain(HelpText.overview)
            return .usage
        }
        switch first {
        case "--help", "-h", "help": return try help(about: words.dropFirst().first)
        case "--version": return version()
        default: break
        }
        guard let verb = VerbTable.verb(named: first) else { throw unknown(first) }
        let arguments = try ArgumentReader.read(
            Array(words.dropFirst()), by: verb.manual, environment: environment)
        guard !arguments.has(.help) else { return try help(about: first) }
        return try await verb.init(arguments).run(console)
    }

    private func help(about name: String?) throws -> ExitStatus {
        guard let name, !name.hasPrefix("-") else {
            console.line(HelpText.overview)
            return .done
        }
        guard let verb = VerbTable.verb(named: name) else { throw unknown(name) }
        console.line(HelpText.text(of: verb.manual))
        return .done
    }

    private func version() -> ExitStatus {
        if console.isJSON {
            console.emit(["version": .string(Self.version)])
        } else {
            console.line("diptych \(Self.version)")
        }
        return .done
    }

    private func unknown(_ name: String) -> CommandError {
        let isOption = name.hasPrefix("-")
        let near = Spelling.nearest(to: name, among: VerbTable.manuals.map(\.name))
        let guess = near.map { "Did you mean 'diptych \($0)'? " } ?? ""
        return CommandError(
            "usage", "There is no \(isOption ? "option" : "verb") '\(name)'.",
            hint: (isOption ? "The verb comes first. " : guess)
                + "'diptych --help' lists the verbs.", status: .usage)
    }
}
