public import Platform
internal import RecordWire

/// How long to wait before a request is sent again, and when to give up.
///
/// The waits double from `baseSeconds` up to `capSeconds`, and of each a random part is taken (full
/// jitter), so that many devices do not come back at one moment. What the service asks for is kept.
public struct RetryPolicy: Hashable, Sendable {
    /// Sendings in all, the first one included.
    public var attemptsMax = 8
    public var baseSeconds = 0.5
    public var capSeconds = 60.0
    /// When the service asks for more patience than this, the caller is told instead.
    public var retryAfterSecondsMax = 600.0

    public init() {}

    /// Seconds to wait after the failure of attempt number `attempt` (from 1); nil: give up.
    public func wait(
        afterAttempt attempt: Int, _ error: any Error, randomness: any Randomness
    ) -> Double? {
        guard attempt < attemptsMax else { return nil }
        let asked = RetryPolicy.retryAfter(error)
        guard asked != nil || RetryPolicy.isTransient(error) else { return nil }
        let ceiling = min(capSeconds, baseSeconds * exp2(attempt - 1))
        let share = Double(randomness.next() >> 11) / Double(1 << 53)
        guard let asked, asked > 0 else { return ceiling * share }
        guard asked <= retryAfterSecondsMax else { return nil }
        // Never sooner than asked; spread over what follows.
        return asked + min(ceiling, asked) * share
    }

    private func exp2(_ power: Int) -> Double {
        power < 63 ? Double(1 << max(0, power)) : .infinity
    }

    private static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case let error as RecordError: error.code.isTransient
        case let error as TransportError: error.code.isTransient
        default: false
        }
    }

    private static func retryAfter(_ error: any Error) -> Double? {
        switch error {
        case let error as RecordError: error.retryAfterSeconds
        case let error as TransportError: error.retryAfterSeconds
        default: nil
        }
    }
}
