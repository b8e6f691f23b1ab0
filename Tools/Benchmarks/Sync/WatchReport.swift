internal import Foundation

/// Devices that sync by themselves: how soon an edit is seen, what a change costs in a large store,
/// what waiting costs.
struct WatchReport {
    private let folder: TemporaryFolder

    static func run(count: Int) throws {
        try WatchReport(folder: TemporaryFolder()).run(count: count)
    }

    private func run(count: Int) throws {
        let small = max(1, count / 1_000)
        Report.facts("Devices that watch, over TLS on loopback")
        let few = try change(in: "small", small) { service, store in
            let found = try ChildProcess.run(
                .latency, [store, folder.path("other.sqlite"), service])
            Report.fact("edit to visible, median", Self.milliseconds(found["median"]))
            Report.fact("edit to visible, worst of 40", Self.milliseconds(found["worst"]))
            let idle = try ChildProcess.run(.idle, [store, service])
            Report.fact("memory while idle", Report.megabytes(idle["idleBytes"]))
            Report.fact(
                "processor while idle", String(format: "%.2f %%", idle["idleCPU"] * 100))
        }
        let many = try change(in: "large", count) { _, _ in }
        Report.fact("one change, \(Report.grouped(Double(small))) objects", Self.milliseconds(few))
        Report.fact("one change, \(Report.grouped(Double(count))) objects", Self.milliseconds(many))
        Report.fact("the last, to the first", String(format: "%.2f", many / few))
        Report.note("One change: processor time of the device in a round that has it to tell.")
    }

    /// The processor seconds of a round with one change in a mirrored store of so many objects.
    private func change(
        in name: String, _ count: Int, _ more: (_ service: String, _ store: String) throws -> Void
    ) throws -> Double {
        let service = folder.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: service, withIntermediateDirectories: true)
        let store = folder.path("\(name).sqlite")
        _ = try ChildProcess.run(.fill, [store, String(count)])
        let server = try ChildProcess(.serve, [service.path])
        defer { server.abandon() }
        try Ready.wait(service)
        let found = try ChildProcess.run(.change, [store, service.path])
        try more(service.path, store)
        _ = try server.end()
        return found["median"]
    }

    private static func milliseconds(_ seconds: Double) -> String {
        String(format: "%.1f ms", seconds * 1_000)
    }
}
