internal import Foundation

/// One changed object in mirrored stores of ever more: what its rounds cost on both devices.
struct OneChangeReport {
    private let folder: TemporaryFolder

    /// The least of `counts` is what the others are compared with.
    static func run(counts: [Int]) throws {
        Report.facts("One changed object, over TLS on loopback")
        var first: Findings?
        for count in counts {
            let found = try OneChangeReport(folder: TemporaryFolder()).run(count: count)
            let base = first ?? found
            first = base
            let objects = "\(Report.grouped(Double(count))) objects"
            for (name, key) in [
                ("device that tells it", "telling"), ("device that hears it", "hearing"),
                ("both rounds, by the clock", "clock"),
            ] {
                Report.fact(
                    "\(objects): \(name)", width: 46,
                    String(
                        format: "%.2f ms  %5.2f", found[key] * 1_000, found[key] / base[key]))
            }
        }
        Report.note("Medians of 100 changes; processor time of a device, unless said otherwise.")
        Report.note("The second column: to the smallest store of the same run.")
    }

    private func run(count: Int) throws -> Findings {
        let store = folder.path("writer.sqlite")
        _ = try ChildProcess.run(.fill, [store, String(count)])
        let server = try ChildProcess(.serve, [folder.url.path])
        defer { server.abandon() }
        try Ready.wait(folder.url)
        let found = try ChildProcess.run(
            .change, [store, folder.path("reader.sqlite"), folder.url.path])
        _ = try server.end()
        return found
    }
}
