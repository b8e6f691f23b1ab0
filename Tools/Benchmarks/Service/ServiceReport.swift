internal import Foundation
internal import SQLiteDriver

/// What the record service bears, beside raw SQLite that is as careful with the disk.
struct ServiceReport {
    private let folder: TemporaryFolder

    static func run(count: Int) throws {
        Report.title("The record service over TLS", "records/s")
        let batches = max(1, count / 200)
        let report = Self(folder: try TemporaryFolder())
        try report.push(
            "batches of 200, one client",
            LoadFigures(clients: 1, requestsEach: batches, recordsEach: 200), reads: true)
        try report.push(
            "batches of 200, eight clients",
            LoadFigures(clients: 8, requestsEach: max(1, batches / 8), recordsEach: 200))
        let singles = max(1, count / 50)
        try report.push(
            "single records, one client",
            LoadFigures(clients: 1, requestsEach: singles, recordsEach: 1), tellsTimes: true)
        try report.push(
            "single records, 32 clients",
            LoadFigures(clients: 32, requestsEach: max(1, singles / 8), recordsEach: 1),
            tellsTimes: true)
        Report.note("The floor: rows of as many bytes by raw SQLite in one process, on the disk at")
        Report.note("each commit (synchronous FULL), one transaction a request; for reading, the")
        Report.note("rows by one SELECT a thousand.")
    }

    private func push(
        _ name: String, _ plan: LoadFigures, reads: Bool = false, tellsTimes: Bool = false
    ) throws {
        let place = folder.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let server = try ChildProcess(.serve, [place.path])
        defer { server.abandon() }
        try Ready.wait(place)
        let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
        let found = try ChildProcess.run(.load, [place.path, text])
        let pulled = reads ? try ChildProcess.run(.pull, [place.path]) : Findings()
        let service = try server.end()
        let floor = try floor(plan, beside: place)
        Report.rate(name, plan.records, seconds: found["seconds"], floor: floor.writing)
        if reads {
            guard Int(pulled["records"]) == plan.records else {
                throw BenchmarkError("\(pulled["records"]) records came back.")
            }
            Report.rate(
                "all of them read again", plan.records, seconds: pulled["seconds"],
                floor: floor.reading)
        }
        if tellsTimes {
            Report.fact("  half are answered within", Self.milliseconds(found["median"]))
            Report.fact("  99 of 100 within", Self.milliseconds(found["slow"]))
        }
        Report.fact("  peak memory", Report.megabytes(service["peakBytes"]))
    }

    private static func milliseconds(_ seconds: Double) -> String {
        String(format: "%.2f ms", seconds * 1_000)
    }

    /// Rows as large as the service's own.
    private func floor(
        _ plan: LoadFigures, beside place: URL
    ) throws -> (writing: Double, reading: Double) {
        let bytes = try ContainerRows.bytesOfRecord(in: place)
        let raw = try RawRecords(
            path: place.appendingPathComponent("floor.sqlite").path, synchronous: .full)
        let writing = try Stopwatch.seconds {
            for first in stride(from: 1, through: plan.records, by: plan.recordsEach) {
                try raw.insert(
                    min(plan.recordsEach, plan.records - first + 1), from: first, bytes: bytes)
            }
        }
        let reading = try Stopwatch.seconds {
            for first in stride(from: 1, through: plan.records, by: 1_000) {
                _ = try raw.read(1_000, from: first)
            }
        }
        return (writing, reading)
    }
}
