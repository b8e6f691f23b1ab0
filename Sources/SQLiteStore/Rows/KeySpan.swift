internal import Stores

/// Keys that lie so close together that reading all between them costs less than seeking each.
struct KeySpan {
    let first: Int64
    let last: Int64
    let isAscending: Bool

    var count: Int { Int(last &- first) + 1 }

    private static let keysMin = 8

    /// Nil where the keys are few, or lie apart.
    init?(_ ids: ArraySlice<RowID>) {
        guard ids.count >= Self.keysMin, let begin = ids.first?.key else { return nil }
        var (first, last, former, isAscending) = (begin, begin, begin, true)
        for id in ids.dropFirst() {
            if id.key <= former { isAscending = false }
            former = id.key
            first = min(first, id.key)
            last = max(last, id.key)
        }
        let (width, isTooWide) = last.subtractingReportingOverflow(first)
        guard !isTooWide, width < 2 * Int64(ids.count) else { return nil }
        self.first = first
        self.last = last
        self.isAscending = isAscending
    }
}
