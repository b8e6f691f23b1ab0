public import Foundation

/// When rounds run by themselves.
public struct SchedulePlan: Hashable, Sendable {
    /// Seconds between rounds while nothing is heard of changes, and the longest wait after
    /// failures.
    public var intervalSeconds = 30.0
    /// The wait after the first failure; each further one doubles it.
    public var firstRetrySeconds = 2.0
    /// How often a process that stands by looks whether the one that syncs is still there.
    public var standBySeconds = 20.0
    /// When rounds may use the network, and how much of it.
    public var network = NetworkPolicy()

    public init() {}

    func seconds(afterFailures failures: Int) -> Double {
        guard failures > 0 else { return intervalSeconds }
        return min(intervalSeconds, firstRetrySeconds * Double(1 << min(failures - 1, 10)))
    }
}

/// What a scheduler does, for whoever shows it.
public enum ScheduleEvent: Sendable {
    /// A round was whole.
    case round(SyncSummary)
    /// A round failed; the next is so many seconds away, or sooner when something changes, but not
    /// before the time that the service asked for. Infinitely many: another program migrated the
    /// store, or put another file in its place, and the scheduler has ended; open the store anew.
    case failed(any Error, nextSeconds: Double)
    /// Something has waited to be sent since then, longer than any healthy sync takes; the store's
    /// status says why. Told once, and anew after nothing waited.
    case stalled(since: Date)
    case paused
    /// The plan's network policy lets no round begin, or go on.
    case held(MirrorHold)
    /// Another process syncs the store; this one looks again from time to time.
    case standingBy(MirrorActivity)
}
