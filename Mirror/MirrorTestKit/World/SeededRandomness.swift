internal import Foundation
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

    /// A number of a closed range.
    public func among(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.count)
    }

    /// Whether a die with so many percent falls. Without a chance no die is thrown.
    public func chance(percent: Int) -> Bool { percent > 0 && below(100) < percent }

    /// One element, or nil of an empty collection.
    public func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }
}
