internal import Foundation

/// Devices that sync by themselves: how soon an edit is seen, what waiting costs.
struct WatchReport {
    private let folder: TemporaryFolder

    static func run(count: Int) throws {
        try WatchReport(folder: TemporaryFolder()).run(count: max(1, count / 1_000))
    }

    private func run(count: Int) throws {
        let store = folder.path("store.sqlite")
        _ = try ChildProcess.run(.fill, [store, String(count)])
        let server = try ChildProcess(.serve, [folder.url.path])
        defer { server.abandon() }
        try Ready.wait(folder.url)
        let found = try ChildProcess.run(
            .latency, [store, folder.path("other.sqlite"), folder.url.path])
        let idle = try ChildProcess.run(.idle, [store, folder.url.path])
        _ = try server.end()
        Report.facts("Devices that watch, over TLS on loopback")
        Report.fact("edit to visible, median", Self.milliseconds(found["median"]))
        Report.fact("edit to visible, worst of 40", Self.milliseconds(found["worst"]))
        Report.fact("memory while idle", Report.megabytes(idle["idleBytes"]))
        Report.fact(
            "processor while idle", String(format: "%.2f %%", idle["idleCPU"] * 100))
    }

    private static func milliseconds(_ seconds: Double) -> String {
        String(format: "%.1f ms", seconds * 1_000)
    }
}
