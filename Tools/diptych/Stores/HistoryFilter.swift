internal import Foundation
internal import Stores

/// A place in the history: a moment, or a transaction's number.
enum HistoryPlace: Sendable {
    case date(Date)
    case number(Int64)

    /// Nil for a text that is neither.
    init?(_ text: String) {
        if let number = Int64(text), number >= 0 {
            self = .number(number)
        } else if text.contains("-") {
            let whole = text.contains("T") ? text : text + "T00:00:00Z"
            guard let seconds = ExactDate.seconds(whole), seconds.isFinite else { return nil }
            self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        } else {
            return nil
        }
    }
}

/// Which transactions and changes of a history are shown.
struct HistoryFilter: Sendable {
    var object: String?
    var entity: String?
    var author: String?
    var since: HistoryPlace?
    var until: HistoryPlace?
    var limit: Int?

    /// The transactions from `since` on, a page at a time.
    var query: HistoryQuery {
        var query = HistoryQuery()
        switch since {
        case .number(let number)?: query.above = number
        case .date(let date)?: query.since = date
        case nil: break
        }
        return query
    }

    /// Whether a transaction comes after the last that is wanted. Moments may run backwards, so
    /// that only a number ends the walk.
    func isBeyond(_ transaction: HistoryTransaction) -> Bool {
        if case .number(let number)? = until { transaction.number > number } else { false }
    }

    func wants(_ transaction: HistoryTransaction) -> Bool {
        if case .date(let date)? = until, transaction.date > date { return false }
        return author == nil || transaction.author == author
    }

    /// Whether changes are chosen, too: then transactions without any of them are left out.
    var choosesChanges: Bool { object != nil || entity != nil }
}
