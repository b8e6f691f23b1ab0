internal import Platform
public import RecordWire

/// When tokens were shown last: at once in memory, after a while in the database.
final class TokenUses: Sendable {
    private struct Use {
        var at: Int64
        /// What the database has.
        var keptAt: Int64
    }

    private let uses = Lock<[String: Use]>([:])

    /// A token that is in use all day is written this often.
    private static let pauseMilliseconds: Int64 = 15 * 60_000

    func note(_ id: String, at milliseconds: Int64) {
        uses.withLock { $0[id, default: Use(at: 0, keptAt: 0)].at = milliseconds }
    }

    /// Those that the database should hear of by now, or all that it has not heard of.
    func due(_ isLast: Bool) -> [String: Int64] {
        uses.withLock { uses in
            uses.compactMapValues { use in
                let wait = isLast ? 0 : Self.pauseMilliseconds
                return use.at > use.keptAt && use.at - use.keptAt >= wait ? use.at : nil
            }
        }
    }

    func kept(_ written: [String: Int64]) {
        uses.withLock { uses in
            for (id, at) in written { uses[id]?.keptAt = at }
        }
    }

    /// The later of what is known here and what the database has.
    func last(of id: String, kept: Int64?) -> Int64? {
        let here = uses.withLock { $0[id]?.at }
        return [here, kept].compactMap { $0 }.max()
    }
}

extension ServiceAccounts {
    /// Writes down when tokens were shown last; those that are in use every quarter of an hour,
    /// all with `isLast`. Cost: nothing where nothing is due, else one transaction.
    public func keepTokenUses(isLast: Bool = false) throws(RecordError) {
        let due = uses.due(isLast)
        guard !due.isEmpty else { return }
        try backend.write { transaction in
            for (id, at) in due.sorted(by: { $0.key < $1.key }) {
                try transaction.noteUse(ofToken: id, at: at)
            }
        }
        uses.kept(due)
    }
}
