internal import Foundation
internal import MirrorEngine

/// `diptych events`: the log of setup, imports and exports.
struct Events: Verb {
    static let manual = Manual(
        name: "events", summary: "Lists the imports and exports of a store.", operands: ["STORE"],
        options: [.model, .zone],
        examples: [("diptych events Library.sqlite", "oldest first")])

    private let access: StoreAccess
    private let zone: String?

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = arguments.value(.zone)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        let events = try access.openMirrored(zone: zone).events()
        guard !console.isJSON else {
            for event in events { console.emit(json(event)) }
            return .done
        }
        guard !events.isEmpty else {
            console.line("No events; the store was never synced.")
            return .done
        }
        var table = TextTable(rightAligned: [2, 3])
        table.add("WHEN", "EVENT", "RECORDS", "TIME", "OUTCOME")
        for event in events {
            let seconds = event.ended.map { $0.timeIntervalSince(event.started) }
            table.add(
                Timestamp.short(event.started), "\(event.kind)",
                "\(event.finished) of \(event.affected)", seconds.map(Figure.seconds) ?? "runs",
                event.succeeded ? "done" : event.error ?? "failed")
        }
        console.block(table.text)
        return .done
    }

    private func json(_ event: MirrorEvent) -> JSON {
        [
            "id": .string(event.identifier.uuidString), "event": .string("\(event.kind)"),
            "started": JSON(event.started), "ended": JSON(event.ended),
            "succeeded": .bool(event.succeeded), "affected": JSON(event.affected),
            "finished": JSON(event.finished), "error": JSON(event.error),
        ]
    }
}
