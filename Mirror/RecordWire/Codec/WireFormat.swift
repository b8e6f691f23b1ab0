/// How records are spelled in bodies. (SERVICE §11)
public enum WireFormat: Hashable, Sendable, CaseIterable {
    /// What every service and client of the protocol knows.
    case json
    /// Records as ledgers and services keep them, behind the rest of the request or answer in JSON.
    case archived

    /// The name under which a service publishes that it takes and gives archived records.
    public static let publishedName = "archivedRecords"

    /// What `Content-Type` says, without parameters.
    public var mediaType: String {
        switch self {
        case .json: "application/json"
        case .archived: "application/vnd.diptych.records"
        }
    }

    /// The format of a body whose `Content-Type` is given. What says nothing, or anything else, is
    /// read as JSON, as before there were two.
    public init(contentType: String?) {
        let type = contentType?.utf8.split(separator: UInt8(ascii: ";")).first
        let name = type.map { QualityValues.trimmed($0).lowercased() }
        self = name == WireFormat.archived.mediaType ? .archived : .json
    }

    /// The format in which who sent this `Accept` likes records best: archived ones where it names
    /// them with a weight above nothing.
    public init(acceptedBy header: String?) {
        guard let header, header.utf8.count <= Self.headerBytesMax else {
            self = .json
            return
        }
        let isLiked = QualityValues(header).choices.contains { choice in
            choice.quality > 0 && choice.name == WireFormat.archived.mediaType
        }
        self = isLiked ? .archived : .json
    }

    private static let headerBytesMax = 1_024
}

extension RecordRequest {
    /// The format in which its body can travel where the service takes `wanted`: archived
    /// operations are a kind and a record.
    public func format(_ wanted: WireFormat) -> WireFormat {
        guard case .modifyRecords(let modify) = self,
            modify.operations.allSatisfy({ $0.desiredKeys == nil })
        else { return .json }
        return wanted
    }

    /// Whether its answer holds records, which may come archived.
    public var asksForRecords: Bool {
        switch self {
        case .modifyRecords, .lookupRecords, .queryRecords, .zoneChanges, .recordChanges: true
        case .databaseChanges, .modifyZones, .listZones, .lookupZones, .modifySubscriptions,
            .lookupSubscriptions, .listSubscriptions, .createToken, .registerToken, .caller,
            .currentUser, .lookupUsers, .resolveShares, .acceptShares, .uploadAssets,
            .rereferenceAssets:
            false
        }
    }
}

extension RecordResponse {
    /// The format in which it can travel to who takes `wanted`.
    public func format(_ wanted: WireFormat) -> WireFormat {
        switch self {
        case .records, .zoneChanges, .recordChanges: wanted
        case .databaseChanges, .zones, .subscriptions, .courierToken, .nothing, .caller, .users,
            .shares, .assetUploads, .assets:
            .json
        }
    }
}
