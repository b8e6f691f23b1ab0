internal import Foundation

/// How many connections this process may have open, with its files.
enum OpenFiles {
    /// What is open beside connections: the database's readers and logs, assets on their way.
    private static let others = 512

    /// Lets the process have so many connections, as far as the system does. Returns how many it
    /// may have where that is fewer.
    static func allow(connections: Int) -> Int? {
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return nil }
        let wanted = rlim_t(connections + others)
        guard limit.rlim_cur < wanted else { return nil }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        guard setrlimit(kind, &limit) == 0, limit.rlim_cur >= wanted else {
            return max(0, Int(clamping: limit.rlim_cur) - others)
        }
        return nil
    }
}
