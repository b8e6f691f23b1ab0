internal import Foundation
internal import ObjectModel
internal import Predicates
internal import Stores

/// How a predicate over the history reads for one store.
struct HistoryPredicate {
    let storeIdentifier: String

    /// The predicate with comparisons of tokens as comparisons of transaction numbers, and entities
    /// as their names. A token that does not know the store stands before all its transactions.
    func plain(_ node: PredicateNode) -> PredicateNode {
        switch node {
        case .constant, .opaque: node
        case .and(let parts): .and(parts.map(plain))
        case .or(let parts): .or(parts.map(plain))
        case .not(let part): .not(plain(part))
        case .comparison(let comparison): .comparison(plain(comparison))
        }
    }

    private func plain(_ comparison: ComparisonNode) -> ComparisonNode {
        var plain = comparison
        plain.left = side(comparison.left, beside: comparison.right)
        plain.right = side(comparison.right, beside: comparison.left)
        return plain
    }

    private func side(_ side: ExpressionNode, beside other: ExpressionNode) -> ExpressionNode {
        switch side {
        case .keyPath(let path) where path.last == "token" && other.holdsToken:
            .keyPath(path.dropLast() + ["transactionNumber"])
        case .constant(let token as NSPersistentHistoryToken):
            .constant(NSNumber(value: token.numbers[storeIdentifier] ?? 0))
        case .constant(let entity as NSEntityDescription): .constant(entity.name)
        default: side
        }
    }

    /// Moves the beginning of a query to where a predicate can first be true.
    static func narrow(_ query: inout HistoryQuery, by predicate: PredicateNode) {
        switch predicate {
        case .and(let parts): for part in parts { narrow(&query, by: part) }
        case .comparison(let comparison) where comparison.modifier == .direct:
            narrow(&query, by: comparison)
        default: break
        }
    }

    private static func narrow(_ query: inout HistoryQuery, by comparison: ComparisonNode) {
        guard case .keyPath(let path) = comparison.left,
            case .constant(let value?) = comparison.right,
            path.count == 1 || path.count == 2 && path[0] == "transaction"
        else { return }
        let isStrict = comparison.operator == .greaterThan
        guard isStrict || [.greaterThanOrEqualTo, .equalTo].contains(comparison.operator) else {
            return
        }
        switch (path.last, value) {
        case ("transactionNumber"?, let number as NSNumber):
            let number = number.int64Value
            query.above = max(query.above, isStrict || number == .min ? number : number - 1)
        case ("timestamp"?, let date as Date):
            let time = date.timeIntervalSinceReferenceDate
            let since = Date(timeIntervalSinceReferenceDate: isStrict ? time : time.nextDown)
            query.since = max(query.since ?? since, since)
        default: break
        }
    }

    /// Whether a part of the predicate is code, which may look at anything.
    static func isOpaque(_ predicate: PredicateNode) -> Bool {
        switch predicate {
        case .opaque: true
        case .constant, .comparison: false
        case .and(let parts), .or(let parts): parts.contains(where: isOpaque)
        case .not(let part): isOpaque(part)
        }
    }
}

extension ExpressionNode {
    fileprivate var holdsToken: Bool {
        if case .constant(let value) = self { value is NSPersistentHistoryToken } else { false }
    }
}
