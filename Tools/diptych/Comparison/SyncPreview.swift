internal import Foundation
internal import MirrorEngine
internal import Platform
internal import RecordWire
internal import SQLiteStore
internal import Stores

/// What a round would do, found out on a copy of the store: the store is only read, and the service
/// only asked.
struct SyncPreview {
    /// One record that would travel.
    struct Sending {
        let kind: String
        let title: String
        let recordName: String
        let properties: [String]
    }

    /// One object that would change here.
    struct Applying {
        let kind: String
        let title: String
        let properties: [String]
    }

    private(set) var sendings: [Sending] = []
    /// What stays here, since the service refuses it.
    private(set) var refused: [RefusedEdit] = []
    private(set) var applyings: [Applying] = []
    private(set) var conflicts: [ConflictEntry] = []
    private(set) var report: ConflictReport
    let summary: SyncSummary
    /// Where the copy stands after the round.
    private let standing: Standing

    /// Runs a round of `mirrored`, which is a copy, as far as the service's door. Throws what a
    /// round throws.
    init(_ mirrored: MirroredStore, place: String, channel: any RecordChannel) async throws {
        _ = try mirrored.prepare(container: place)
        let before = try mirrored.store.lastTransactionNumber()
        let known = Set(try mirrored.conflicts().map(\.id))
        let refusals = Set(try mirrored.status()?.refusals.map(\.recordName) ?? [])
        let preview = PreviewChannel(
            over: channel, ForeseenRefusals(mirrored: mirrored, channel: channel))
        let session = MirrorSession(mirrored: mirrored, container: place, channel: preview)
        summary = try await session.sync()
        report = try ConflictReport(mirrored, waitingOnly: false)
        conflicts = report.entries.filter { !known.contains($0.id) }
        sendings = try Self.sendings(preview.operations, mirrored)
        standing = Standing(try mirrored.status(), now: Date())
        refused = try RefusedEdit.all(in: mirrored, refused: standing.status, known: refusals)
        applyings = try Self.applyings(after: before, mirrored)
    }

    private static func sendings(
        _ operations: [RecordOperation], _ mirrored: MirroredStore
    ) throws -> [Sending] {
        let titles = RecordTitles(mirrored)
        return try mirrored.store.read { transaction in
            let ledger = Ledger(connection: transaction.connection, platform: .system)
            return try operations.map { operation in
                let record = operation.record
                var full = record
                if full.fields.isEmpty || mirrored.settings.mapping.entity(of: record) == nil,
                    let base = try ledger.entry(named: record.recordName)?.base
                {
                    full.fields.merge(base.fields) { own, _ in own }
                }
                let properties = titles.properties(of: full)
                let changed = Set(record.fields.keys.map(\.self))
                return Sending(
                    kind: operation.kind.rawValue,
                    title: try titles.title(of: full, in: transaction, ledger),
                    recordName: record.recordName,
                    properties: properties.filter {
                        changed.contains("CD_" + $0.replacing(".", with: "_"))
                    })
            }
        }
    }

    /// The copy's history since tells what the round changed: nobody else writes there.
    private static func applyings(
        after number: Int64, _ mirrored: MirroredStore
    ) throws -> [Applying] {
        var query = HistoryQuery()
        query.above = number
        let titles = RecordTitles(mirrored)
        var changes: [(row: RowID, kind: HistoryChange.Kind, properties: Set<String>)] = []
        var places: [RowID: Int] = [:]
        for transaction in try mirrored.store.history(query) {
            for change in transaction.changes {
                if let place = places[change.id] {
                    changes[place].properties.formUnion(change.changedProperties)
                    if change.kind != .update { changes[place].kind = change.kind }
                } else {
                    places[change.id] = changes.count
                    changes.append((change.id, change.kind, Set(change.changedProperties)))
                }
            }
        }
        return changes.map { change in
            let kind =
                switch change.kind {
                case .insert: "insert"
                case .update: "update"
                case .delete: "delete"
                }
            return Applying(
                kind: kind, title: titles.title(of: change.row),
                properties: change.properties.sorted())
        }
    }
}

// MARK: On paper

extension SyncPreview {
    /// How many lines of a kind people are shown.
    private static let linesMax = 200

    func print(
        store: String, service: String, _ invocation: Invocation, _ console: Console
    ) {
        guard !console.isJSON else { return emit(store, console) }
        console.title("\(store) and \(service): what a round would do. Nothing was changed.")
        section(
            "SEND", sendings.map { [$0.kind, $0.title, $0.properties.joined(separator: ", ")] },
            console)
        if !refused.isEmpty {
            section("REFUSED", refused.map { [$0.kind, $0.title, $0.reason] }, console)
            if let advice { console.line("  " + invocation.completing(advice)) }
        }
        section(
            "APPLY", applyings.map { [$0.kind, $0.title, $0.properties.joined(separator: ", ")] },
            console)
        section("CONFLICTS", conflicts.map { report.words(of: $0) }, console)
        for notice in summary.notices { console.line(notice) }
    }

    private func section(_ title: String, _ rows: [[String]], _ console: Console) {
        console.line("")
        console.line(rows.isEmpty ? "\(title)  nothing" : "\(title)  \(Figure.grouped(rows.count))")
        var table = TextTable(indent: 2)
        for row in rows.prefix(Self.linesMax) { table.add(cells: row) }
        if !table.isEmpty { console.block(table.text) }
        if rows.count > Self.linesMax {
            console.aside("  … and \(Figure.grouped(rows.count - Self.linesMax)) more; see --json")
        }
    }

    /// What to do about what is refused, with a command to be completed.
    private var advice: String? {
        refused.isEmpty || standing.state != .refused ? nil : standing.advice
    }

    private func emit(_ store: String, _ console: Console) {
        for line in sendings {
            console.emit([
                "event": "send", "kind": .string(line.kind), "object": .string(line.title),
                "record": .string(line.recordName),
                "properties": .array(line.properties.map(JSON.string)),
            ])
        }
        for edit in refused { console.emit(edit.json) }
        for line in applyings {
            console.emit([
                "event": "apply", "kind": .string(line.kind), "object": .string(line.title),
                "properties": .array(line.properties.map(JSON.string)),
            ])
        }
        for entry in conflicts {
            console.emit(["event": "conflict", "conflict": report.json(entry)])
        }
        console.emit([
            "event": "preview", "store": .string(store), "sent": JSON(sendings.count),
            "refused": JSON(refused.count), "advice": JSON(advice),
            "applied": JSON(applyings.count),
            "conflicts": JSON(conflicts.count), "conflictsWaiting": JSON(summary.conflictsWaiting),
            "notices": .array(summary.notices.map(JSON.string)),
        ])
    }
}
