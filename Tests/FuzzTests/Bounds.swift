import Foundation
import Testing

/// What a reader may take of memory and of processor time, enforced by the system on a process of
/// its own. Time that passes on a busy machine is nobody's fault and has no limit.
enum Bounds {
    private static let megabytesMax = 512
    private static let processorSecondsMax = 60

    /// From here on the process ends when it takes more.
    static func apply() {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))
            .flatMap { $0.split(separator: " ").first.flatMap { Int($0) } }
        let present = (pages ?? 0) * sysconf(Int32(_SC_PAGESIZE))
        let most = rlim_t(present + megabytesMax << 20)
        var limit = rlimit(rlim_cur: most, rlim_max: most)
        guard pages != nil, setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else {
            Issue.record("the limit of memory cannot be set")
            return
        }
        limitProcessorTime()
    }

    /// Counts what the process has used already, so that the limit is the reader's own.
    private static func limitProcessorTime() {
        var used = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
        let most = rlim_t(used.tv_sec + processorSecondsMax)
        var limit = rlimit(rlim_cur: most, rlim_max: most)
        if setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) != 0 {
            Issue.record("the limit of processor time cannot be set")
        }
    }
}
