internal import Platform
internal import SQLiteDriver

/// Keeps more of the file's pages in memory while a round runs. The names of a page's records go to
/// as many places of an index: what does not stay until the transaction ends is written, read and
/// written again.
final class RoundCache: Sendable {
    /// What the connection had before, in SQLite's spelling: pages, or kibibytes below zero.
    private let former = Lock<Int64?>(nil)

    private static let kibibytes: Int64 = 16_384

    /// From now on there are more, unless whoever opened the store asked for as many.
    func open(_ connection: Connection) throws {
        try former.withLock { former in
            guard former == nil, let now = try connection.pragma("cache_size")?.int64,
                now > -Self.kibibytes, now < Self.kibibytes
            else { return }
            try connection.script("PRAGMA cache_size = -\(Self.kibibytes)")
            former = now
        }
    }

    /// As many as before; the memory of the others is given back.
    func close(_ connection: Connection) throws {
        try former.withLock { former in
            guard let count = former else { return }
            try connection.script("PRAGMA cache_size = \(count)")
            former = nil
        }
    }
}
