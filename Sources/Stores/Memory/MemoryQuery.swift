internal import Foundation
internal import Predicates

/// Picks and orders rows for a `RowQuery`.
struct MemoryQuery {
    let query: RowQuery
    let store: MemoryRowStore

    func answer(from rows: [Row]) throws -> [Row] {
        guard query.predicate == nil, query.sort.isEmpty else {
            throw StoreError(
                .unsupported, "The memory store cannot evaluate this query yet.")
        }
        let tail = rows.dropFirst(query.offset)
        return Array(query.limit > 0 ? tail.prefix(query.limit) : tail)
    }
}
