/// What records in a body may hold: as much as in JSON. Counts go down while a body is read.
struct ArchiveBounds {
    /// Whether it is a request, of which more is asked.
    let areStrict: Bool
    private var valuesLeft = WireLimits.valuesMax

    init(areStrict: Bool) { self.areStrict = areStrict }

    /// Throws LIMIT_EXCEEDED for a record with too many fields.
    mutating func checkFields(_ count: Int) throws(RecordError) {
        guard count <= WireLimits.fieldsMax else {
            throw RecordError(
                .limitExceeded,
                "A record of the body has \(count) fields; a record takes \(WireLimits.fieldsMax).")
        }
        try checkValues(count)
    }

    /// Throws BAD_REQUEST for a list that is too long, as for one in JSON.
    mutating func checkElements(_ count: Int) throws(RecordError) {
        guard count <= WireLimits.elementsMax else {
            throw RecordError(
                .badRequest,
                "A list of the body has more than \(WireLimits.elementsMax) elements; send fewer.")
        }
        try checkValues(count)
    }

    /// Throws LIMIT_EXCEEDED where the body has too much of one thing or of all.
    mutating func checkEntries(_ count: Int) throws(RecordError) {
        guard count <= WireLimits.elementsMax else {
            throw RecordError(
                .limitExceeded,
                "The body has \(count) records; at most \(WireLimits.elementsMax) fit in one body.")
        }
        try checkValues(count)
    }

    private mutating func checkValues(_ count: Int) throws(RecordError) {
        valuesLeft -= count
        guard valuesLeft >= 0 else {
            throw RecordError(
                .limitExceeded,
                "The body has more than \(WireLimits.valuesMax) values. Send less at a time.")
        }
    }
}

extension FieldValue {
    /// Whether a field of the type can be encrypted.
    var isEncryptable: Bool {
        switch self {
        case .string, .int64, .double, .timestamp, .bytes, .location, .list: true
        case .reference, .asset, .encrypted: false
        }
    }
}
