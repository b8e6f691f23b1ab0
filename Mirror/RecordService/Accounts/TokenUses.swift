internal import Platform
public import RecordWire

/// When tokens were shown last: at once in memory, after a while in the database. What is written
/// there is forgotten here, so that memory grows with the tokens of half an hour.
final class TokenUses: Sendable {
    private struct Use {
        var at: Int64
        /// What the database has.
        var keptAt: Int64 = 0
    }

    private struct Uses {
        /// Of this quarter of an hour and of the one before.
        var current: [String: Use] = [:]
        var former: [String: Use] = [:]
        /// What the database is to hear of.
        var due: [String] = []
        /// When the next quarter begins.
        var turn: Int64?

        func use(of id: String) -> Use? { current[id] ?? former[id] }

        mutating func keep(_ id: String, at: Int64) {
            if current[id] != nil {
                current[id]?.keptAt = at
            } else {
                former[id]?.keptAt = at
            }
        }
    }

    private let uses = Lock(Uses())

    /// A token that is in use all day is written this often.
    private static let quarterMilliseconds: Int64 = 15 * 60_000
    /// So many are written at once, between which others write.
    static let writtenMax = 5_000

    /// Cost: O(1).
    func note(_ id: String, at milliseconds: Int64) {
        uses.withLock { uses in
            if uses.current[id] != nil {
                uses.current[id]?.at = milliseconds
                return
            }
            let former = uses.former[id]
            if former == nil { uses.due.append(id) }
            uses.current[id] = Use(at: milliseconds, keptAt: former?.keptAt ?? 0)
        }
    }

    /// Takes what the database should hear of by now, or with `isLast` all that it has not heard
    /// of. Cost: O(what it returns), and once in a quarter of an hour O(tokens in use).
    func takeDue(at now: Int64, isLast: Bool) -> [String: Int64] {
        if isLast { list(uses.withLock { [$0.current, $0.former] }) }
        if let ended = turn(at: now) { list([ended]) }
        return uses.withLock { uses in
            let count = isLast ? uses.due.count : min(uses.due.count, Self.writtenMax)
            let found = uses.due.suffix(count).compactMap { id in
                uses.use(of: id).map { (id, $0.at) }
            }
            uses.due.removeLast(count)
            return Dictionary(found, uniquingKeysWith: max)
        }
    }

    /// Begins the next quarter, when it is time. Returns what the one before had.
    private func turn(at now: Int64) -> [String: Use]? {
        uses.withLock { uses in
            guard let turn = uses.turn, now >= turn else {
                uses.turn = uses.turn ?? now + Self.quarterMilliseconds
                return nil
            }
            uses.turn = now + Self.quarterMilliseconds
            uses.former = uses.current
            uses.current = [:]
            return uses.former
        }
    }

    private func list(_ quarters: [[String: Use]]) {
        let unkept = quarters.flatMap { $0.filter { $0.value.at > $0.value.keptAt }.keys }
        uses.withLock { $0.due += unkept }
    }

    func kept(_ written: [String: Int64]) {
        uses.withLock { uses in
            for (id, at) in written { uses.keep(id, at: at) }
        }
    }

    /// What could not be written is due again.
    func giveBack(_ unwritten: [String: Int64]) {
        uses.withLock { $0.due += unwritten.keys }
    }

    /// The later of what is known here and what the database has.
    func last(of id: String, kept: Int64?) -> Int64? {
        let here = uses.withLock { $0.use(of: id)?.at }
        return [here, kept].compactMap { $0 }.max()
    }

    /// How many tokens are known here.
    var count: Int { uses.withLock { $0.current.count + $0.former.count } }
}

extension ServiceAccounts {
    /// Writes down when tokens were shown last: each when it was not in use for a while, those in
    /// use every quarter of an hour, all with `isLast`. Cost: nothing where nothing is due, else
    /// one transaction.
    public func keepTokenUses(isLast: Bool = false) throws(RecordError) {
        let due = uses.takeDue(at: platform.milliseconds, isLast: isLast)
        guard !due.isEmpty else { return }
        do {
            try backend.write { transaction in
                for (id, at) in due.sorted(by: { $0.key < $1.key }) {
                    try transaction.noteUse(ofToken: id, at: at)
                }
            }
        } catch {
            uses.giveBack(due)
            throw error
        }
        uses.kept(due)
    }
}
