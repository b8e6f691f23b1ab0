internal import Foundation

/// Reads the body of `records/query`. (SERVICE §3, queries)
extension WireObject {
    func queryRecords() throws -> QueryRecords {
        try allow([
            "query", "zoneID", "zoneWide", "resultsLimit", "continuationMarker", "desiredKeys",
            "numbersAsStrings", "numberAsStrings",
        ])
        var request = QueryRecords(
            try required("query") { try object($0)?.recordQuery() }, zoneID: try zoneID())
        request.zoneWide = try bool("zoneWide") ?? false
        request.resultsLimit = try limit("resultsLimit")
        request.continuationMarker = try string("continuationMarker")
        request.desiredKeys = try strings("desiredKeys")
        request.numbersAsStrings = try numbersAsStrings()
        return request
    }

    func recordQuery() throws -> RecordQuery {
        try allow(["recordType", "filterBy", "sortBy"])
        return RecordQuery(
            recordType: try required("recordType", string),
            filters: try oneOrMore("filterBy") { try $0.recordFilter() },
            sorts: try oneOrMore("sortBy") { try $0.recordSort() })
    }

    /// A list, or one object alone, as CloudKit JS takes both.
    private func oneOrMore<Value>(
        _ key: WireKey, _ read: (WireObject) throws -> Value
    ) throws -> [Value] {
        guard has(key) else { return [] }
        if let one = find(key), one.kind == .object { return [try read(child(one))] }
        return try objects(key, read) ?? []
    }

    private func recordFilter() throws -> RecordFilter {
        try allow(["comparator", "fieldName", "systemFieldName", "fieldValue", "distance"])
        let name = try required("comparator", string)
        guard let comparator = RecordFilter.Comparator(named: name) else {
            let known = RecordFilter.Comparator.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal("comparator", "is \(name); known are \(known)")
        }
        let takesAnyText = comparator == .containsAllTokens || comparator == .containsAnyTokens
        let value = try required("fieldValue") { key in
            try object(key).flatMap { try FieldReading($0).read() }
        }
        return RecordFilter(
            try queriedField(takesAnyText: takesAnyText), comparator, value,
            distance: try double("distance"))
    }

    private func recordSort() throws -> RecordSort {
        try allow(["fieldName", "systemFieldName", "ascending", "relativeLocation"])
        return RecordSort(
            try queriedField(takesAnyText: false), ascending: try bool("ascending") ?? true,
            relativeLocation: try object("relativeLocation")?.place())
    }

    /// A location alone, or as the value of a field.
    private func place() throws -> RecordLocation {
        guard has("value") else { return try FieldReading(self).location(self) }
        guard case .location(let place)? = try FieldReading(self).read() else {
            throw refusal("value", "is no location")
        }
        return place
    }

    private func queriedField(takesAnyText: Bool) throws -> QueriedField {
        let name = try string("fieldName")
        let system = try string("systemFieldName")
        if let name, system == nil, !name.hasPrefix("___") { return .field(name) }
        guard name == nil || system == nil else {
            throw refusal("systemFieldName", "stands beside fieldName; send one of them")
        }
        guard let system = system ?? name else {
            if takesAnyText { return .anyText }
            throw refusal("fieldName", "is missing")
        }
        guard let field = SystemField(named: system) else {
            let known = SystemField.allCases.map(\.rawValue).joined(separator: ", ")
            throw refusal(
                name == nil ? "systemFieldName" : "fieldName", "is \(system); known are \(known)")
        }
        return .system(field)
    }
}
