internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// Units that askers have left. Each saves up to a maximum; who has none left is told to wait.
final class Throttle: Sendable {
    enum Asker: Hashable, Sendable {
        case user(String)
        /// Who shows no good token.
        case address(ClientAddress)
    }

    private struct Purse {
        var units: Double
        var since: Date
    }

    private let limits: ThrottleLimits
    private let clock: any Clock
    private let purses = Lock<[Asker: Purse]>([:])
    /// When so many are known, those that are full again are forgotten.
    private static let pursesMax = 10_000
    private static let millisecondsPerUnit = 2.0
    /// Waiting is paid for so long, and no longer: a lock that another user's work holds, or a busy
    /// database, is not the asker's.
    private static let secondsWaitedMax = 1.0

    /// A moment on the thread that answers a request.
    struct Moment {
        let date: Date
        /// How much the thread had worked.
        let worked: Double
    }

    init(limits: ThrottleLimits, clock: any Clock) {
        self.limits = limits
        self.clock = clock
    }

    /// Throws THROTTLED while the asker owes units.
    func check(_ asker: Asker) throws(RecordError) {
        let now = clock.now()
        let units = purses.withLock { $0[asker].map { balance(of: $0, at: now) } ?? 1 }
        guard units <= 0 else { return }
        var error = RecordError(
            .throttled, "Too much was asked for in a short time; go on after a while.")
        error.retryAfterSeconds = max(0.1, (1 - units) / Double(max(1, limits.unitsPerSecond)))
        throw error
    }

    /// When a request begins, or what it is charged for.
    func moment() -> Moment { Moment(date: clock.now(), worked: ThreadTime.seconds) }

    /// Takes the price of a request that began at `began`, on this thread. Prices are known
    /// afterwards, so an asker may come to owe. `elsewhere`: seconds that another service took.
    func charge(_ asker: Asker, since began: Moment, elsewhere: Double = 0) {
        let now = clock.now()
        let worked = ThreadTime.seconds - began.worked
        let seconds = min(
            max(0, now.timeIntervalSince(began.date) - elsewhere),
            max(0, worked) + Self.secondsWaitedMax)
        let price = 1 + seconds * 1_000 / Self.millisecondsPerUnit
        purses.withLock { purses in
            if purses.count >= Self.pursesMax {
                purses = purses.filter {
                    balance(of: $0.value, at: now) < Double(limits.unitsSavedMax)
                }
            }
            let units =
                purses[asker].map { balance(of: $0, at: now) } ?? Double(limits.unitsSavedMax)
            purses[asker] = Purse(units: units - price, since: now)
        }
    }

    private func balance(of purse: Purse, at now: Date) -> Double {
        let earned = max(0, now.timeIntervalSince(purse.since)) * Double(limits.unitsPerSecond)
        return min(Double(limits.unitsSavedMax), purse.units + earned)
    }
}
