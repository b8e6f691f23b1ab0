package import Platform

/// How long to wait before a request is sent again.
///
/// The waits double from `baseSeconds` up to `capSeconds`, and of each a random part is taken (full
/// jitter), so that many devices do not come back at one moment. What the service asks for is kept.
package struct RetryPolicy: Hashable, Sendable {
    package var baseSeconds = 0.5
    package var capSeconds = 60.0
    /// When the service asks for more patience than this, the round ends and says so.
    package var retryAfterSecondsMax = 60.0

    package init() {}

    /// Seconds to wait after the failure of attempt number `attempt` (from 1); nil: end the round.
    package func seconds(
        afterAttempt attempt: Int, retryAfterSeconds asked: Double?, randomness: any Randomness
    ) -> Double? {
        let doublings = min(max(attempt - 1, 0), 30)
        let ceiling = min(capSeconds, baseSeconds * Double(1 << doublings))
        let share = Double(randomness.next() >> 11) / Double(1 << 53)
        guard let asked, asked > 0 else { return ceiling * share }
        guard asked <= retryAfterSecondsMax else { return nil }
        // Never sooner than asked; spread over what follows.
        return asked + min(ceiling, asked) * share
    }
}
