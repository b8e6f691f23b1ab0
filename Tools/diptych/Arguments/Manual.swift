/// What a verb is for and how it is called: its help, and what the reader of arguments goes by.
struct Manual: Sendable {
    let name: String
    /// One line of the list of verbs.
    let summary: String
    /// The words that stand for themselves, in order, such as `STORE`. All must be given.
    var operands: [String] = []
    /// Words that may follow those.
    var optionalOperands: [String] = []
    /// The words that one of the operands can be, for completion: WORK, or the shell.
    var works: [String] = []
    /// Which operand that is.
    var worksPlace = 0
    /// Whether the last word that must be given may be given several times.
    var repeatsLastOperand = false
    var options: [Option] = []
    /// Whether the first operand is a store, beside which a `diptych.conf` may lie.
    var readsSettingsBesideStore = true
    /// Further paragraphs of the help.
    var notes: [String] = []
    /// Command lines that work, each with what it does.
    var examples: [(line: String, what: String)] = []

    var allOptions: [Option] { options + Option.everywhere }
}

/// One verb of the command.
protocol Verb: Sendable {
    static var manual: Manual { get }
    /// Takes its settings; throws a `CommandError` of status `.usage` for those it cannot use.
    init(_ arguments: Arguments) throws
    /// Whether this run takes Ctrl-C and SIGTERM into its own hands.
    var mindsSignals: Bool { get }
    /// Whether this run stops by itself once its task is cancelled, and takes back what is half
    /// done.
    var stopsWhenCancelled: Bool { get }
    /// Does the work. What fails is thrown; `CommandFailure` turns any error into words.
    func run(_ console: Console) async throws -> ExitStatus
}

extension Verb {
    var mindsSignals: Bool { false }
    var stopsWhenCancelled: Bool { false }
}
