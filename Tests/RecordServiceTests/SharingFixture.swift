import RecordService
import RecordWire
import Testing

/// A zone of Anna's and those to whom it is opened, and short words for what tests ask.
struct SharingFixture {
    let anna: ServiceFixture
    let bert: ServiceFixture
    /// Takes part in nothing.
    let carla: ServiceFixture

    static let shared = ZoneID(zoneName: "notes", ownerRecordName: "_anna")

    init(_ limits: ServiceLimits = ServiceLimits(), dialect: ServiceDialect = .extended) throws {
        anna = try ServiceFixture(limits: limits, dialect: dialect)
        bert = Self.other("_bert", anna)
        carla = Self.other("_carla", anna)
    }

    /// In a container of its own, of a service that is there.
    init(in container: String, of service: ServiceFixture) throws {
        try service.service.accounts.createContainer(container)
        var anna = service
        anna.target.container = container
        try anna.createZone(ServiceFixture.zone)
        self.anna = anna
        bert = Self.other("_bert", anna)
        carla = Self.other("_carla", anna)
    }

    /// The same users in production.
    init(inProduction world: SharingFixture) {
        func moved(_ fixture: ServiceFixture) -> ServiceFixture {
            var moved = fixture
            moved.target.environment = "production"
            return moved
        }
        anna = moved(world.anna)
        bert = moved(world.bert)
        carla = moved(world.carla)
    }

    /// Another user, who asks the shared database.
    static func other(_ name: String, _ fixture: ServiceFixture) -> ServiceFixture {
        var other = fixture
        other.caller = Caller(userRecordName: name)
        other.target.database = "shared"
        return other
    }

    static func share(
        _ name: String, of root: String?, _ participants: [ShareParticipant] = [],
        public permission: ShareParticipant.Permission? = nil
    ) -> Record {
        var share = Record(recordName: name, recordType: Record.shareType)
        share.sharedRoot = root
        share.participants = participants
        share.publicPermission = permission
        share.fields["cloudkit.title"] = .string("Notes")
        return share
    }

    static func participant(
        _ user: String, _ permission: ShareParticipant.Permission = .readWrite
    ) -> ShareParticipant {
        ShareParticipant(
            identity: UserIdentity(lookupInfo: UserLookupInfo(userRecordName: user)),
            permission: permission)
    }

    static func child(_ name: String, of parent: String?, _ title: String = "t") -> Record {
        var record = Record.note(name, title)
        record.parent = parent
        return record
    }

    /// Anna shares the record `root`, with `a` and `b` below it, and keeps `private` to herself.
    @discardableResult
    func shareRoot(
        with participants: [ShareParticipant] = [participant("_bert")],
        public permission: ShareParticipant.Permission? = nil
    ) throws -> Record {
        let results = try anna.modify(
            [
                RecordOperation(.create, .note("root")),
                RecordOperation(.create, Self.child("a", of: "root")),
                RecordOperation(.create, Self.child("b", of: "a")),
                RecordOperation(.create, .note("private")),
                RecordOperation(
                    .create, Self.share("share", of: "root", participants, public: permission)),
            ], atomic: true)
        return try #require(results[4].record)
    }

    /// Anna shares the whole zone, which has the records `a` and `b`.
    @discardableResult
    func shareZone(
        with participants: [ShareParticipant] = [participant("_bert")]
    ) throws -> Record {
        let results = try anna.modify(
            [
                RecordOperation(.create, .note("a")), RecordOperation(.create, .note("b")),
                RecordOperation(
                    .create, Self.share(Record.zoneShareName, of: nil, participants)),
            ], atomic: true)
        return try #require(results[2].record)
    }

    /// Takes part in a share.
    @discardableResult
    func accept(_ share: Record, _ user: ServiceFixture) throws -> ShareResult {
        try user.shares(.acceptShares(ShareLookup([.init(shortGUID: share.shortGUID ?? "")])))[0]
    }

    /// The names that the user's feed of the zone tells, deletions with a minus before them.
    func feed(
        _ user: ServiceFixture, since token: String? = nil, limit: Int? = nil,
        isReversed: Bool = false
    ) throws -> (names: [String], token: String?) {
        var token = token
        var names: [String] = []
        while true {
            var zone = ZoneChanges.Zone(
                zoneID: Self.shared, syncToken: token, resultsLimit: limit)
            zone.isReversed = isReversed
            let page = try user.changes(zone)
            if let failure = page.failure { throw failure }
            names += page.records.map { ($0.deleted ? "-" : "") + $0.recordName }
            token = page.syncToken
            guard page.moreComing else { return (names, token) }
        }
    }

    func see(_ names: [String], _ user: ServiceFixture) throws -> [RecordError.Code?] {
        try user.lookup(names, zone: Self.shared).map { $0.error?.code }
    }

    func write(
        _ kind: RecordOperation.Kind, _ record: Record, _ user: ServiceFixture
    ) throws -> RecordResult {
        try user.modify([RecordOperation(kind, record)], zone: Self.shared)[0]
    }
}

extension ServiceFixture {
    func shares(_ request: RecordRequest) throws -> [ShareResult] {
        guard case .shares(let results) = try send(request) else { throw WrongAnswer() }
        return results
    }
}

extension ShareResult {
    var found: ShareMetadata? { if case .share(let found) = self { found } else { nil } }
    var error: RecordError? { if case .failure(let error) = self { error } else { nil } }
}
