internal import Foundation

/// The body of `records/query`. (SERVICE §3, queries)
extension JSONWriter {
    mutating func query(_ request: QueryRecords) throws {
        key("query")
        try object { try $0.recordQuery(request.query, request.numbersAsStrings) }
        member("zoneID", request.zoneID)
        if request.zoneWide { member("zoneWide", true) }
        member("resultsLimit", request.resultsLimit.map(Int64.init))
        member("continuationMarker", request.continuationMarker)
        member("desiredKeys", request.desiredKeys)
        if request.numbersAsStrings { member("numbersAsStrings", true) }
    }

    /// Writes the members of a query into the innermost object.
    mutating func recordQuery(_ query: RecordQuery, _ numbersAsStrings: Bool = false) throws {
        member("recordType", query.recordType)
        key("filterBy")
        try array(query.filters) { writer, filter in
            try writer.object {
                $0.member("comparator", filter.comparator.rawValue)
                $0.queried(filter.field)
                $0.key("fieldValue")
                try $0.object { try $0.typedValue(filter.value, numbersAsStrings) }
                $0.member("distance", filter.distance)
            }
        }
        key("sortBy")
        array(query.sorts) { writer, sort in
            writer.object {
                $0.queried(sort.field)
                $0.member("ascending", sort.ascending)
                guard let place = sort.relativeLocation else { return }
                $0.key("relativeLocation")
                $0.location(place)
            }
        }
    }

    private mutating func queried(_ field: QueriedField) {
        switch field {
        case .field(let name): member("fieldName", name)
        case .system(let field): member("systemFieldName", field.rawValue)
        case .anyText: break
        }
    }
}
