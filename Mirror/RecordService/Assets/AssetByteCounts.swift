internal import Platform

/// How many bytes the assets of users take at most, so that not all that a user has is added up
/// with each upload.
///
/// A figure was counted once and grows with what comes in. What went away since, or came to another
/// process, is seen once it is counted anew: at the latest after a minute, and before anybody is
/// refused.
final class AssetByteCounts: Sendable {
    private struct Count {
        var bytes: Int64
        /// When it was counted, in milliseconds.
        let counted: Int64
    }

    private let counts = Lock<[String: Count]>([:])
    private let usersMax: Int

    static let millisecondsMax: Int64 = 60_000

    init(usersMax: Int = 10_000) { self.usersMax = usersMax }

    /// Adds what comes in. Returns the figure with it; nil where it has to be counted.
    func add(_ size: Int64, of owner: String, at milliseconds: Int64) -> Int64? {
        counts.withLock { counts in
            guard var count = counts[owner],
                (0..<Self.millisecondsMax).contains(milliseconds - count.counted)
            else { return nil }
            count.bytes += size
            counts[owner] = count
            return count.bytes
        }
    }

    /// Keeps what was counted.
    func keep(_ bytes: Int64, of owner: String, at milliseconds: Int64) {
        counts.withLock { counts in
            if counts.count >= usersMax, counts[owner] == nil { counts.removeAll() }
            counts[owner] = Count(bytes: bytes, counted: milliseconds)
        }
    }
}
