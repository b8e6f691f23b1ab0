/// Somebody who takes part in a share. (SERVICE §3, sharing)
public struct ShareParticipant: Hashable, Sendable, Codable {
    public enum Permission: String, Hashable, Sendable, Codable, CaseIterable {
        case unknown = "UNKNOWN"
        case none = "NONE"
        case readOnly = "READ_ONLY"
        case readWrite = "READ_WRITE"
    }
    public enum Status: String, Hashable, Sendable, Codable, CaseIterable {
        case unknown = "UNKNOWN"
        case invited = "INVITED"
        case accepted = "ACCEPTED"
        case removed = "REMOVED"
    }
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case unknown = "UNKNOWN"
        case owner = "OWNER"
        case administrator = "ADMINISTRATOR"
        /// Was invited.
        case user = "USER"
        /// Came by the address of a share that is open to all who know it.
        case publicUser = "PUBLIC_USER"
    }

    /// Empty in a request that leaves it to the service.
    public var participantID: String
    public var identity: UserIdentity
    public var permission: Permission
    public var status: Status
    public var kind: Kind

    public init(
        participantID: String = "", identity: UserIdentity, permission: Permission = .readOnly,
        status: Status = .invited, kind: Kind = .user
    ) {
        self.participantID = participantID
        self.identity = identity
        self.permission = permission
        self.status = status
        self.kind = kind
    }
}

/// `records/resolve` and `records/accept`
public struct ShareLookup: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
        public var shortGUID: String
        public var fetchesRoot: Bool
        public var rootKeys: [String]?

        public init(shortGUID: String, fetchesRoot: Bool = false, rootKeys: [String]? = nil) {
            self.shortGUID = shortGUID
            self.fetchesRoot = fetchesRoot
            self.rootKeys = rootKeys
        }
    }
    public var entries: [Entry]

    public init(_ entries: [Entry]) { self.entries = entries }
}

/// What a short GUID leads to.
public struct ShareMetadata: Hashable, Sendable {
    public var shortGUID: String
    public var container: String
    public var environment: String
    /// Whether the share is in a database of another's.
    public var isShared: Bool
    public var zoneID: ZoneID
    /// nil where a whole zone is shared.
    public var rootRecordName: String?
    /// Where it was asked for.
    public var rootRecord: Record?
    public var share: Record
    public var owner: UserIdentity
    /// Who asks.
    public var participant: ShareParticipant

    public init(
        shortGUID: String, target: RecordTarget, isShared: Bool, zoneID: ZoneID, share: Record,
        owner: UserIdentity, participant: ShareParticipant
    ) {
        self.shortGUID = shortGUID
        container = target.container
        environment = target.environment
        self.isShared = isShared
        self.zoneID = zoneID
        self.share = share
        self.owner = owner
        self.participant = participant
    }
}

/// An entry of an answer about short GUIDs.
public enum ShareResult: Hashable, Sendable {
    case share(ShareMetadata)
    case failure(RecordError)
}
