internal import Foundation
internal import Platform
internal import RecordService

/// The whole page of figures: of requests, of the service, of the process.
final class MetricsPage: Sendable {
    /// What the HTTP server holds at this moment.
    struct Traffic: Sendable {
        var connections = 0
        var acceptedConnections = 0
        var heldRequests = 0
        var bufferedBytes = 0
    }

    let requests = RequestMetrics()
    private let version: String?
    private let watch: ServiceWatch
    private let readiness: Readiness
    private let clock: any Clock
    private let figures = Lock<(figures: ServiceFigures, at: Date)?>(nil)

    /// Figures of the service cost reads of its database: who asks more often gets the last ones.
    private static let freshSeconds = 5.0

    init(version: String?, watch: ServiceWatch, readiness: Readiness, clock: any Clock) {
        self.version = version
        self.watch = watch
        self.readiness = readiness
        self.clock = clock
    }

    func text(_ traffic: Traffic) -> String {
        var page = ExpositionText()
        page.family("diptych_build_info", .gauge, "The version that runs; always 1.")
        page.sample("diptych_build_info", [("version", version ?? "unknown")], 1)
        page.single(
            "diptych_ready", .gauge, "Whether the service can do its work: 1 or 0.",
            readiness.reason == nil ? 1 : 0)
        requests.write(to: &page)
        write(traffic, to: &page)
        write(currentFigures(), to: &page)
        ProcessFigures().write(to: &page)
        return page.text
    }

    private func currentFigures() -> ServiceFigures {
        let now = clock.now()
        let known = figures.withLock { $0 }
        if let known, (0..<Self.freshSeconds).contains(now.timeIntervalSince(known.at)) {
            return known.figures
        }
        let found = watch.figures()
        figures.withLock { $0 = (found, now) }
        return found
    }

    private func write(_ traffic: Traffic, to page: inout ExpositionText) {
        page.single(
            "diptych_http_connections", .gauge, "Open connections.", Double(traffic.connections))
        page.single(
            "diptych_http_connections_total", .counter, "Connections accepted.",
            Double(traffic.acceptedConnections))
        page.single(
            "diptych_http_held_requests", .gauge, "Requests that wait for something to happen.",
            Double(traffic.heldRequests))
        page.single(
            "diptych_http_buffered_bytes", .gauge, "Bytes of bodies and answers in memory.",
            Double(traffic.bufferedBytes))
    }

    private func write(_ figures: ServiceFigures, to page: inout ExpositionText) {
        let statistics = figures.statistics
        page.single(
            "diptych_records_written_total", .counter, "Records written and deleted.",
            Double(statistics.recordsWritten))
        page.single(
            "diptych_records_read_total", .counter, "Records given in answers.",
            Double(statistics.recordsRead))
        page.single(
            "diptych_record_conflicts_total", .counter, "Writes that met another version.",
            Double(statistics.conflicts))
        page.single(
            "diptych_records_refused_total", .counter, "Writes refused for other reasons.",
            Double(statistics.recordsRefused))
        if let sizes = figures.commitSizes {
            page.family(
                "diptych_commit_requests", .histogram, "Requests that shared one commit.")
            page.histogram("diptych_commit_requests", [], sizes)
        }
        if let used = figures.usedBytes {
            page.single(
                "diptych_storage_bytes", .gauge, "Bytes of the database's files.", Double(used))
        }
        if let free = figures.freeBytes {
            page.single(
                "diptych_disk_free_bytes", .gauge, "Room on the database's disk.", Double(free))
        }
        guard !figures.containers.isEmpty else { return }
        page.family("diptych_container_records", .gauge, "Records of the largest containers.")
        for container in figures.containers {
            page.sample(
                "diptych_container_records", [("container", container.name)],
                Double(container.records))
        }
        page.family(
            "diptych_container_bytes", .gauge, "Bytes of fields of the largest containers.")
        for container in figures.containers {
            page.sample(
                "diptych_container_bytes", [("container", container.name)],
                Double(container.bytes))
        }
    }
}
