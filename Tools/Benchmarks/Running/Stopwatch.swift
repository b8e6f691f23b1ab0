internal import Foundation

enum Stopwatch {
    /// Seconds that `work` takes.
    static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let begin = ContinuousClock.now
        try work()
        return seconds(since: begin)
    }

    /// Processor seconds that `work` takes, in user and kernel: the same however busy others keep
    /// the machine, but without waiting for the disk.
    static func processorSeconds(_ work: () throws -> Void) rethrows -> Double {
        let begin = cpuSeconds
        try work()
        return cpuSeconds - begin
    }

    /// Processor seconds of this process so far, in all its threads.
    static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
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

/// The memory the process holds at the moment (VmRSS less what is of files).
enum Heap {
    static var bytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = status.split(separator: " ").prefix(3).compactMap { Int($0) }
        return pages.count == 3 ? (pages[1] - pages[2]) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
