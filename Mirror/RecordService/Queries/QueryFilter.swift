internal import RecordWire

/// A condition that is checked against its field's type and can be tried on records.
struct QueryFilter {
    let key: QueryIndexKey
    /// Whether the record passes that the condition does not hold for.
    private let isNegated: Bool
    private let holds: (QueriedRecord) -> Bool
    /// Where in an index of the key the records are that can pass; nil: anywhere.
    let ranges: [FormRange]?
    /// Whether `ranges` are few values rather than a stretch.
    let isExact: Bool

    func passes(_ record: QueriedRecord) -> Bool { holds(record) != isNegated }

    /// `type`: of the field as it is spelled on the wire, nil where no record has it. Throws
    /// BAD_REQUEST for a comparison that makes no sense.
    init(_ filter: RecordFilter, type: String?) throws(RecordError) {
        let condition = FilterCondition(filter, type: type)
        let key = QueryIndexKey(filter.field, words: condition.isOfWords)
        let (isNegated, test) = try condition.test()
        self.key = key
        self.isNegated = isNegated
        let ranges: [FormRange]
        switch test {
        case .oneOf(let forms):
            holds = { record in record.forms(key).contains { forms.contains($0) } }
            // Values may have all in common that indexes keep of them.
            ranges = Set(forms.map(\.indexed)).map { .one($0) }
        case .allOf(let forms):
            // Of no values every list has all, but who has no value has none of them either.
            holds = { record in
                let found = record.forms(key)
                return found != [.missing] && forms.isSubset(of: found)
            }
            // A record that has all has the first.
            ranges = forms.min().map { [.one($0)] } ?? [.all]
        case .inRange(let range, let contains):
            holds = { record in record.forms(key).contains { contains($0) } }
            ranges = [range]
        case .near(let place, let metres, let range):
            holds = { record in
                guard case .location(let found)? = record.value(key.name) else { return false }
                return found.metres(to: place) <= metres
            }
            ranges = [range]
        }
        let isEverywhere = ranges == [.all]
        self.ranges =
            isNegated || isEverywhere
            ? nil : ranges.sorted { $0.lower < $1.lower } + [.unknown]
        isExact = test.isExact
    }

    /// What a condition asks for, apart from its negation.
    enum Test {
        case oneOf(Set<QueryForm>)
        case allOf(Set<QueryForm>)
        case inRange(FormRange, (QueryForm) -> Bool)
        case near(RecordLocation, metres: Double, FormRange)

        var isExact: Bool {
            switch self {
            case .oneOf, .allOf: true
            case .inRange, .near: false
            }
        }
    }
}

/// A filter beside the type of its field.
struct FilterCondition {
    let filter: RecordFilter
    /// The type of the field, or of the elements of its list; nil where it is not known.
    let type: FieldType?
    /// Whether the field holds lists; nil where it is not known.
    let isList: Bool?
    /// nil where the type is not known; `known` is how the field's type is spelled.
    private let known: String?

    private static let valuesMax = 250

    init(_ filter: RecordFilter, type known: String?) {
        self.filter = filter
        self.known = known
        let isList = known.map { $0.hasSuffix("_LIST") }
        self.isList = isList
        type = known.flatMap { name in
            FieldType(rawValue: isList == true ? String(name.dropLast("_LIST".count)) : name)
        }
    }

    var isOfWords: Bool {
        filter.comparator == .containsAllTokens || filter.comparator == .containsAnyTokens
    }

    func test() throws(RecordError) -> (isNegated: Bool, test: QueryFilter.Test) {
        if known?.hasPrefix("ENCRYPTED_") == true {
            throw refusal("looks at an encrypted field, which cannot be compared")
        }
        return switch filter.comparator {
        case .equals: (false, .oneOf([try scalar()]))
        case .notEquals: (true, .oneOf([try scalar()]))
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
            (false, try ordered())
        case .near: (false, try near())
        case .containsAllTokens: (false, .allOf(try words()))
        case .containsAnyTokens: (false, .oneOf(try words()))
        case .isIn: (false, .oneOf(try several(ofList: false)))
        case .notIn: (true, .oneOf(try several(ofList: false)))
        case .listContains: (false, .oneOf([try element()]))
        case .notListContains: (true, .oneOf([try element()]))
        case .listContainsAny: (false, .oneOf(try several(ofList: true)))
        case .notListContainsAny: (true, .oneOf(try several(ofList: true)))
        case .listContainsAll: (false, .allOf(try several(ofList: true)))
        case .notListContainsAll: (true, .allOf(try several(ofList: true)))
        case .beginsWith: (false, try beginning(ofList: false))
        case .notBeginsWith: (true, try beginning(ofList: false))
        case .listMemberBeginsWith: (false, try beginning(ofList: true))
        case .notListMemberBeginsWith: (true, try beginning(ofList: true))
        }
    }

    // MARK: Tests

    private func ordered() throws(RecordError) -> QueryFilter.Test {
        let form = try scalar()
        guard form.kind != .reference else {
            throw refusal("compares references, which have no order; use EQUALS or IN")
        }
        return switch filter.comparator {
        case .lessThan: .inRange(.through(form)) { $0.kind == form.kind && $0 < form }
        case .lessThanOrEquals: .inRange(.through(form)) { $0.kind == form.kind && $0 <= form }
        case .greaterThan: .inRange(.from(form)) { $0.kind == form.kind && $0 > form }
        default: .inRange(.from(form)) { $0.kind == form.kind && $0 >= form }
        }
    }

    private func beginning(ofList: Bool) throws(RecordError) -> QueryFilter.Test {
        try require(list: ofList)
        guard case .string(let text) = filter.value, type == nil || type == .string else {
            throw refusal("takes a STRING and a field of STRING")
        }
        let form = QueryForm(.string, text.utf8)
        return .inRange(.beginning(with: form)) { $0.hasPrefix(form) }
    }

    private func near() throws(RecordError) -> QueryFilter.Test {
        try require(list: false)
        guard case .location(let place) = filter.value, type == nil || type == .location else {
            throw refusal("takes a LOCATION and a field of LOCATION")
        }
        guard let metres = filter.distance, metres.isFinite, metres >= 0 else {
            throw refusal("needs a `distance` in metres")
        }
        let reach = RecordLocation.degrees(of: metres)
        func edge(_ latitude: Double) -> QueryForm? {
            QueryForm.one(
                of: .location(RecordLocation(latitude: latitude, longitude: -.infinity)))
        }
        let upper = edge((place.latitude + reach).nextUp)
        return .near(
            place, metres: metres,
            FormRange(lower: edge(place.latitude - reach) ?? .missing, upper: upper))
    }

    private func words() throws(RecordError) -> Set<QueryForm> {
        guard type == nil || type == .string else { throw refusal("takes a field of STRING") }
        switch filter.value {
        case .string(let text): return QueryForm.words(of: text)
        case .list(.string, let elements):
            return elements.reduce(into: []) { words, element in
                guard case .string(let text) = element else { return }
                words.formUnion(QueryForm.words(of: text))
            }
        default: throw refusal("takes a STRING or a STRING_LIST")
        }
    }

    // MARK: Values

    private func scalar() throws(RecordError) -> QueryForm {
        try require(list: false)
        return try form(of: filter.value)
    }

    private func element() throws(RecordError) -> QueryForm {
        try require(list: true)
        return try form(of: filter.value)
    }

    private func several(ofList: Bool) throws(RecordError) -> Set<QueryForm> {
        try require(list: ofList)
        guard case .list(_, let elements) = filter.value else {
            throw refusal("takes a list; give the value a type that ends with _LIST")
        }
        guard elements.count <= Self.valuesMax else {
            throw refusal("has \(elements.count) values; at most \(Self.valuesMax) are taken")
        }
        var forms: Set<QueryForm> = []
        for element in elements { forms.insert(try form(of: element)) }
        return forms
    }

    private func require(list: Bool) throws(RecordError) {
        guard let isList, isList != list else { return }
        throw refusal(
            list
                ? "is for lists, and the field is \(known ?? "")"
                : "is not for lists, and the field is \(known ?? ""); use LIST_CONTAINS")
    }

    private func form(of value: FieldValue) throws(RecordError) -> QueryForm {
        let value =
            try type.map { type throws(RecordError) in try coerced(value, to: type) } ?? value
        switch value {
        case .asset, .list, .location, .encrypted: throw refusal("does not take \(value.wireType)")
        case .string, .int64, .double, .timestamp, .bytes, .reference: break
        }
        guard let form = QueryForm.one(of: value) else {
            throw refusal("does not take \(value.wireType)")
        }
        return form
    }

    /// Numbers go where they fit; a name stands for a reference and the other way round.
    private func coerced(_ value: FieldValue, to type: FieldType) throws(RecordError) -> FieldValue
    {
        switch (value, type) {
        case (.int64(let number), .double): return .double(Double(number))
        case (.int64(let number), .timestamp): return .timestamp(number)
        case (.double(let number), .int64):
            if let whole = Int64(exactly: number) { return .int64(whole) }
        case (.string(let name), .reference):
            return .reference(RecordReference(recordName: name))
        case (.reference(let target), .string) where isSystem: return .string(target.recordName)
        default: if value.type == type { return value }
        }
        throw refusal("compares \(known ?? "") with \(value.wireType); send the field's type")
    }

    private var isSystem: Bool { if case .system = filter.field { true } else { false } }

    private func refusal(_ what: String) -> RecordError {
        RecordError(
            .badRequest, "The filter \(filter.comparator.rawValue) on \(filter.field.name) \(what)."
        )
    }
}

extension QueriedField {
    /// For people.
    var name: String {
        switch self {
        case .field(let name): name
        case .system(let field): field.rawValue
        case .anyText: "all fields"
        }
    }
}

extension SystemField {
    /// The type of its values.
    var type: FieldType {
        switch self {
        case .createdTimestamp, .modifiedTimestamp: .timestamp
        case .recordName, .createdUserRecordName, .modifiedUserRecordName: .string
        }
    }
}
