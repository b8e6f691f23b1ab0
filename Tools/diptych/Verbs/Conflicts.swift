internal import MirrorEngine

/// `diptych conflicts`: the conflict log, and decisions.
struct Conflicts: Verb {
    private static let waiting = Option("waiting", nil, "only those that wait for a decision")
    private static let resolve = Option("resolve", "ID", "decide this one, or put a value back")
    private static let take = Option("take", "base|local|remote", "the value to take")
    private static let restore = Option(
        "restore", "ID|OBJECT", "bring the object back, anew or as the service has it")
    private static let restoreRefused = Option(
        "restore-refused", nil, "take back all deletions and edits that the service refused")
    private static let wide = Option("wide", nil, "one line each, whole, however wide")

    static let manual = Manual(
        name: "conflicts", summary: "Shows values that merges discarded, and decides.",
        operands: ["STORE"],
        options: [waiting, resolve, take, restore, restoreRefused, wide, .model]
            + ZoneChoice.options + KeySource.options,
        notes: [
            HelpText.wrapped(
                "Base is what both sides had last agreed on, local this device's value, remote the "
                    + "service's, with the device that wrote it, as 'diptych status' names it "
                    + "there. OBJECT is what 'diptych inspect' calls it; --json has its whole id, "
                    + "as 'diptych export' does, and the record's name, which is the same on all "
                    + "devices. BY is the rule that decided, or hand. A value that lost can be "
                    + "put back as long as its object lives; a deleted object of which something "
                    + "was lost is kept whole as long as its lines are, and --restore makes it "
                    + "anew. The next sync carries either to the others. Exit status 3 while any "
                    + "conflict waits."),
            HelpText.wrapped(
                "What others made in the public database, or share for reading only, may be "
                    + "deleted here and stands at the service all the same: 'diptych status' "
                    + "lists such objects. --restore brings one back, as 'diptych status' calls "
                    + "it, --restore-refused all of them: under the same record name, as the "
                    + "service has them, with their links. Nothing is sent of that. What was "
                    + "linked with them and is one's own stays as it was sent. Edits that the "
                    + "service refused are taken back in the same way: the object is as the "
                    + "service has it again, and what was edited is in the log."),
        ],
        examples: [
            ("diptych conflicts Library.sqlite --waiting", "what wants a decision"),
            ("diptych conflicts Library.sqlite --resolve 3 --take remote", "a decision"),
            ("diptych conflicts Library.sqlite --restore 5", "an object that was deleted"),
            (
                "diptych conflicts Library.sqlite --restore-refused",
                "what was not one's own to change"
            ),
        ])

    private let access: StoreAccess
    private let zone: ZoneChoice
    private let keys: SealingKeys?
    private let showsWaitingOnly: Bool
    private let isWide: Bool
    private let decision: (id: Int64, side: ConflictSide)?
    private let restored: RestoreChoice?
    private let invocation: Invocation

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = try ZoneChoice(ofStoreBy: arguments)
        keys = try KeySource.keys(arguments)
        showsWaitingOnly = arguments.has(Self.waiting)
        isWide = arguments.has(Self.wide)
        invocation = arguments.invocation
        let side = try arguments.choice(Self.take, among: ConflictSide.allCases.map(\.rawValue))
            .flatMap(ConflictSide.init)
        let id = try arguments.number(Self.resolve, in: 1...Int.max)
        restored = try RestoreChoice(arguments, one: Self.restore, refused: Self.restoreRefused)
        if restored != nil, id != nil {
            throw CommandError(
                "usage", "--resolve and --restore do not go together.",
                hint: "Restore the object first, then put a value of it back.", status: .usage)
        }
        switch (id, side) {
        case (let id?, let side?): decision = (Int64(id), side)
        case (nil, nil): decision = nil
        default:
            throw CommandError(
                "usage", "--resolve and --take go together.",
                hint: "Write --resolve ID --take base, local or remote.", status: .usage)
        }
    }

    func run(_ console: Console) async throws -> ExitStatus {
        guard decision != nil || restored != nil else {
            return try access.lookingAt(zone: zone, keys: keys) { try show($0, console) }
        }
        let mirrored = try access.openMirrored(zone: zone, keys: keys)
        if let decision {
            try mirrored.resolve(conflict: decision.id, taking: decision.side)
            if !console.isJSON {
                let next = invocation.line(calling: Sync.manual)
                console.note(
                    "Conflict \(decision.id) takes the \(decision.side.rawValue) value; "
                        + "the next sync sends it: `\(next)`")
            }
        }
        if let restored {
            let report = RestoreReport(mirrored, invocation, console)
            report.tell(try restored.run(mirrored), restored)
            return try !mirrored.conflicts(waitingOnly: true).isEmpty ? .conflictsWait : .done
        }
        return try show(mirrored, console)
    }

    private func show(_ mirrored: MirroredStore, _ console: Console) throws -> ExitStatus {
        let report = try ConflictReport(mirrored, waitingOnly: showsWaitingOnly)
        if console.isJSON {
            for entry in report.entries where decision == nil || entry.id == decision?.id {
                console.emit(report.json(entry))
            }
        } else if decision == nil {
            console.block(
                report.entries.isEmpty
                    ? "No conflicts." : report.text(width: console.width, isWide: isWide))
        }
        let isAnyWaiting = try !mirrored.conflicts(waitingOnly: true).isEmpty
        return isAnyWaiting ? .conflictsWait : .done
    }
}
