internal import Foundation
internal import RecordService

/// What was done to a service, as a table or as JSON Lines.
struct AuditReport {
    private let console: Console

    init(_ console: Console) { self.console = console }

    func print(_ entries: [AuditEntry]) {
        guard !console.isJSON else { return entries.map(json).forEach(console.emit) }
        guard !entries.isEmpty else { return console.line("None.") }
        var table = TextTable()
        table.add(cells: ["WHEN", "BY", "ACT", "SUBJECT", "DETAILS"])
        for entry in entries {
            table.add(cells: [
                moment(entry), entry.by, entry.act.rawValue, entry.subject, details(entry),
            ])
        }
        console.block(table.text)
    }

    private func moment(_ entry: AuditEntry) -> String {
        Timestamp.text(Date(timeIntervalSince1970: Double(entry.at) / 1_000))
    }

    private func details(_ entry: AuditEntry) -> String {
        entry.details.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            .joined(separator: " ")
    }

    private func json(_ entry: AuditEntry) -> JSON {
        let details = entry.details.sorted { $0.key < $1.key }.map {
            ($0.key, JSON.string($0.value))
        }
        return [
            "at": .string(moment(entry)), "by": .string(entry.by),
            "act": .string(entry.act.rawValue), "subject": .string(entry.subject),
            "details": .object(details),
        ]
    }
}
