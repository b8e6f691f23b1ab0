internal import RecordWire

/// How a query is answered: which index is read, where, and whether its order is the query's.
struct QueryPlan {
    let filters: [QueryFilter]
    let order: QueryOrder
    /// The fields that conditions and order look at; nil for all.
    let names: Set<String>?

    init(_ filters: [QueryFilter], _ order: QueryOrder) {
        self.filters = filters
        self.order = order
        let keys = filters.map(\.key) + order.keys.map(\.key)
        let looksAtAll = keys.contains { $0.kind == .words && $0.name.text.isEmpty }
        names =
            looksAtAll
            ? nil : Set(keys.filter { $0.kind != .system }.map(\.name.text))
    }

    /// One way to read: an index and where in it.
    struct Way {
        let key: QueryIndexKey
        let ranges: [FormRange]
        let descending: Bool
        /// Whether records come in the order of the query.
        let isOrdered: Bool
    }

    /// The filter that leaves the fewest records, as far as its kind tells.
    private var best: QueryFilter? {
        let narrow = filters.filter { $0.ranges != nil }
        return narrow.first { $0.isExact } ?? narrow.first
    }

    /// The way along an index whose order is the query's; nil where there is none.
    var ordered: Way? {
        guard !order.keys.isEmpty else {
            return Way(
                key: best?.key ?? .recordName, ranges: best?.ranges ?? [.all], descending: false,
                isOrdered: true)
        }
        guard order.isIndexed else { return nil }
        let key = order.keys[0].key
        let ranges = filters.first { $0.key == key && $0.ranges != nil }?.ranges ?? [.all]
        return Way(
            key: key, ranges: order.isDescending ? ranges.reversed() : ranges,
            descending: order.isDescending, isOrdered: true)
    }

    /// The way along the index of the first of several keys; what is equal by it is put in order
    /// afterwards. nil where there is none.
    var stepped: Way? {
        guard order.keys.count > 1, let first = order.keys.first, first.place == nil else {
            return nil
        }
        let ranges = filters.first { $0.key == first.key && $0.ranges != nil }?.ranges ?? [.all]
        return Way(
            key: first.key, ranges: order.isDescending ? ranges.reversed() : ranges,
            descending: order.isDescending, isOrdered: false)
    }

    /// The way along the narrowest index; what it finds is put in order afterwards.
    var gathered: Way {
        Way(
            key: best?.key ?? .recordName, ranges: best?.ranges ?? [.all], descending: false,
            isOrdered: false)
    }

    /// Whether gathering is worth a try before the ordered way.
    var hasExactFilter: Bool { best?.isExact == true }

    /// The indexes that may be read, in one zone or in several.
    func keys(isWide: Bool) -> [QueryIndexKey] {
        guard let key = ordered?.key ?? (isWide ? nil : stepped?.key) else {
            return [gathered.key]
        }
        let mayGather = hasExactFilter || isWide || ordered == nil
        guard !order.keys.isEmpty, mayGather, gathered.key != key else { return [key] }
        return [key, gathered.key]
    }
}
