internal import Foundation
internal import SQLiteDriver

/// First export and first import of a device, over TLS on loopback.
struct SyncReport {
    private let folder: TemporaryFolder
    private let count: Int

    static func run(counts: [Int]) throws {
        for count in counts { try SyncReport(folder: TemporaryFolder(), count: count).run() }
        Report.note("The floor: as many bytes in as many requests over the same TLS server, and")
        Report.note("rows of as many bytes written at the far end with raw SQLite, one transaction")
        Report.note("a request. No JSON, no compression, no merge. A process of its own each.")
    }

    private func run() throws {
        _ = try ChildProcess.run(.fill, [folder.path("out.sqlite"), String(count)])
        let server = try ChildProcess(.serve, [folder.url.path])
        defer { server.abandon() }
        try Ready.wait(folder.url)
        let out = try ChildProcess.run(.sync, [folder.path("out.sqlite"), folder.url.path])
        let back = try ChildProcess.run(.sync, [folder.path("in.sqlite"), folder.url.path])
        let service = try server.end()
        guard Int(out["exported"]) == count, Int(back["imported"]) == count else {
            throw BenchmarkError("\(out["exported"]) records went out, \(back["imported"]) came.")
        }
        let floors = try floors(out: out, back: back)
        Report.title("Sync: \(Report.grouped(Double(count))) records", "records/s")
        Report.rate("first export", count, seconds: out["seconds"], floor: floors.out)
        Report.rate("first import", count, seconds: back["seconds"], floor: floors.back)
        fact("bytes a record out, compressed", out["sent"] / Double(count))
        fact("bytes a record in, compressed", back["received"] / Double(count))
        fact("requests out", out["requests"])
        fact("requests in", back["requests"])
        cpu("service, both ways", service)
        cpu("exporting device", out)
        cpu("importing device", back)
        Report.fact("peak memory, service", Report.megabytes(service["peakBytes"]))
        Report.fact("peak memory, exporting device", Report.megabytes(out["peakBytes"]))
        Report.fact("peak memory, importing device", Report.megabytes(back["peakBytes"]))
    }

    private func cpu(_ name: String, _ found: Findings) {
        let microseconds = found["cpuSeconds"] * 1e6 / Double(count)
        Report.fact("CPU a record, \(name)", String(format: "%.1f us", microseconds))
    }

    private func fact(_ name: String, _ value: Double) {
        Report.fact(name, Report.grouped(value))
    }

    private func floors(out: Findings, back: Findings) throws -> (out: Double, back: Double) {
        let bare = folder.url.appendingPathComponent("bare")
        try FileManager.default.createDirectory(at: bare, withIntermediateDirectories: true)
        let server = try ChildProcess(.bareServe, [bare.path])
        defer { server.abandon() }
        try Ready.wait(bare)
        let recordBytes = try recordBytes()
        func seconds(_ way: String, _ found: Findings, bytes: Double) throws -> Double {
            let requests = max(1, Int(found["requests"]))
            let plan = BareExchange(
                records: count, requests: requests, wireBytes: Int(bytes) / requests,
                recordBytes: recordBytes)
            let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
            return try ChildProcess.run(.bareSend, [bare.path, text, way])["seconds"]
        }
        let out = try seconds("out", out, bytes: out["sent"])
        let back = try seconds("in", back, bytes: back["received"])
        _ = try server.end()
        return (out, back)
    }

    /// How large a record is as the service keeps it.
    private func recordBytes() throws -> Int {
        try ContainerRows.bytesOfRecord(in: folder.url)
    }
}
