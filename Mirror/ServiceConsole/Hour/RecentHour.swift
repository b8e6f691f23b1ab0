internal import Foundation
internal import Platform
internal import RecordServer

/// Requests of the last sixty minutes, counted by the minute.
final class RecentHour: Sendable {
    struct Minute: Encodable, Sendable {
        /// Minutes since 1970.
        var minute: Int
        var requests = 0
        /// Refused as the asker's fault, and as the service's.
        var refused = 0
        var failed = 0
        var bytes = 0
        /// Longest and sum, to be divided by the requests.
        var millisecondsMax = 0.0
        var millisecondsTotal = 0.0
    }

    static let minutes = 60

    private let clock: any Clock
    private let slots = Lock<[Minute?]>(Array(repeating: nil, count: RecentHour.minutes))

    init(clock: any Clock) { self.clock = clock }

    func note(_ entry: AccessLogEntry) {
        let now = minute
        slots.withLock { slots in
            let place = now % Self.minutes
            var slot =
                slots[place].flatMap { $0.minute == now ? $0 : nil } ?? Minute(minute: now)
            slot.requests += 1
            if (400..<500).contains(entry.status) { slot.refused += 1 }
            if entry.status >= 500 { slot.failed += 1 }
            slot.bytes += entry.bytes
            slot.millisecondsMax = max(slot.millisecondsMax, entry.milliseconds)
            slot.millisecondsTotal += entry.milliseconds
            slots[place] = slot
        }
    }

    /// The minutes up to this one, oldest first, also those in which nothing was.
    func all() -> [Minute] {
        let now = minute
        let slots = slots.withLock { $0 }
        return (now - Self.minutes + 1...now).map { minute in
            slots[minute % Self.minutes].flatMap { $0.minute == minute ? $0 : nil }
                ?? Minute(minute: minute)
        }
    }

    /// A clock that stands at 1970 has an hour before it, too.
    private var minute: Int { Int(max(3_600, clock.now().timeIntervalSince1970) / 60) }
}
