internal import Platform
internal import SQLiteDriver

/// Settings of the connection while a round runs.
///
/// More of the file's pages stay in memory: the names of a page's records go to as many places of
/// an index, and what does not stay until the transaction ends is written, read and written again.
/// And the log may grow larger before a commit has to move it into the file: that is done beside
/// the round (`MirroredStore.moveLog`).
final class RoundPragmas: Sendable {
    /// What the connection had before, in SQLite's spelling.
    private let former = Lock<[Pragma: Int64]?>(nil)

    private enum Pragma: String, CaseIterable {
        /// Pages, or kibibytes below zero.
        case pages = "cache_size"
        /// Pages in the log at which a commit moves them; 0 for never.
        case log = "wal_autocheckpoint"

        var wanted: Int64 {
            switch self {
            case .pages: -16_384
            case .log: 8_192
            }
        }

        /// Whether whoever opened the store asked for as many already.
        func isEnough(_ now: Int64) -> Bool {
            switch self {
            case .pages: now <= wanted || now >= -wanted
            case .log: now <= 0 || now >= wanted
            }
        }

        func set(_ value: Int64, _ connection: Connection) throws {
            try connection.script("PRAGMA \(rawValue) = \(value)")
        }
    }

    /// From now on there are more, unless whoever opened the store asked for as many.
    func open(_ connection: Connection) throws {
        try former.withLock { former in
            guard former == nil else { return }
            former = [:]
            for pragma in Pragma.allCases {
                guard let now = try connection.pragma(pragma.rawValue)?.int64,
                    !pragma.isEnough(now)
                else { continue }
                try pragma.set(pragma.wanted, connection)
                former?[pragma] = now
            }
        }
    }

    /// As before; the memory of the other pages is given back.
    func close(_ connection: Connection) throws {
        try former.withLock { former in
            for pragma in Pragma.allCases {
                if let before = former?[pragma] { try pragma.set(before, connection) }
            }
            former = nil
        }
    }
}
