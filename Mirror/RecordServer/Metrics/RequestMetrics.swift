internal import Platform

/// Counts answered requests. Counting takes no lock and allocates nothing.
final class RequestMetrics: Sendable {
    private let counts: [String: [Counter]]
    private let latencies: [String: Histogram]
    private let refusals: [String: Counter]
    private let received = Counter()
    private let sent = Counter()

    /// Seconds.
    private static let bounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// Every status a server answers with; others are counted as 0.
    private static let statuses = [
        0, 200, 206, 400, 401, 403, 404, 405, 409, 412, 413, 415, 416, 421, 429, 431, 500, 503,
    ]
    private static let places = Dictionary(
        uniqueKeysWithValues: statuses.enumerated().map { ($1, $0) })
    private static let throttled = "THROTTLED"
    private static let codes = [
        "ACCESS_DENIED", "ASSET_NOT_FOUND", "ATOMIC_ERROR", "AUTHENTICATION_FAILED",
        "AUTHENTICATION_REQUIRED", "BAD_REQUEST", "CHANGE_TOKEN_EXPIRED", "CONFLICT", "EXISTS",
        "INSTANCE_FORKED", "INTERNAL_ERROR", "LIMIT_EXCEEDED", "NOT_FOUND", "QUOTA_EXCEEDED",
        "RECORD_DAMAGED", throttled, "TRY_AGAIN_LATER", "VALIDATING_REFERENCE_ERROR",
        "ZONE_NOT_FOUND", OperationName.other,
    ]

    init() {
        counts = Dictionary(
            uniqueKeysWithValues: OperationName.all.map { name in
                (name, Self.statuses.map { _ in Counter() })
            })
        latencies = Dictionary(
            uniqueKeysWithValues: OperationName.all.map { ($0, Histogram(bounds: Self.bounds)) })
        refusals = Dictionary(uniqueKeysWithValues: Self.codes.map { ($0, Counter()) })
    }

    func note(_ entry: AccessLogEntry) {
        let name =
            counts[entry.facts.operation] == nil ? OperationName.other : entry.facts.operation
        counts[name]?[Self.places[entry.status] ?? 0].add()
        // What was held back waited for somebody else's work.
        if !entry.wasHeld { latencies[name]?.note(entry.milliseconds / 1_000) }
        received.add(entry.receivedBytes)
        sent.add(entry.bytes)
        guard let code = entry.facts.errorCode else { return }
        (refusals[code] ?? refusals[OperationName.other])?.add()
    }

    func write(to page: inout ExpositionText) {
        page.family("diptych_http_requests_total", .counter, "Requests answered.")
        for name in OperationName.all {
            for (index, counter) in (counts[name] ?? []).enumerated() where counter.value > 0 {
                page.sample(
                    "diptych_http_requests_total",
                    [("operation", name), ("status", String(Self.statuses[index]))],
                    Double(counter.value))
            }
        }
        let seconds = "diptych_http_request_duration_seconds"
        page.family(
            seconds, .histogram,
            "From the request line to the answer, but for answers that were held back.")
        for name in OperationName.all {
            guard let summary = latencies[name]?.summary, summary.count > 0 else { continue }
            page.histogram(seconds, [("operation", name)], summary)
        }
        page.family("diptych_requests_refused_total", .counter, "Requests refused as a whole.")
        for code in Self.codes {
            let count = refusals[code]?.value ?? 0
            page.sample("diptych_requests_refused_total", [("code", code)], Double(count))
        }
        page.single(
            "diptych_requests_throttled_total", .counter, "Requests told to wait a while.",
            Double(refusals[Self.throttled]?.value ?? 0))
        page.single(
            "diptych_http_received_bytes_total", .counter, "Bytes of bodies of requests.",
            Double(received.value))
        page.single(
            "diptych_http_sent_bytes_total", .counter, "Bytes of bodies of answers.",
            Double(sent.value))
    }
}
