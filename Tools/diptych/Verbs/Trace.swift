internal import Foundation
internal import MirrorEngine

/// `diptych trace`: one object's life.
struct Trace: Verb {
    static let manual = Manual(
        name: "trace", summary: "Tells one object's life: saves, rounds, conflicts.",
        operands: ["STORE", "OBJECT"], options: [.model] + ZoneChoice.options,
        notes: [
            HelpText.wrapped(
                "OBJECT is what 'diptych inspect' calls an object, such as Book/p3, its "
                    + "x-coredata:// id, or the name of its record, as 'diptych conflicts --json' "
                    + "and 'diptych status' have it; also of one that is deleted, as far as the "
                    + "history and the logs go back. The store is only read.")
        ],
        examples: [
            ("diptych trace Library.sqlite Book/p1", "oldest first"),
            ("diptych trace Library.sqlite Book/p1 --json", "for programs"),
        ])

    private let access: StoreAccess
    private let zone: ZoneChoice
    private let object: String

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = try ZoneChoice(ofStoreBy: arguments)
        object = arguments.operand(1)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        try access.requireStore()
        let copy = try StoreCopy(of: access.url)
        defer { withExtendedLifetime(copy) {} }
        let mirrored = try access.openMirrored(copy, zone: zone)
        _ = try mirrored.status()
        let trace = try ObjectTrace(of: object, in: mirrored)
        if console.isJSON {
            emit(trace, console)
        } else {
            print(trace, console)
        }
        return .done
    }

    private func print(_ trace: ObjectTrace, _ console: Console) {
        console.title(trace.title)
        var facts = TextTable(indent: 2)
        for fact in trace.facts { facts.add(fact.name, fact.text) }
        console.block(facts.text)
        guard !trace.events.isEmpty else {
            return console.line("  The history and the logs tell nothing of it.")
        }
        console.line("")
        var events = TextTable(indent: 2)
        for event in trace.events {
            events.add(Timestamp.short(event.date), event.kind, event.text)
        }
        console.block(events.text)
    }

    private func emit(_ trace: ObjectTrace, _ console: Console) {
        for event in trace.events {
            console.emit([
                "date": JSON(event.date), "event": .string(event.kind),
                "text": .string(event.text),
            ])
        }
        console.emit([
            "object": .string(trace.title),
            "records": .array(trace.recordNames.map(JSON.string)),
            "facts": .array(
                trace.facts.map { ["name": .string($0.name), "text": .string($0.text)] }),
        ])
    }
}
