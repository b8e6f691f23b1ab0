import Foundation
import Testing

/// What a reader may take of memory and time, enforced by the system on a process of its own.
enum Bounds {
    private static let megabytesMax = 512
    private static let secondsMax: UInt32 = 60

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
        alarm(secondsMax)
    }
}
