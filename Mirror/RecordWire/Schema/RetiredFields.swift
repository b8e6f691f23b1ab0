/// Fields that clients of one version do not see any more, by record type. (SERVICE §4)
public struct RetiredFields: Hashable, Sendable {
    private var names: [ExactName: Set<String>] = [:]

    /// For clients that say no version, and are taken for old ones.
    public static let none = RetiredFields()

    public var isEmpty: Bool { names.isEmpty }

    private init() {}

    /// What a schema hides from clients of this version.
    public init(_ schema: RecordSchema, for version: ClientVersion) {
        for type in schema.recordTypes {
            let hidden = type.fields.filter { field in
                field.retiredFrom.map { version >= $0 } ?? false
            }
            if !hidden.isEmpty { names[ExactName(type.name)] = Set(hidden.map(\.name)) }
        }
    }

    public subscript(recordType: String) -> Set<String> { names[ExactName(recordType)] ?? [] }

    /// Throws BAD_REQUEST where a query asks by one.
    public func check(_ request: RecordRequest) throws(RecordError) {
        guard case .queryRecords(let query) = request else { return }
        let fields = query.query.filters.map(\.field) + query.query.sorts.map(\.field)
        for case .field(let name) in fields { try check(name, of: query.query.recordType) }
    }

    /// Throws BAD_REQUEST for a field that is hidden.
    public func check(_ field: String, of recordType: String) throws(RecordError) {
        guard self[recordType].contains(field) else { return }
        throw RecordError.ofSchema(
            "The field \(field) of \(recordType) is retired for clients of this version; leave it "
                + "out, or send the version of an older client.")
    }
}

extension RecordResponse {
    /// The answer without the values of fields that are hidden.
    public func hiding(_ retired: RetiredFields) -> RecordResponse {
        guard !retired.isEmpty else { return self }
        switch self {
        case .records(var reply):
            reply.results = reply.results.map { result in
                switch result {
                case .record(let record): return .record(record.hiding(retired))
                case .failure(var error):
                    error.serverRecord = error.serverRecord?.hiding(retired)
                    return .failure(error)
                }
            }
            return .records(reply)
        case .zoneChanges(var pages):
            for index in pages.indices {
                pages[index].records = pages[index].records.map { $0.hiding(retired) }
            }
            return .zoneChanges(pages)
        case .recordChanges(var page):
            page.records = page.records.map { $0.hiding(retired) }
            return .recordChanges(page)
        case .shares(let results):
            return .shares(
                results.map { result in
                    guard case .share(var found) = result else { return result }
                    found.rootRecord = found.rootRecord?.hiding(retired)
                    return .share(found)
                })
        case .databaseChanges, .zones, .subscriptions, .courierToken, .nothing, .caller, .users,
            .assetUploads, .assets:
            return self
        }
    }
}

extension Record {
    fileprivate func hiding(_ retired: RetiredFields) -> Record {
        let hidden = retired[recordType]
        guard !hidden.isEmpty else { return self }
        var shown = self
        shown.fields = fields.filter { !hidden.contains($0.key) }
        return shown
    }
}
