public import Foundation
public import Platform

/// A generator whose words follow from its seed alone (SplitMix64).
public final class SeededRandomness: Randomness, RandomNumberGenerator, Sendable {
    private let state: Lock<UInt64>

    public init(seed: UInt64) { state = Lock(seed) }

    public func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    /// A number from 0 up to, not including, `bound`.
    public func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() % UInt64(bound)) }

    /// Whether a die with so many percent falls.
    public func chance(percent: Int) -> Bool { below(100) < percent }

    /// One element, or nil of an empty collection.
    public func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }
}

/// A clock that stands still until the world moves it.
public final class VirtualClock: Clock, Sendable {
    private let date: Lock<Date>

    public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 800_000_000)) {
        self.date = Lock(date)
    }

    public func now() -> Date { date.withLock { $0 } }
    public func advance(seconds: Double) { date.withLock { $0 += seconds } }
}

/// The process was killed, as far as the device can tell.
public struct SimulatedCrash: Error, Hashable, Sendable {
    /// The fault point at which it happened.
    public let point: String
}

/// Kills by dice at the fault points, and carries the bug a test planted.
public final class SeededFaults: FaultPoints, Sendable {
    private let randomness: SeededRandomness
    private let percent: Lock<Int>
    public let plantedBug: String?

    public init(randomness: SeededRandomness, crashPercent: Int, plantedBug: String? = nil) {
        self.randomness = randomness
        percent = Lock(crashPercent)
        self.plantedBug = plantedBug
    }

    public func reach(_ name: String) throws {
        let percent = percent.withLock { $0 }
        if percent > 0, randomness.chance(percent: percent) { throw SimulatedCrash(point: name) }
    }

    /// Sets how often a fault point kills; 0 for never.
    public func setCrashPercent(_ value: Int) { percent.withLock { $0 = value } }
}
