internal import MirrorEngine
internal import MirrorTransport
internal import Platform

/// Tells how a round goes, and what it came to.
struct SyncReport: Sendable {
    let console: Console
    /// Records that came, our own echoes included.
    private let fetched = Lock(0)

    init(console: Console) { self.console = console }

    @Sendable func show(_ progress: SyncProgress) {
        switch progress {
        case .importing(let records):
            fetched.withLock { $0 += records }
            guard records > 0 else { return }
            step("importing", [("records", records)], "fetched \(Figure.count(records, "record"))")
        case .exporting(let records, let done):
            step(
                "exporting", [("records", records), ("done", done)],
                "sending \(Figure.count(records, "record")), \(done) sent before")
        case .waiting(let seconds):
            if console.isJSON {
                console.emit(["event": "waiting", "seconds": .double(seconds)])
            } else {
                console.progress("the service is not ready; waiting \(Figure.seconds(seconds))")
            }
        }
    }

    private func step(_ event: String, _ counts: [(String, Int)], _ words: String) {
        guard console.isJSON else { return console.progress(words) }
        console.emit(
            .object([("event", .string(event))] + counts.map { ($0.0, JSON($0.1)) }))
    }

    func end(_ summary: SyncSummary, store: String, bytes: ByteCount, seconds: Double) {
        guard !console.isJSON else {
            console.emit([
                "event": "done", "exported": JSON(summary.exported),
                "imported": JSON(summary.imported), "merged": JSON(summary.merged),
                "conflicts": JSON(summary.conflicts), "bytesSent": .integer(bytes.sent),
                "bytesReceived": .integer(bytes.received),
                "seconds": .double((seconds * 1000).rounded() / 1000),
                "inSync": .bool(summary.isInSync),
            ])
            return
        }
        let waiting = summary.conflictsWaiting
        var table = TextTable(rightAligned: [1], indent: 2)
        table.add("sent", "\(summary.exported)", "records")
        table.add("fetched", "\(fetched.withLock { $0 })", "records")
        table.add("applied", "\(summary.imported)", "changes")
        table.add("merged", "\(summary.merged)", "objects")
        table.add(
            "conflicts", "\(summary.conflicts)", waiting > 0 ? "\(waiting) wait for you" : "settled"
        )
        table.add("bytes", Figure.bytes(bytes.sent), "out, \(Figure.bytes(bytes.received)) in")
        table.add("time", Figure.seconds(seconds), "\(bytes.requests) requests")
        console.line(console.bold(headline(summary, store)))
        console.line(table.text)
        if summary.unknown > 0 {
            console.warn(
                "\(Figure.count(summary.unknown, "record")) are of entities this model lacks; "
                    + "a newer model will read them")
        }
    }

    private func headline(_ summary: SyncSummary, _ store: String) -> String {
        if summary.isInSync { return "\(store) is in sync." }
        if summary.refused > 0 { return "\(store) is not in sync: the service refused records." }
        return "\(store) is in sync but for conflicts that wait: diptych conflicts \(store)"
    }
}
