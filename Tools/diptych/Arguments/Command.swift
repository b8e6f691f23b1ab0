internal import Foundation

/// One call of the command: finds the verb, reads its words, runs it, and says what went wrong.
struct Command {
    let words: [String]
    let environment: [String: String]
    private let console: Console

    static let version = "0.2.0"

    init(words: [String], environment: [String: String]) {
        self.words = words
        self.environment = environment
        console = Console(
            isJSON: words.contains("--json"), isQuiet: words.contains("--quiet"), isSilent: false,
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
        case "--help", "-h", "help":
            return try help(about: words.dropFirst().first { !$0.hasPrefix("-") })
        case "--version", "-v": return version()
        default: break
        }
        guard let verb = VerbTable.verb(named: first) else {
            // A first option is no verb, but may be followed by one of those above.
            if first.hasPrefix("-"), let second = words.dropFirst().first {
                if ["--help", "-h"].contains(second) { return try help(about: nil) }
                if ["--version", "-v"].contains(second) { return version() }
            }
            throw unknown(first)
        }
        let arguments = try ArgumentReader.read(
            Array(words.dropFirst()), by: verb.manual, environment: environment)
        guard !arguments.has(.help) else { return try help(about: first) }
        return try await run(verb, arguments)
    }

    private func run(_ verb: any Verb.Type, _ arguments: Arguments) async throws -> ExitStatus {
        let console = Console(
            isJSON: arguments.has(.json), isQuiet: arguments.has(.quiet),
            isSilent: arguments.has(.quiet) && !VerbTable.answers(verb.manual.name),
            environment: environment)
        for warning in arguments.warnings { console.warn(warning) }
        let invocation = arguments.invocation
        do {
            let verb = try verb.init(arguments)
            guard !verb.mindsSignals else { return try await verb.run(console) }
            return try await SignalWatch.run(
                console, invocation, stops: verb.stopsWhenCancelled
            ) {
                try await verb.run(console)
            }
        } catch {
            throw invocation.completing(CommandFailure.describe(error))
        }
    }

    private func help(about name: String?) throws -> ExitStatus {
        guard let name else {
            if console.isJSON {
                console.emit(HelpText.json)
            } else {
                console.block(HelpText.overview)
            }
            return .done
        }
        guard let verb = VerbTable.verb(named: name) else { throw unknown(name) }
        if console.isJSON {
            console.emit(HelpText.json(of: verb.manual))
        } else {
            console.block(HelpText.text(of: verb.manual))
        }
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
        let guess = near.map { "Did you mean `diptych \($0)`? " } ?? ""
        return CommandError(
            "usage", "There is no \(isOption ? "option" : "verb") '\(name)'.",
            hint: (isOption ? "The verb comes first. " : guess)
                + "`diptych --help` lists the verbs.", status: .usage)
    }
}
