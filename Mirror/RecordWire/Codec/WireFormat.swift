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
        let type = contentType?.split(separator: ";").first ?? ""
        self = Self.isArchived(type) ? .archived : .json
    }

    /// The format in which who sent this `Accept` likes records best: archived ones where it names
    /// them with a weight above nothing.
    public init(acceptedBy header: String?) {
        guard let header, header.utf8.count <= Self.headerBytesMax else {
            self = .json
            return
        }
        for part in header.split(separator: ",") {
            let words = part.split(separator: ";")
            guard let type = words.first, Self.isArchived(type) else { continue }
            let weight = words.dropFirst().map { $0.filter { !$0.isWhitespace }.lowercased() }
                .first { $0.hasPrefix("q=") }
            if weight.map({ Double($0.dropFirst(2)) ?? 0 }) ?? 1 > 0 {
                self = .archived
                return
            }
        }
        self = .json
    }

    private static let headerBytesMax = 1_024

    private static func isArchived(_ type: Substring) -> Bool {
        type.filter { !$0.isWhitespace }.lowercased() == WireFormat.archived.mediaType
    }
}

extension RecordRequest {
    /// The format in which its body can travel where the service takes `wanted`.
    public func format(_ wanted: WireFormat) -> WireFormat {
        if case .modifyRecords = self { wanted } else { .json }
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
