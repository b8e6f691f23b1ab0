/// The operations of the protocol by their path after the database. (SERVICE §3)
enum WireOperation: String, CaseIterable {
    case modifyRecords = "records/modify"
    case lookupRecords = "records/lookup"
    case queryRecords = "records/query"
    case zoneChanges = "changes/zone"
    case recordChanges = "records/changes"
    case databaseChanges = "changes/database"
    /// The deprecated form of `changes/database`.
    case zonesChanged = "zones/changes"
    case modifyZones = "zones/modify"
    case listZones = "zones/list"
    case lookupZones = "zones/lookup"
    case modifySubscriptions = "subscriptions/modify"
    case listSubscriptions = "subscriptions/list"
    case lookupSubscriptions = "subscriptions/lookup"
    case createToken = "tokens/create"
    case registerToken = "tokens/register"
    case caller = "users/caller"
    case uploadAssets = "assets/upload"
    case rereferenceAssets = "assets/rereference"

    init(_ request: RecordRequest) {
        self =
            switch request {
            case .modifyRecords: .modifyRecords
            case .lookupRecords: .lookupRecords
            case .queryRecords: .queryRecords
            case .zoneChanges: .zoneChanges
            case .recordChanges: .recordChanges
            case .databaseChanges(let changes): changes.isMeta ? .zonesChanged : .databaseChanges
            case .modifyZones: .modifyZones
            case .listZones: .listZones
            case .lookupZones: .lookupZones
            case .modifySubscriptions: .modifySubscriptions
            case .lookupSubscriptions: .lookupSubscriptions
            case .listSubscriptions: .listSubscriptions
            case .createToken: .createToken
            case .registerToken: .registerToken
            case .caller: .caller
            case .uploadAssets: .uploadAssets
            case .rereferenceAssets: .rereferenceAssets
            }
    }

    /// Takes the path with or without slashes around it, and the deprecated `users/current`.
    init(path: String) throws(RecordError) {
        let words = path.split(separator: "/").joined(separator: "/")
        guard
            let operation = WireOperation(
                rawValue: words == Self.formerCaller ? Self.caller.rawValue : words)
        else { throw Self.refusal(words) }
        self = operation
    }

    /// The deprecated path of `caller`.
    static let formerCaller = "users/current"

    /// Whether the request has no body, so that GET carries it.
    var isList: Bool { self == .listZones || self == .listSubscriptions || self == .caller }

    private static func refusal(_ path: String) -> RecordError {
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        return RecordError(
            .notFound,
            "This service does not offer \(path). It offers \(known).")
    }
}
