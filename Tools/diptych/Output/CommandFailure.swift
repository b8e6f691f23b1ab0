internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import ObjectModel
internal import Persistence
internal import Predicates
internal import RecordServer
internal import RecordWire
internal import SQLiteDriver
internal import Stores

/// Turns any error into one sentence and a hint.
enum CommandFailure {
    static func describe(_ error: any Error) -> CommandError {
        // The command's own errors have the hint that fits.
        if let error = error as? CommandError { return error }
        var result = words(for: error)
        if let hint = HintTable.hint(for: result) { result.hint = hint }
        return result
    }

    private static func words(for error: any Error) -> CommandError {
        switch error {
        case let error as StoreError: describe(error)
        case let error as ModelFileError: describe(error)
        case let error as ClassGenerationError: split("\(error.code)", error.message)
        case let error as ModelConsistencyError: split("contradictoryModel", error.message)
        case let error as PredicateFormatError: describe(error)
        case let error as EvaluationError: split("\(error.code)", error.message)
        case let error as MirrorError: describe(error)
        case let error as any ChannelFailure: describe(error)
        case let error as RecordError: describe(error)
        case let error as ServerError: describe(error)
        case let error as SQLiteFault: describe(error)
        case let error as UniquenessViolation:
            CommandError(
                "notUnique",
                "Another \(error.entity) has the same \(error.constraint.joined(separator: ", ")).",
                hint: "Change one of them; the constraint stands in the model.")
        case is SaveConflicts:
            CommandError(
                "saveConflict", "Somebody else changed the same objects meanwhile.",
                hint: "Run the command again.", status: .tryAgain)
        case is CancellationError: CommandError("cancelled", "The work was cancelled.")
        default: describe(error as NSError)
        }
    }

    /// The files of a model are told by their whole path.
    private static func describe(_ error: ModelFileError) -> CommandError {
        var result = split("\(error.code)", error.message)
        if let file = error.fields["file"] {
            let short = file.split(separator: "/").suffix(2).joined(separator: "/")
            if result.message.hasPrefix(short) {
                result.message = file + result.message.dropFirst(short.count)
            }
        }
        result.hint = result.hint.map { hint in
            let more = error.code == .missingVersion ? " with --version" : ""
            return hint + more + (hint.hasSuffix(".") ? "" : ".")
        }
        return result
    }

    // MARK: Stores

    private static func describe(_ error: StoreError) -> CommandError {
        var result = split("\(error.code)", error.message)
        if let path = error.fields["path"], path != ":memory:" {
            result.message = "\(path): " + result.message
        }
        if let fault = error.cause as? SQLiteFault, error.code == .failed {
            result.message += " SQLite says: \(fault.message)."
            result.hint = "Look at the free space and at the file's rights."
        }
        if error.code == .busy { result.status = .tryAgain }
        return result
    }

    private static func describe(_ fault: SQLiteFault) -> CommandError {
        var result = CommandError("sqlite", "SQLite refused: \(fault.message).")
        if fault.isBusy {
            result = CommandError(
                "busy", "The store is locked by another process.", status: .tryAgain)
        }
        return result
    }

    /// What Core Data's errors say, which tell their code by a number.
    private static func describe(_ error: NSError) -> CommandError {
        if let cause = error.userInfo[NSUnderlyingErrorKey] as? StoreError {
            return describe(cause)
        }
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        var message = error.localizedDescription
        if let first = details.first {
            message += " The first: " + first.localizedDescription
        }
        var result = split(name(of: error), message)
        if let path = error.userInfo[NSFilePathErrorKey] as? String {
            result.message = "\(path): " + result.message
        }
        if result.hint == nil, isValidation(error) {
            result.hint = "The model sets this rule; correct the value or the model."
        }
        return result
    }

    private static func isValidation(_ error: NSError) -> Bool {
        error.domain == NSCocoaErrorDomain && (1550..<1700).contains(error.code)
    }

    private static func name(of error: NSError) -> String {
        guard error.domain == NSCocoaErrorDomain else { return "\(error.domain).\(error.code)" }
        if isValidation(error) { return "validation" }
        switch error.code {
        case NSManagedObjectMergeError: return "saveConflict"
        case NSManagedObjectConstraintMergeError: return "notUnique"
        default: return "coreData\(error.code)"
        }
    }

    private static func describe(_ error: PredicateFormatError) -> CommandError {
        CommandError(
            "badPredicate",
            "The predicate cannot be read at character \(error.position + 1): \(error.expected).",
            hint: "Write it as for NSPredicate, such as name BEGINSWITH 'A' AND year > 2000.",
            status: .usage)
    }

    // MARK: The way to the service

    private static func describe(_ error: MirrorError) -> CommandError {
        if let cause = error.cause as? RecordError { return describe(cause) }
        if let cause = error.cause as? any ChannelFailure { return describe(cause) }
        var result = split("\(error.code)", error.message)
        if error.code == .throttled || error.code == .offline { result.status = .tryAgain }
        return result
    }

    private static func describe(_ error: any ChannelFailure) -> CommandError {
        var result = unanswered(error)
        guard error.isTransient else { return result }
        result.hint =
            (result.hint.map { $0 + " " } ?? "")
            + "Nothing is lost; sync again later: `diptych sync`."
        return result
    }

    /// What kept an answer from coming, for who syncs nothing.
    static func unanswered(_ error: any ChannelFailure) -> CommandError {
        let code = (error as? TransportError).map { "\($0.code)" } ?? "offline"
        var result = split(code, error.message)
        if code == "failed", let words = error.fields["curlMessage"] {
            result.message = "The request failed: \(words)."
            result.hint = nil
        }
        if error.isTransient { result.status = .tryAgain }
        return result
    }

    private static func describe(_ error: RecordError) -> CommandError {
        var result = split(error.code.rawValue, "The service says: \(error.reason)")
        switch error.code {
        case .authenticationFailed, .authenticationRequired:
            result.hint =
                (result.hint.map { $0 + " " } ?? "")
                + "The tokens come from --token-file; `diptych serve` wrote that file."
        default: break
        }
        if error.code.isTransient { result.status = .tryAgain }
        return result
    }

    /// What the service's library says of its own rows, with what to do where it says so.
    static func own(_ error: RecordError) -> CommandError {
        split(error.code.rawValue, error.reason)
    }

    private static func describe(_ error: ServerError) -> CommandError {
        var result = split("\(error.code)", error.message)
        if let port = error.fields["port"], error.code == .portInUse {
            result.message = "Port \(port) is in use by another process."
            result.hint = "Stop that one, or listen elsewhere; port 0 takes a free one."
        }
        if let path = error.fields["path"] { result.message = "\(path): " + result.message }
        return result
    }

    // MARK: Sentences

    /// The house's messages say "what failed; what to do", or so in two sentences.
    private static func split(_ code: String, _ message: String) -> CommandError {
        for separator in ["; ", ". "] {
            guard let cut = message.range(of: separator, options: .backwards) else { continue }
            let head = message[..<cut.lowerBound]
            let tail = message[cut.upperBound...]
            guard !tail.isEmpty else { continue }
            return CommandError(
                code, head + (head.hasSuffix(".") ? "" : "."),
                hint: tail.prefix(1).uppercased() + tail.dropFirst()
                    + (tail.hasSuffix(".") || tail.hasSuffix("?") ? "" : "."))
        }
        return CommandError(code, message.hasSuffix(".") ? message : message + ".")
    }
}
