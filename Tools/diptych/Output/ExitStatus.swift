/// How the command ended, for scripts.
enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    /// Done, and conflicts wait for a decision.
    case conflictsWait = 3
    /// Done, but something is missing that cannot be read: values whose external files are gone, a
    /// container in a backup.
    case incomplete = 4
    /// The service is away or asks to wait, or another process holds the store: the same command
    /// may succeed later (EX_TEMPFAIL).
    case tryAgain = 75
    /// Ctrl-C, as a shell counts a program that SIGINT ended.
    case interrupted = 130
    /// Nobody reads the output any more, as behind `head`; as a shell counts SIGPIPE.
    case outputClosed = 141
    /// SIGTERM.
    case terminated = 143
}

/// What went wrong, in one sentence, and what to do, in another. A command in backticks is
/// completed with the store and the flags of the call before it is shown (`Invocation`).
struct CommandError: Error, Sendable {
    var code: String
    var message: String
    var hint: String?
    var status: ExitStatus

    init(_ code: String, _ message: String, hint: String? = nil, status: ExitStatus = .failed) {
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status
    }

    /// What is said where a verb is to make what is there.
    static func exists(_ path: String) -> CommandError {
        CommandError(
            "exists", "\(path) is there already.",
            hint: "Choose another name, or remove the file first.")
    }
}
