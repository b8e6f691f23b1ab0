internal import Foundation

/// One changed object in mirrored stores of ever more: what its rounds cost on both devices.
struct OneChangeReport {
    private let folder: TemporaryFolder
    private let counts: [Int]

    /// The first of `counts` is what the others are compared with.
    static func run(counts: [Int]) throws {
        try OneChangeReport(folder: TemporaryFolder(), counts: counts).run()
    }

    private func run() throws {
        var servers: [ChildProcess] = []
        defer { for server in servers { server.abandon() } }
        var words: [String] = []
        for (number, count) in counts.enumerated() {
            let service = folder.url.appendingPathComponent("service\(number)")
            try FileManager.default.createDirectory(
                at: service, withIntermediateDirectories: true)
            let store = folder.path("writer\(number).sqlite")
            _ = try ChildProcess.run(.fill, [store, String(count)])
            servers.append(try ChildProcess(.serve, [service.path]))
            try Ready.wait(service)
            words += [store, folder.path("reader\(number).sqlite"), service.path]
        }
        show(try ChildProcess.run(.change, words))
        for server in servers { _ = try server.end() }
    }

    private func show(_ found: Findings) {
        Report.facts("One changed object, over TLS on loopback")
        for (name, key) in [
            ("device that tells it", "telling"), ("device that hears it", "hearing"),
            ("both rounds, by the clock", "clock"),
        ] {
            for (number, count) in counts.enumerated() {
                let seconds = found["\(key)\(number)"]
                let ratio = seconds / found["\(key)0"]
                Report.fact(
                    "\(name), \(Report.grouped(Double(count))) objects", width: 46,
                    String(format: "%.2f ms  %5.2f", seconds * 1_000, ratio))
            }
        }
        Report.note("Medians of 100 changes; processor time of a device, unless said otherwise.")
        Report.note("The second column: to the first store of the run. The stores take turns.")
    }
}
