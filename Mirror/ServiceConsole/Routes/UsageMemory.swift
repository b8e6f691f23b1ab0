internal import Foundation
internal import Platform
internal import RecordService

/// What containers hold, which costs a look at every record, remembered for a minute.
final class UsageMemory: Sendable {
    private let known = Lock<(at: Date, usage: [ContainerUsage])?>(nil)
    private static let goodSeconds = 60.0

    func value(
        at now: Date, _ look: () throws -> [ContainerUsage]
    ) rethrows -> [ContainerUsage] {
        let kept = known.withLock { $0 }
        if let kept, abs(now.timeIntervalSince(kept.at)) < Self.goodSeconds { return kept.usage }
        let usage = try look()
        known.withLock { $0 = (now, usage) }
        return usage
    }
}
