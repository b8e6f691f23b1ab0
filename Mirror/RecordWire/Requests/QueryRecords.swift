/// `records/query`
public struct QueryRecords: Hashable, Sendable {
    public var query: RecordQuery
    /// nil: the default zone, or all zones where `zoneWide`.
    public var zoneID: ZoneID?
    /// Whether all zones are searched where no zone is named.
    public var zoneWide = false
    /// nil: the service's own maximum.
    public var resultsLimit: Int?
    /// Where the last page ended; nil for the first.
    public var continuationMarker: String?
    public var desiredKeys: [String]?
    public var numbersAsStrings = false

    public init(_ query: RecordQuery, zoneID: ZoneID?) {
        self.query = query
        self.zoneID = zoneID
    }
}

/// Which records of one type are wanted, and in which order.
public struct RecordQuery: Hashable, Sendable {
    public var recordType: String
    /// A record has to pass all of them.
    public var filters: [RecordFilter]
    /// The first counts most.
    public var sorts: [RecordSort]

    public init(recordType: String, filters: [RecordFilter] = [], sorts: [RecordSort] = []) {
        self.recordType = recordType
        self.filters = filters
        self.sorts = sorts
    }
}

/// What a filter or a sort looks at.
public enum QueriedField: Hashable, Sendable {
    case field(String)
    case system(SystemField)
    /// All text fields of a record; for tokens only.
    case anyText
}

/// What every record has beside its fields.
public enum SystemField: String, Hashable, Sendable, CaseIterable {
    case recordName, createdTimestamp, modifiedTimestamp
    case createdUserRecordName, modifiedUserRecordName

    /// The name that stands for it in schemas, such as `___recordID`.
    public var schemaName: String {
        switch self {
        case .recordName: "___recordID"
        case .createdTimestamp: "___createTime"
        case .modifiedTimestamp: "___modTime"
        case .createdUserRecordName: "___createdBy"
        case .modifiedUserRecordName: "___modifiedBy"
        }
    }

    /// Takes the name of the wire and the one of schemas, in any case of its letters.
    public init?(named name: String) {
        let known = Self.allCases.first {
            $0.rawValue == name || $0.schemaName.lowercased() == name.lowercased()
        }
        guard let known else { return nil }
        self = known
    }
}

/// One condition of a query.
public struct RecordFilter: Hashable, Sendable {
    /// How a field is compared with the value.
    public enum Comparator: String, Hashable, Sendable, CaseIterable {
        case equals = "EQUALS"
        case notEquals = "NOT_EQUALS"
        case lessThan = "LESS_THAN"
        case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
        case greaterThan = "GREATER_THAN"
        case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
        case near = "NEAR"
        case containsAllTokens = "CONTAINS_ALL_TOKENS"
        case containsAnyTokens = "CONTAINS_ANY_TOKENS"
        case isIn = "IN"
        case notIn = "NOT_IN"
        case listContains = "LIST_CONTAINS"
        case notListContains = "NOT_LIST_CONTAINS"
        case listContainsAny = "LIST_CONTAINS_ANY"
        case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
        case listContainsAll = "LIST_CONTAINS_ALL"
        case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
        case beginsWith = "BEGINS_WITH"
        case notBeginsWith = "NOT_BEGINS_WITH"
        case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
        case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"

        /// `CONTAINS_ANY` is how Apple's own web apps spell LIST_CONTAINS_ANY.
        public init?(named name: String) {
            guard let known = Self(rawValue: name == "CONTAINS_ANY" ? "LIST_CONTAINS_ANY" : name)
            else { return nil }
            self = known
        }
    }

    public var comparator: Comparator
    public var field: QueriedField
    public var value: FieldValue
    /// Metres, for NEAR.
    public var distance: Double?

    public init(
        _ field: QueriedField, _ comparator: Comparator, _ value: FieldValue,
        distance: Double? = nil
    ) {
        self.field = field
        self.comparator = comparator
        self.value = value
        self.distance = distance
    }
}

/// One key of a query's order.
public struct RecordSort: Hashable, Sendable {
    public var field: QueriedField
    public var ascending: Bool
    /// The place from which distances are taken, for a field of locations.
    public var relativeLocation: RecordLocation?

    public init(
        _ field: QueriedField, ascending: Bool = true, relativeLocation: RecordLocation? = nil
    ) {
        self.field = field
        self.ascending = ascending
        self.relativeLocation = relativeLocation
    }
}
