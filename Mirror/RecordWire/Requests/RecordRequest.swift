/// One call of the service, apart from how it travels. (SERVICE §3)
public enum RecordRequest: Hashable, Sendable {
    case modifyRecords(ModifyRecords)
    case lookupRecords(LookupRecords)
    case queryRecords(QueryRecords)
    case zoneChanges(ZoneChanges)
    /// The deprecated form of `zoneChanges` for one zone.
    case recordChanges(RecordChanges)
    case databaseChanges(DatabaseChanges)
    case modifyZones([ZoneOperation])
    case listZones
    case lookupZones([ZoneID])
    case modifySubscriptions([SubscriptionOperation])
    case lookupSubscriptions([String])
    case listSubscriptions
    /// A token for the courier, who brings notices to who waits.
    case createToken(CourierToken)
    case registerToken(CourierToken)
    case caller
    /// The deprecated form of `caller`.
    case currentUser
    case lookupUsers(UserLookup)
    /// What short GUIDs lead to.
    case resolveShares(ShareLookup)
    /// Takes part in the shares that short GUIDs lead to.
    case acceptShares(ShareLookup)
    case uploadAssets(UploadAssets)
    case rereferenceAssets(RereferenceAssets)
}

extension RecordRequest {
    /// Whether the answer spells 64-bit integers as JSON strings.
    public var numbersAsStrings: Bool {
        switch self {
        case .modifyRecords(let request): request.numbersAsStrings
        case .lookupRecords(let request): request.numbersAsStrings
        case .queryRecords(let request): request.numbersAsStrings
        case .zoneChanges(let request): request.numbersAsStrings
        case .recordChanges(let request): request.numbersAsStrings
        case .databaseChanges, .modifyZones, .listZones, .lookupZones, .modifySubscriptions,
            .lookupSubscriptions, .listSubscriptions, .createToken, .registerToken, .caller,
            .currentUser, .lookupUsers, .resolveShares, .acceptShares, .uploadAssets,
            .rereferenceAssets:
            false
        }
    }
}

extension RecordRequest {
    /// How long its answer may be held back; 0: not at all.
    public var waitSeconds: Int {
        guard case .zoneChanges(let request) = self else { return 0 }
        return request.waitSeconds ?? 0
    }
}

extension RecordResponse {
    /// Whether it tells anything that who waits for changes wants to know: a change, or a refusal.
    public var isNews: Bool {
        guard case .zoneChanges(let zones) = self else { return true }
        return zones.contains {
            !$0.records.isEmpty || !$0.damagedRecords.isEmpty || $0.moreComing || $0.failure != nil
        }
    }
}

/// The matching answers. A request that fails as a whole is a thrown `RecordError` instead.
public enum RecordResponse: Hashable, Sendable {
    case records(RecordsReply)
    case zoneChanges([ZoneChangesReply])
    case recordChanges(ZoneChangesReply)
    case databaseChanges(DatabaseChangesReply)
    case zones([ZoneResult])
    case subscriptions([SubscriptionResult])
    case courierToken(CourierToken)
    /// An empty object.
    case nothing
    case caller(CallerReply)
    case users(UsersReply)
    /// One entry for each short GUID, in order.
    case shares([ShareResult])
    /// One entry for each token, in order.
    case assetUploads([AssetUploadAddress])
    /// One entry for each place, in order.
    case assets([AssetResult])
}

/// Where a request goes: `/database/1/{container}/{environment}/{database}/…`, and from which
/// device.
public struct RecordTarget: Hashable, Sendable {
    public var container: String
    public var environment: String
    public var database: String
    /// Names the device in the `modified` stamps of what it writes.
    public var deviceID: String?
    /// The service's own address, such as `https://records.example.org:8443`, with which addresses
    /// of assets begin; nil where they begin with their path.
    public var serviceAddress: String?
    /// What the client says of itself; nil: it needs all fields.
    public var clientVersion: ClientVersion?

    public init(
        container: String, environment: String = "development", database: String = "private",
        deviceID: String? = nil
    ) {
        self.container = container
        self.environment = environment
        self.database = database
        self.deviceID = deviceID
    }
}

/// `records/modify`
public struct ModifyRecords: Hashable, Sendable {
    public var operations: [RecordOperation]
    public var zoneID: ZoneID?
    /// All or none.
    public var atomic: Bool
    public var desiredKeys: [String]?
    public var numbersAsStrings = false
    /// Who asks (our extension); the service then refuses what a lost time would spoil.
    public var client: ClientState?

    public init(operations: [RecordOperation], zoneID: ZoneID?, atomic: Bool = false) {
        self.operations = operations
        self.zoneID = zoneID
        self.atomic = atomic
    }
}

public struct RecordOperation: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case create, update, forceUpdate, replace, forceReplace, delete, forceDelete
    }
    public var kind: Kind
    public var record: Record
    /// The fields that the answer shows of this record; nil: those that the request names.
    public var desiredKeys: [String]?

    public init(_ kind: Kind, _ record: Record) {
        self.kind = kind
        self.record = record
    }
}

/// `records/lookup`
public struct LookupRecords: Hashable, Sendable {
    public var recordNames: [String]
    public var zoneID: ZoneID?
    public var desiredKeys: [String]?
    /// Keys asked for one record apart, by record name; the others take `desiredKeys`.
    public var desiredKeysByName: [ExactName: [String]] = [:]
    public var numbersAsStrings = false
    /// Who asks (our extension).
    public var client: ClientState?

    public init(recordNames: [String], zoneID: ZoneID?) {
        self.recordNames = recordNames
        self.zoneID = zoneID
    }
}

/// Answers `records/modify` and `records/lookup`, one entry per operation, in order; and
/// `records/query`, one entry per record of the page.
public struct RecordsReply: Hashable, Sendable {
    public var results: [RecordResult]
    /// The zone's token after this request.
    public var syncToken: String?
    /// The zone's token before this request (our extension). A client whose own token equals it has
    /// seen all that others wrote, and may go on from `syncToken` without reading its own writes
    /// back.
    public var previousSyncToken: String?
    /// The zone's epochs (our extension), where the client has not seen the newest.
    public var epochs: EpochLine?
    /// Where the next page of a query begins; nil at its end.
    public var continuationMarker: String?
    /// Names of records that a query met and cannot read (our extension).
    public var damagedRecords: [String] = []

    public init(
        results: [RecordResult], syncToken: String? = nil, previousSyncToken: String? = nil
    ) {
        self.results = results
        self.syncToken = syncToken
        self.previousSyncToken = previousSyncToken
    }
}

/// A record, or why there is none.
public enum RecordResult: Hashable, Sendable {
    case record(Record)
    case failure(RecordError)
}

/// `changes/zone`
public struct ZoneChanges: Hashable, Sendable {
    public struct Zone: Hashable, Sendable {
        public var zoneID: ZoneID
        /// Where the last call ended; nil for the whole zone.
        public var syncToken: String?
        /// nil: the service's own maximum.
        public var resultsLimit: Int?
        public var desiredKeys: [String]?
        public var desiredRecordTypes: [String]?
        /// Whether the newest change is to come first.
        public var isReversed: Bool?
        /// Who asks (our extension).
        public var client: ClientState?

        public init(zoneID: ZoneID, syncToken: String?, resultsLimit: Int? = nil) {
            self.zoneID = zoneID
            self.syncToken = syncToken
            self.resultsLimit = resultsLimit
        }
    }
    public var zones: [Zone]
    public var numbersAsStrings = false
    /// How many seconds the service may hold the answer back while nothing has changed (our
    /// extension); nil: it answers at once.
    public var waitSeconds: Int?

    public init(zones: [Zone]) { self.zones = zones }
}

/// `records/changes`, which `changes/zone` took the place of.
public struct RecordChanges: Hashable, Sendable {
    public var zone: ZoneChanges.Zone
    public var numbersAsStrings = false

    public init(zone: ZoneChanges.Zone) { self.zone = zone }
}

/// One zone's page of changes, oldest first; a deletion is a record with `deleted` and no fields.
public struct ZoneChangesReply: Hashable, Sendable {
    public var zoneID: ZoneID
    public var records: [Record] = []
    public var syncToken: String?
    public var moreComing = false
    /// The zone's epochs (our extension), where the client has not seen the newest.
    public var epochs: EpochLine?
    /// Whether the records tell their last writes (our extension).
    public var echoesWriteIDs = false
    /// Names of records of this page that the service cannot read (our extension); the page goes on
    /// without them.
    public var damagedRecords: [String] = []
    public var failure: RecordError?

    public init(zoneID: ZoneID) { self.zoneID = zoneID }
}

/// `changes/database`, and the deprecated `zones/changes`.
public struct DatabaseChanges: Hashable, Sendable {
    public var syncToken: String?
    public var resultsLimit: Int?
    /// Whether it is `zones/changes`, which calls its token `metaSyncToken`.
    public var isMeta = false

    public init(syncToken: String?, resultsLimit: Int? = nil) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
    }
}

public struct DatabaseChangesReply: Hashable, Sendable {
    public struct Zone: Hashable, Sendable {
        public var zoneID: ZoneID
        public var deleted: Bool
        public init(zoneID: ZoneID, deleted: Bool) {
            self.zoneID = zoneID
            self.deleted = deleted
        }
    }
    public var zones: [Zone]
    public var syncToken: String
    public var moreComing: Bool
    /// Whether it answers `zones/changes`.
    public var isMeta = false

    public init(zones: [Zone], syncToken: String, moreComing: Bool) {
        self.zones = zones
        self.syncToken = syncToken
        self.moreComing = moreComing
    }
}

/// One operation of `zones/modify`.
public struct ZoneOperation: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, Codable { case create, delete }
    public var kind: Kind
    public var zoneID: ZoneID

    public init(_ kind: Kind, _ zoneID: ZoneID) {
        self.kind = kind
        self.zoneID = zoneID
    }
}

/// An entry of `zones/list`, `zones/lookup` and `zones/modify`.
public enum ZoneResult: Hashable, Sendable {
    case zone(ZoneDescription)
    case failure(RecordError)
}

public struct ZoneDescription: Hashable, Sendable {
    public var zoneID: ZoneID
    public var syncToken: String?
    public var atomic: Bool
    public var deleted: Bool

    public init(zoneID: ZoneID, syncToken: String?, atomic: Bool = true, deleted: Bool = false) {
        self.zoneID = zoneID
        self.syncToken = syncToken
        self.atomic = atomic
        self.deleted = deleted
    }
}

/// `users/caller`
public struct CallerReply: Hashable, Sendable, Codable {
    public var userRecordName: String
    /// Where the service knows them.
    public var nameComponents: NameParts?
    public var lookupInfo: UserLookupInfo?
    /// Names the service that knows the user, among all others; nil for one that does not say. A
    /// service that lost its users and was made anew has another.
    public var serviceID: String?
    /// Whether it answers `users/current`.
    public var isFormer = false

    public init(userRecordName: String) { self.userRecordName = userRecordName }

    var identity: UserIdentity {
        UserIdentity(
            userRecordName: userRecordName, nameComponents: nameComponents, lookupInfo: lookupInfo)
    }
}
