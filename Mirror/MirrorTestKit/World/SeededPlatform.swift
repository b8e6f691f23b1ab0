public import Foundation
public import Platform
internal import SQLiteDriver

/// A clock that stands still until the world moves it.
public final class VirtualClock: Clock, Sendable {
    private let date: Lock<Date>

    public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 800_000_000)) {
        self.date = Lock(date)
    }

    public func now() -> Date { date.withLock { $0 } }
    public func advance(seconds: Double) { date.withLock { $0 += seconds } }
}

/// A device's own clock, so many seconds before or behind the world's.
struct SkewedClock: Clock {
    let world: VirtualClock
    let skewSeconds: Double

    func now() -> Date { world.now() + skewSeconds }
}

/// The process was killed, as far as the device can tell.
public struct SimulatedCrash: Error, Hashable, Sendable {
    /// The fault point at which it happened.
    public let point: String
}

/// Kills by dice at the fault points.
public final class SeededFaults: FaultPoints, Sendable {
    private let randomness: SeededRandomness
    private let percent: Lock<Int>

    public init(randomness: SeededRandomness, crashPercent: Int) {
        self.randomness = randomness
        percent = Lock(crashPercent)
    }

    public func reach(_ name: String) throws {
        let percent = percent.withLock { $0 }
        if randomness.chance(percent: percent) { throw SimulatedCrash(point: name) }
    }

    /// Sets how often a fault point kills; 0 for never.
    public func setCrashPercent(_ value: Int) { percent.withLock { $0 = value } }
}

/// What can go wrong inside the service: it is killed in a transaction, or its disk is full.
final class ServiceFaults: FaultPoints, Sendable {
    private struct State {
        var crashPercent = 0
        var isDiskFull = false
        var struckAt: String?
    }
    private let randomness: SeededRandomness
    private let state = Lock(State())

    init(randomness: SeededRandomness) { self.randomness = randomness }

    func reach(_ name: String) throws {
        // On a thread of the service's own: when it comes, no seed can say.
        guard name != "service.removeSlice" else { return }
        let (percent, isFull) = state.withLock { ($0.crashPercent, $0.isDiskFull) }
        if isFull, name == "service.write.beforeCommit" {
            throw SQLiteFault(code: Self.full, message: "database or disk is full")
        }
        guard randomness.chance(percent: percent) else { return }
        state.withLock { $0.struckAt = name }
        throw SimulatedCrash(point: name)
    }

    func setCrashPercent(_ value: Int) { state.withLock { $0.crashPercent = value } }
    var isDiskFull: Bool {
        get { state.withLock { $0.isDiskFull } }
        set { state.withLock { $0.isDiskFull = newValue } }
    }

    /// The point at which the service was killed since the last question.
    func takeStrike() -> String? {
        state.withLock { state in
            defer { state.struckAt = nil }
            return state.struckAt
        }
    }

    /// SQLITE_FULL
    private static let full: Int32 = 13
}
