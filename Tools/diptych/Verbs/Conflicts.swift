internal import MirrorEngine

/// `diptych conflicts`: the conflict log, and decisions.
struct Conflicts: Verb {
    private static let waiting = Option("waiting", nil, "only those that wait for a decision")
    private static let resolve = Option("resolve", "ID", "decide this one, or put a value back")
    private static let take = Option("take", "base|local|remote", "the value to take")

    static let manual = Manual(
        name: "conflicts", summary: "Shows values that merges discarded, and decides.",
        operands: ["STORE"], options: [waiting, resolve, take, .model, .zone],
        notes: [
            HelpText.wrapped(
                "Base is what both sides had last agreed on, local this device's value, remote the "
                    + "service's. A value that lost can be put back at any time; the next sync "
                    + "carries it to the others. Exit status 3 while any conflict waits.")
        ],
        examples: [
            ("diptych conflicts Library.sqlite --waiting", "what wants a decision"),
            ("diptych conflicts Library.sqlite --resolve 3 --take remote", "a decision"),
        ])

    private let access: StoreAccess
    private let zone: String?
    private let showsWaitingOnly: Bool
    private let decision: (id: Int64, side: ConflictSide)?

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = arguments.value(.zone)
        showsWaitingOnly = arguments.has(Self.waiting)
        let side = try arguments.choice(Self.take, among: ConflictSide.allCases.map(\.rawValue))
            .flatMap(ConflictSide.init)
        let id = try arguments.number(Self.resolve, in: 1...Int.max)
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
        let mirrored = try access.openMirrored(zone: zone)
        if let decision {
            try mirrored.resolve(conflict: decision.id, taking: decision.side)
            if !console.isJSON {
                console.line(
                    "Conflict \(decision.id) takes the \(decision.side.rawValue) value; "
                        + "the next sync sends it.")
            }
        }
        let entries = try mirrored.conflicts(waitingOnly: showsWaitingOnly)
        if console.isJSON {
            for entry in entries where decision == nil || entry.id == decision?.id {
                console.emit(json(entry))
            }
        } else if decision == nil {
            console.line(entries.isEmpty ? "No conflicts." : table(entries))
        }
        let isAnyWaiting = try !mirrored.conflicts(waitingOnly: true).isEmpty
        return isAnyWaiting ? .conflictsWait : .done
    }

    private func table(_ entries: [ConflictEntry]) -> String {
        var table = TextTable(rightAligned: [0])
        table.add("ID", "OBJECT", "PROPERTY", "BASE", "LOCAL", "REMOTE", "KEPT", "BY RULE", "WHEN")
        for entry in entries {
            table.add(
                "\(entry.id)", "\(entry.entity) \(entry.recordName.prefix(8))", entry.property,
                FieldText.short(entry.base), FieldText.short(entry.local),
                FieldText.short(entry.remote), entry.winner, entry.rule,
                Timestamp.short(entry.date))
        }
        return table.text
    }

    private func json(_ entry: ConflictEntry) -> JSON {
        [
            "id": .integer(entry.id), "date": JSON(entry.date), "entity": .string(entry.entity),
            "record": .string(entry.recordName), "property": .string(entry.property),
            "rule": .string(entry.rule), "winner": .string(entry.winner),
            "base": FieldText.json(entry.base), "local": FieldText.json(entry.local),
            "remote": FieldText.json(entry.remote),
        ]
    }
}
