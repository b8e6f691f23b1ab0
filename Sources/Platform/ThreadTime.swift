internal import Foundation

/// How much a thread has worked.
public enum ThreadTime {
    /// Seconds for which the calling thread had a processor since it began; what it waited for
    /// locks, disks and peers is not among them.
    public static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
}
