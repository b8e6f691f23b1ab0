internal import Stores

extension RowStore {
    /// Hands the rows of a query to `body` in its order, some at a time, so that memory does not
    /// grow with the store. Cost: the keys of all rows are held, 16 bytes each.
    func stream(_ query: RowQuery, _ body: (Row) throws -> Void) throws {
        let ids = try ids(matching: query)
        var start = 0
        while start < ids.count {
            let batch = Array(ids[start..<min(start + 500, ids.count)])
            let rows = Dictionary(try rows(batch).map { ($0.id, $0) }) { $1 }
            for id in batch { if let row = rows[id] { try body(row) } }
            start += batch.count
        }
    }
}
