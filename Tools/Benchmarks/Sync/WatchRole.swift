internal import Foundation
internal import MirrorEngine
internal import SQLiteStore

/// Devices that keep themselves in sync.
enum WatchRole {
    private static let edits = 40
    private static let pollMicroseconds: UInt32 = 500
    private static let waitSeconds = 30.0
    private static let idleSeconds: UInt32 = 3

    /// How long an edit on one watching device takes to be in the store of another.
    static func latency(_ arguments: RoleArguments) async throws {
        let service = try arguments.url(2)
        let writer = try SyncedDevice(arguments.url(0), service: service)
        let reader = try SyncedDevice(arguments.url(1), service: service)
        _ = try await writer.session.sync()
        _ = try await reader.session.sync()
        let schedulers = [try writer.scheduler(), try reader.scheduler()]
        for scheduler in schedulers { scheduler.start() }
        defer { for scheduler in schedulers { scheduler.stop() } }
        // Both are to stand in their waits before the first edit.
        sleep(1)
        var seconds: [Double] = []
        for edit in 0..<edits {
            let wanted = try reader.entries() + 1
            let begin = ContinuousClock.now
            try writer.insertOne(1_000_000 + edit)
            while try reader.entries() < wanted {
                guard Stopwatch.seconds(since: begin) < waitSeconds else {
                    throw BenchmarkError("An edit did not reach the other device.")
                }
                usleep(pollMicroseconds)
            }
            seconds.append(Stopwatch.seconds(since: begin))
            usleep(100_000)
        }
        var found = Findings()
        found["median"] = seconds.sorted()[edits / 2]
        found["worst"] = seconds.max() ?? 0
        found.send()
    }

    /// What a device holds that watches and has nothing to do.
    static func idle(_ arguments: RoleArguments) async throws {
        let device = try SyncedDevice(arguments.url(0), service: arguments.url(1))
        let scheduler = try device.scheduler()
        scheduler.start()
        sleep(idleSeconds)
        let before = Stopwatch.cpuSeconds
        sleep(idleSeconds)
        var found = Findings()
        found["idleBytes"] = Double(Heap.bytes)
        found["idleCPU"] = (Stopwatch.cpuSeconds - before) / Double(idleSeconds)
        scheduler.stop()
        found.send()
    }
}
