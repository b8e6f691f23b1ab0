/// Bounds of one round.
package struct RoundLimits: Hashable, Sendable {
    /// Requests after which a round that finds no rest is ended; nil where only what waits bounds
    /// them.
    package var requestsMax: Int?
    /// Failed tries without progress before the round is given up.
    package var attemptsMax = 5
    /// How often a round reads the zone to its end: after each export once more.
    package var passesMax = 100
    /// Batches sent for each record that waits or comes: its own, and some for conflicts over it.
    package var batchesPerRecord = 4
    /// Batches sent on top of that.
    package var batchesMin = 50
    /// Times that a round may meet another copy of its store.
    package var forksMax = 20

    package init() {}
}

/// Counts what a round does against its limits, so that every round ends.
///
/// Reading is bounded by what the service has: each page must move the token. Sending is bounded by
/// what waits. Failures count until there is progress of the same kind: a zone that can be read
/// does not make good that nothing can be written.
struct RoundBounds: Sendable {
    let limits: RoundLimits
    private var requests = 0
    private var passes = 0
    private var batches = 0
    private var expected = 0
    private var readFailures = 0
    private var sendFailures = 0

    init(limits: RoundLimits) { self.limits = limits }

    /// So many records more are to be sent, or may be because they came.
    mutating func expect(_ records: Int) { expected += records }

    mutating func beginPass() -> Bool {
        passes += 1
        return passes <= limits.passesMax
    }

    mutating func countRequest() -> Bool {
        requests += 1
        return requests <= limits.requestsMax ?? .max
    }

    mutating func countExport() -> Bool {
        batches += 1
        return batches <= limits.batchesMin + limits.batchesPerRecord * expected
    }

    mutating func readSome() { readFailures = 0 }

    mutating func sentSome() { sendFailures = 0 }

    /// Which failed try this is, from 1; nil when it was one too many.
    mutating func countFailure(whileSending: Bool) -> Int? {
        if whileSending { sendFailures += 1 } else { readFailures += 1 }
        let count = whileSending ? sendFailures : readFailures
        return count <= limits.attemptsMax ? count : nil
    }
}
