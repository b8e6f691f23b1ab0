internal import Platform
internal import RecordWire

/// Signatures of requests that were let in to change something: each is good once, until it is too
/// old to be good at all. This is what one process remembers; what all remember is in the backend.
final class UsedSignatures: Sendable {
    /// As much of a signature's number `r` as tells it from others of its key.
    private struct Mark: Hashable {
        let high: UInt64
        let low: UInt64
    }

    /// What is remembered of one key, so that a busy one leaves room for others.
    private static let perKeyMax = 100_000

    /// As many bytes of `r` are kept.
    static let markBytes = 16
    /// What the backend remembers is looked through for old ones once in so many.
    private static let betweenForgetting = 100
    private let uses = Lock(0)

    private let ends = Lock<[String: [Mark: Int64]]>([:])

    /// Takes note of a signature that is good until `end`. Throws AUTHENTICATION_FAILED for one
    /// that was used before, THROTTLED where the key has as many as are remembered. Returns whether
    /// it is time to forget old ones elsewhere.
    func use(
        _ signature: ECDSASignature, ofKey id: String, until end: Int64, now: Int64
    ) throws(RecordError) -> Bool {
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        let mark = Mark(high: word(signature.r[0..<8]), low: word(signature.r[8..<16]))
        let refusal = ends.withLock { ends -> RecordError? in
            var known = ends[id] ?? [:]
            ends[id] = nil
            defer { ends[id] = known }
            guard known[mark] == nil else { return Self.used }
            if known.count >= Self.perKeyMax { known = known.filter { $0.value >= now } }
            guard known.count < Self.perKeyMax else { return Self.tooMany }
            known[mark] = end
            return nil
        }
        if let refusal { throw refusal }
        return uses.withLock { uses in
            uses += 1
            return uses % Self.betweenForgetting == 1
        }
    }

    static let used = RecordError(
        .authenticationFailed,
        "The signature was used before, and one that changes something is good once: sign the "
            + "request anew, with the present date.")

    private static var tooMany: RecordError {
        var error = RecordError(
            .throttled, "The key signed more changes in a short time than are remembered.")
        error.retryAfterSeconds = 60
        return error
    }
}
