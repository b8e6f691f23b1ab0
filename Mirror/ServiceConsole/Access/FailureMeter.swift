internal import Foundation
internal import Platform
internal import RecordWire

/// Wrong guesses of the last minutes, or what else is done a few times only, by who did it: a
/// stranger's stop no one else.
final class FailureMeter<Guesser: Hashable & Sendable>: Sendable {
    private let clock: any Clock
    private let failuresMax: Int
    private let seconds: Double
    private let reason: String
    private let failures = Lock<[Guesser: [Date]]>([:])

    /// When so many are known, those whose time is over are forgotten.
    private static var guessersMax: Int { 10_000 }

    /// Puts off who was wrong `failuresMax` times within `seconds`.
    init(
        clock: any Clock, failuresMax: Int, within seconds: Double,
        reason: String = "That was wrong too often in a short time; try again in a while."
    ) {
        self.reason = reason
        self.clock = clock
        self.failuresMax = failuresMax
        self.seconds = seconds
    }

    /// Throws THROTTLED where the guesser was wrong too often.
    func check(_ guesser: Guesser) throws(RecordError) {
        let now = clock.now()
        let first = failures.withLock { failures -> Date? in
            let recent = failures[guesser, default: []].filter { isRecent($0, at: now) }
            failures[guesser] = recent.isEmpty ? nil : recent
            return recent.count < failuresMax ? nil : recent.first
        }
        guard let first else { return }
        var error = RecordError(.throttled, reason)
        error.retryAfterSeconds = seconds - now.timeIntervalSince(first)
        throw error
    }

    func note(_ guesser: Guesser) {
        let now = clock.now()
        failures.withLock { failures in
            if failures.count >= Self.guessersMax {
                failures = failures.compactMapValues { times in
                    times.last.map { isRecent($0, at: now) } == true ? times : nil
                }
            }
            let times = failures[guesser, default: []]
            failures[guesser] = times.suffix(failuresMax - 1) + [now]
        }
    }

    private func isRecent(_ time: Date, at now: Date) -> Bool {
        now.timeIntervalSince(time) < seconds
    }
}
