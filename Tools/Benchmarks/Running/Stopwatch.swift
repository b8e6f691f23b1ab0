internal import Foundation

enum Stopwatch {
    /// Seconds that `work` takes.
    static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let begin = ContinuousClock.now
        try work()
        return seconds(since: begin)
    }

    static func seconds(since begin: ContinuousClock.Instant) -> Double {
        let passed = begin.duration(to: .now).components
        return Double(passed.seconds) + Double(passed.attoseconds) / 1e18
    }
}

/// The most memory this process ever had (VmHWM).
enum PeakMemory {
    static var bytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }

    /// Forgets the peak so far, so that what comes next is measured alone.
    static func restart() {
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }
}
