internal import Platform
internal import SQLiteDriver
internal import Stores

/// Notices what other connections write to the file, when asked. Used under the store's lock.
final class ForeignChanges {
    private let store: OpenStore
    /// SQLite's count of commits by others: when asked whether there are any, and which.
    private var seenVersion: Int64
    private var readVersion: Int64
    private var seenNumber: Int64

    init(_ store: OpenStore) throws {
        self.store = store
        seenVersion = try store.connection.commitsOfOthers()
        readVersion = seenVersion
        seenNumber = try store.reading.lastTransactionNumber()
    }

    func arePresent() throws -> Bool {
        let version = try store.connection.commitsOfOthers()
        defer { seenVersion = version }
        return version != seenVersion
    }

    /// What others saved since the last call, by the history; nil when they saved nothing, though
    /// they may have reserved keys. Empty where the file keeps no history, where it was removed
    /// meanwhile, and where it names so many changes that reading all anew is less work.
    func transactions() throws -> [HistoryTransaction]? {
        let version = try store.connection.commitsOfOthers()
        guard version != readVersion else { return nil }
        let found = try news()
        readVersion = version
        return found
    }

    private func news() throws -> [HistoryTransaction]? {
        guard let history = store.history else { return [] }
        let last = try store.reading.lastTransactionNumber()
        guard last >= seenNumber else {
            // A file whose history goes back has been replaced.
            seenNumber = last
            return []
        }
        let own = history.log.own.take()
        for range in own where range.contains(seenNumber &+ 1) { seenNumber = range.upperBound }
        if try changeCount() > Self.changesMax {
            seenNumber = last
            return []
        }
        do {
            let found = try store.reading.history(HistoryQuery(after: seenNumber))
            seenNumber = max(seenNumber, found.last?.number ?? 0)
            let others = found.filter { transaction in
                !own.contains { $0.contains(transaction.number) }
            }
            return others.isEmpty ? nil : others
        } catch let error as StoreError where error.code == .historyExpired {
            seenNumber = try store.reading.lastTransactionNumber()
            return []
        }
    }

    private static let changesMax: Int64 = 50_000

    /// How many changes the history has that were not looked at. Cost: a scan of as much of an
    /// index.
    private func changeCount() throws -> Int64 {
        try store.connection.value(
            "SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID > ?", [.integer(seenNumber)])?
            .int64 ?? 0
    }
}

/// The numbers of the transactions that this connection wrote, as ranges.
struct OwnTransactions {
    private var written: [ClosedRange<Int64>] = []
    private var pending: [Int64] = []

    private static let rangesMax = 4096

    /// Notes a transaction that is written but not committed.
    mutating func note(_ number: Int64) {
        if pending.last != number { pending.append(number) }
    }

    mutating func commit() {
        for number in pending {
            if let last = written.last, last.upperBound &+ 1 == number {
                written[written.count - 1] = last.lowerBound...number
            } else {
                // Forgotten ones count as others': contexts then look more than they need.
                if written.count >= Self.rangesMax { written.removeFirst(Self.rangesMax / 2) }
                written.append(number...number)
            }
        }
        pending = []
    }

    mutating func undo() { pending = [] }

    /// The committed ones since the last call, in order.
    mutating func take() -> [ClosedRange<Int64>] {
        defer { written = [] }
        return written
    }
}
