internal import Platform
internal import RecordWire

/// Signatures of requests that were let in to change something: each is good once, until it is too
/// old to be good at all. In memory, so every process of a service has its own.
final class UsedSignatures: Sendable {
    /// As much of a signature's number `r` as tells it from others of its key.
    private struct Mark: Hashable {
        let high: UInt64
        let low: UInt64
    }

    /// What is remembered of one key, so that a busy one leaves room for others.
    private static let perKeyMax = 100_000

    private let ends = Lock<[String: [Mark: Int64]]>([:])

    /// Takes note of a signature that is good until `end`. Throws AUTHENTICATION_FAILED for one
    /// that was used before, THROTTLED where the key has as many as are remembered.
    func use(
        _ signature: ECDSASignature, ofKey id: String, until end: Int64, now: Int64
    ) throws(RecordError) {
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
    }

    private static let used = RecordError(
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
