internal import Foundation
internal import MirrorEngine
internal import MirrorTransport
internal import Platform

/// Tells how a round goes, and what it came to.
struct SyncReport: Sendable {
    private struct Course {
        /// Records that came, our own echoes included.
        var fetched = 0
        var exportBegan: Date?
    }

    let console: Console
    private let course = Lock(Course())

    init(console: Console) { self.console = console }

    @Sendable func show(_ progress: SyncProgress) {
        switch progress {
        case .importing(let records): showFetched(records)
        case .exporting(let records, let done, let total): showSending(records, done, total)
        case .waiting(let seconds, let reason):
            let reason = reason ?? "The service asks to wait."
            if console.isJSON {
                console.emit([
                    "event": "waiting", "seconds": .double(seconds), "reason": .string(reason),
                ])
            } else {
                console.progress("trying again in \(Figure.wait(seconds)): \(reason)")
            }
        }
    }

    private func showFetched(_ records: Int) {
        let fetched = course.withLock { course in
            course.fetched += records
            return course.fetched
        }
        guard records > 0 else { return }
        if console.isJSON {
            console.emit([
                "event": "importing", "records": JSON(records), "fetched": JSON(fetched),
            ])
        } else {
            // How many there are in all, the service does not tell.
            console.progress("fetched \(Figure.count(fetched, "record"))")
        }
    }

    private func showSending(_ records: Int, _ done: Int, _ total: Int) {
        let now = Date()
        let began = course.withLock { course in
            let began = course.exportBegan ?? now
            course.exportBegan = began
            return began
        }
        guard !console.isJSON else {
            return console.emit([
                "event": "exporting", "records": JSON(records), "done": JSON(done),
                "total": JSON(total),
            ])
        }
        let last = min(done + records, total)
        let first = last > done + 1 ? "\(Figure.grouped(done + 1)) to " : ""
        let left = Self.left(done, of: total, seconds: now.timeIntervalSince(began))
        console.progress(
            "sending \(first)\(Figure.grouped(last)) of \(Figure.count(total, "record"))" + left,
            done: done,
            total: total)
    }

    /// How long the rest will take at the pace so far, where that can be told.
    static func left(_ done: Int, of total: Int, seconds: Double) -> String {
        guard done > 0, total > done, seconds > 0.5 else { return "" }
        return ", \(Figure.wait(seconds / Double(done) * Double(total - done))) left"
    }

    // MARK: The end

    func end(
        _ summary: SyncSummary, _ standing: Standing, with target: (store: String, service: String),
        bytes: ByteCount, seconds: Double
    ) {
        guard !console.isJSON else {
            return emit(summary, standing, of: target.store, bytes, seconds)
        }
        let waiting = standing.status?.conflictsWaiting ?? 0
        var table = TextTable(rightAligned: [1], indent: 2)
        table.add("sent", Figure.grouped(summary.exported), "records")
        table.add("fetched", Figure.grouped(course.withLock { $0.fetched }), "records")
        table.add("applied", Figure.grouped(summary.imported), "changes")
        table.add("merged", Figure.grouped(summary.merged), "objects")
        table.add(
            "conflicts", Figure.grouped(summary.conflicts),
            waiting > 0 ? "\(waiting) wait for you" : "settled")
        table.add("bytes", Figure.bytes(bytes.sent), "out, \(Figure.bytes(bytes.received)) in")
        table.add("time", Figure.seconds(seconds), "\(bytes.requests) requests")
        console.title(
            standing.state == .inSync
                ? "\(target.store) is in sync with \(target.service)."
                : "\(target.store) synced with \(target.service): \(standing.headline)")
        console.block(table.text)
        for notice in summary.notices { console.line(notice) }
        if summary.unknown > 0 {
            console.warn(
                "\(Figure.count(summary.unknown, "record")) are of entities this model lacks; "
                    + "a newer model will read them")
        }
    }

    private func emit(
        _ summary: SyncSummary, _ standing: Standing, of store: String, _ bytes: ByteCount,
        _ seconds: Double
    ) {
        console.emit([
            "event": "done", "store": .string(store), "exported": JSON(summary.exported),
            "imported": JSON(summary.imported), "merged": JSON(summary.merged),
            "conflicts": JSON(summary.conflicts), "bytesSent": .integer(bytes.sent),
            "bytesReceived": .integer(bytes.received),
            "seconds": .double((seconds * 1000).rounded() / 1000),
            "inSync": .bool(standing.state == .inSync),
            "notices": .array(summary.notices.map { .string($0) }),
        ])
    }
}
