internal import Foundation
internal import SQLiteDriver
internal import Stores

/// Removes the oldest of the history, a stretch at a time. Used within a transaction that writes.
///
/// Numbers are never given again, and nothing goes that a consumer has not seen. Cost: in
/// proportion to what is removed; only the moments of what is to go are looked at.
struct HistoryPurge {
    /// How far a removal has come.
    struct Progress {
        /// The last number that is to go.
        var last: Int64
        var done = HistoryRemoval()
        var isDone = false
    }

    /// A removal that found nothing to do.
    static let none = Progress(last: 0, isDone: true)

    let connection: Connection
    let keys: KeyRegister

    private static let stretch: Int64 = 1000

    /// Finds where the removal ends, and does the first stretch.
    func begin(_ extent: HistoryExtent) throws -> Progress {
        guard let asked = try lastNumber(in: extent) else { return Self.none }
        let holders = try HistoryConsumers(connection: connection).all().filter {
            $0.lastSeen < asked
        }
        var progress = Progress(last: holders.map(\.lastSeen).min() ?? asked)
        progress.done.heldBy = holders.map(\.name)
        return try goOn(progress)
    }

    /// Removes the next stretch.
    func goOn(_ progress: Progress) throws -> Progress {
        var next = progress
        guard
            let first = try connection.value(
                "SELECT min(Z_PK) FROM ATRANSACTION WHERE Z_PK <= ?", [.integer(progress.last)])?
                .int64
        else {
            next.isDone = true
            return next
        }
        let (end, overflow) = first.addingReportingOverflow(Self.stretch - 1)
        let bound = overflow ? progress.last : min(progress.last, end)
        next.done.changes += try remove("ACHANGE", "ZTRANSACTIONID", upTo: bound)
        next.done.transactions += try remove("ATRANSACTION", "Z_PK", upTo: bound)
        next.isDone = bound == progress.last
        return next
    }

    private func remove(_ table: String, _ column: String, upTo number: Int64) throws -> Int {
        try connection.run("DELETE FROM \(table) WHERE \(column) <= ?", [.integer(number)])
    }

    /// Nil where nothing is to go.
    private func lastNumber(in extent: HistoryExtent) throws -> Int64? {
        let (oldest, newest) = (
            try connection.value("SELECT min(Z_PK) FROM ATRANSACTION")?.int64,
            try connection.value("SELECT max(Z_PK) FROM ATRANSACTION")?.int64
        )
        guard let oldest, let newest else { return nil }
        let last: Int64
        switch extent {
        case .all: last = newest
        case .upTo(let number): last = min(number, newest)
        case .before(let date):
            // By key, so that only what goes is looked at: moments may run backwards.
            let kept = try connection.value(
                "SELECT Z_PK FROM ATRANSACTION NOT INDEXED WHERE ZTIMESTAMP >= ? "
                    + "ORDER BY Z_PK LIMIT 1", [SQLiteValue(date)])
            // Where nothing older stands before it, nothing goes.
            guard kept?.int64 != oldest else { return nil }
            last = kept?.int64.map { $0 - 1 } ?? newest
        }
        return last >= oldest ? last : nil
    }
}
