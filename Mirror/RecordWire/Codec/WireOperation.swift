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
    /// The deprecated form of `users/caller`.
    case currentUser = "users/current"
    case discoverUsers = "users/discover"
    /// The deprecated forms of `users/discover`.
    case usersByEmail = "users/lookup/email"
    case usersByID = "users/lookup/id"
    case contacts = "users/lookup/contacts"
    case resolveShares = "records/resolve"
    case acceptShares = "records/accept"
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
            case .currentUser: .currentUser
            case .lookupUsers(let lookup): Self.operation(of: lookup)
            case .resolveShares: .resolveShares
            case .acceptShares: .acceptShares
            case .uploadAssets: .uploadAssets
            case .rereferenceAssets: .rereferenceAssets
            }
    }

    private static func operation(of lookup: UserLookup) -> WireOperation {
        switch lookup.form {
        case .discover, .addressBook: .discoverUsers
        case .email: .usersByEmail
        case .id: .usersByID
        case .contacts: .contacts
        }
    }

    /// Takes the path with or without slashes around it.
    init(path: String) throws(RecordError) {
        if let operation = WireOperation(rawValue: path) {
            self = operation
            return
        }
        let words = path.split(separator: "/").joined(separator: "/")
        guard let operation = WireOperation(rawValue: words) else { throw Self.refusal(words) }
        self = operation
    }

    /// Whether the request has no body, so that GET carries it.
    var isList: Bool {
        switch self {
        case .listZones, .listSubscriptions, .caller, .currentUser: true
        default: false
        }
    }

    /// Whether GET asks for it, with or without a form of another meaning by POST.
    var takesGet: Bool { isList || self == .discoverUsers }

    private static func refusal(_ path: String) -> RecordError {
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        return RecordError(
            .notFound,
            "This service does not offer \(path). It offers \(known).")
    }
}
