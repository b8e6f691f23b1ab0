/// How often values fell below each of some bounds. Many threads note values at once without a
/// lock.
public final class Histogram: Sendable {
    private let bounds: [Double]
    /// One for each bound, and one for what is above them all.
    private let counts: [Counter]
    private let millionths = Counter()
    private static let valueMax = 1e9

    /// `bounds` rise; a value belongs to the first that is not below it.
    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Takes note of a value that is not negative.
    public func note(_ value: Double) {
        let value = value.isFinite ? min(max(value, 0), Self.valueMax) : Self.valueMax
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count].add()
        millionths.add(Int((value * 1e6).rounded()))
    }

    /// What was noted so far.
    public var summary: HistogramSummary {
        var below = 0
        let cumulative = counts.map { counter in
            below += counter.value
            return below
        }
        return HistogramSummary(
            bounds: bounds, counts: cumulative, sum: Double(millionths.value) / 1e6)
    }
}

/// What a histogram holds at one moment.
public struct HistogramSummary: Hashable, Sendable {
    /// Rising; a value belongs to the first that is not below it.
    public var bounds: [Double]
    /// How many values are not above each bound, and last how many there are in all.
    public var counts: [Int]
    /// Of all values, to a millionth each.
    public var sum: Double

    /// How many values there are, whatever their size.
    public var count: Int { counts.last ?? 0 }
}
