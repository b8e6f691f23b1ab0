internal import RecordWire

/// Where a record stands in the order of a query.
struct QueryPosition: Hashable {
    var zone: Int64
    /// Of each sort key, as indexes keep it; of an unsorted query, the entry of the index.
    var forms: [QueryForm]
    var name: String
}

/// The order of a query's records: by the sort keys, then by zone and name.
struct QueryOrder {
    struct SortKey {
        let key: QueryIndexKey
        let ascending: Bool
        let place: RecordLocation?
    }

    let keys: [SortKey]

    /// `type` gives the type of a field, nil where no record has it. Throws BAD_REQUEST for what
    /// has no order.
    init(
        _ sorts: [RecordSort], type: (QueriedField) throws(RecordError) -> String?
    ) throws(RecordError) {
        var keys: [SortKey] = []
        for sort in sorts {
            let type = try type(sort.field)
            let isPlace = type == FieldType.location.rawValue
            guard !isPlace || sort.relativeLocation != nil else {
                throw Self.refusal(sort, "needs a relativeLocation: places have no order else")
            }
            guard isPlace || type == nil || sort.relativeLocation == nil else {
                throw Self.refusal(sort, "has a relativeLocation, and the field is no LOCATION")
            }
            guard type?.hasSuffix("_LIST") != true, type != FieldType.asset.rawValue else {
                throw Self.refusal(sort, "has no order: the field is \(type ?? "")")
            }
            keys.append(
                SortKey(
                    key: QueryIndexKey(sort.field, words: false), ascending: sort.ascending,
                    place: sort.relativeLocation))
        }
        self.keys = keys
    }

    private static func refusal(_ sort: RecordSort, _ what: String) -> RecordError {
        RecordError(.badRequest, "The sort by \(sort.field.name) \(what).")
    }

    /// Names go the way of the first key, as an index read backwards has them.
    var isDescending: Bool { keys.first?.ascending == false }

    /// Whether an index of the first key has the records in this order.
    var isIndexed: Bool { keys.count == 1 && keys[0].place == nil }

    func forms(of record: QueriedRecord) -> [QueryForm] {
        keys.map { sort in
            guard let place = sort.place else {
                return record.indexedForms(sort.key).first ?? .missing
            }
            guard case .location(let found)? = record.value(sort.key.name) else {
                return .distance(nil)
            }
            return .distance(found.metres(to: place))
        }
    }

    func precedes(_ one: QueryPosition, _ other: QueryPosition) -> Bool {
        for (index, key) in keys.enumerated()
        where index < one.forms.count && index < other.forms.count {
            guard one.forms[index] != other.forms[index] else { continue }
            return (one.forms[index] < other.forms[index]) == key.ascending
        }
        guard one.zone == other.zone else { return one.zone < other.zone }
        guard !one.name.isExactly(other.name) else { return false }
        return one.name.utf8.lexicographicallyPrecedes(other.name.utf8) != isDescending
    }
}
