internal import Foundation
internal import MirrorEngine

/// `diptych events`: the log of setup, imports and exports.
struct Events: Verb {
    private static let follow = Option("follow", nil, "stay, and print those that come")

    static let manual = Manual(
        name: "events", summary: "Lists the imports and exports of a store.", operands: ["STORE"],
        options: [follow, .model] + ZoneChoice.options,
        notes: [
            HelpText.wrapped(
                "With --follow it looks once a second for events of rounds that any process runs, "
                    + "prints each when it has ended, and stays until Ctrl-C.")
        ],
        examples: [
            ("diptych events Library.sqlite", "oldest first"),
            ("diptych events Library.sqlite --json", "for programs"),
        ])

    private let access: StoreAccess
    private let zone: ZoneChoice
    private let follows: Bool

    init(_ arguments: Arguments) throws {
        access = StoreAccess(arguments)
        zone = try ZoneChoice(ofStoreBy: arguments)
        follows = arguments.has(Self.follow)
    }

    func run(_ console: Console) async throws -> ExitStatus {
        guard follows else {
            show(try access.lookingAt(zone: zone) { try $0.events() }, console)
            return .done
        }
        let mirrored = try access.openMirrored(zone: zone)
        let events = try mirrored.events()
        show(events, console)
        try await follow(mirrored, after: events, console)
        return .done
    }

    private func show(_ events: [MirrorEvent], _ console: Console) {
        guard !console.isJSON else {
            for event in events { console.emit(json(event)) }
            return
        }
        guard !events.isEmpty else {
            return console.line("No events; the store was never synced.")
        }
        var table = TextTable(rightAligned: [2, 3])
        table.add("WHEN", "EVENT", "RECORDS", "TIME", "OUTCOME")
        for event in events { table.add(cells: cells(of: event)) }
        console.block(table.text)
    }

    private func cells(of event: MirrorEvent) -> [String] {
        let seconds = event.ended.map { $0.timeIntervalSince(event.started) }
        return [
            Timestamp.short(event.started), "\(event.kind)",
            "\(event.finished) of \(event.affected)", seconds.map(Figure.seconds) ?? "runs",
            event.succeeded ? "done" : event.error ?? "failed",
        ]
    }

    /// Prints what comes, until the task is cancelled.
    private func follow(
        _ mirrored: MirroredStore, after shown: [MirrorEvent], _ console: Console
    ) async throws {
        var known = Set(shown.map(\.identifier))
        // An app's round adds to its events until it is over: what grows is looked at again.
        var ends: [UUID: Date] = [:]
        while true {
            try await Task.sleep(for: .seconds(1))
            let events = try mirrored.events()
            defer { ends = ended(events) }
            for event in events
            where !known.contains(event.identifier) && event.ended != nil
                && ends[event.identifier] == event.ended
            {
                if console.isJSON {
                    console.emit(json(event))
                } else {
                    console.line(cells(of: event).joined(separator: "  "))
                }
                known.insert(event.identifier)
            }
            // As many as the store keeps, and no more.
            known.formIntersection(events.map(\.identifier))
        }
    }

    private func ended(_ events: [MirrorEvent]) -> [UUID: Date] {
        events.reduce(into: [:]) { $0[$1.identifier] = $1.ended }
    }

    private func json(_ event: MirrorEvent) -> JSON {
        [
            "id": .string(event.identifier.uuidString), "event": .string("\(event.kind)"),
            "started": JSON(event.started), "ended": JSON(event.ended),
            "succeeded": .bool(event.succeeded), "affected": JSON(event.affected),
            "finished": JSON(event.finished), "error": JSON(event.error),
            "round": JSON(event.round),
        ]
    }
}
