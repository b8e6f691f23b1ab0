internal import Foundation
public import Platform
public import RecordWire

/// Keeps zones of records for the users of containers, and tells each device what changed.
///
/// It answers requests as CloudKit Web Services describes them, apart from how they travel. Calls
/// come from any thread and return when the answer is final; each writing request is one
/// transaction, whole or not at all. Several services, also in several processes, may share one
/// file or one PostgreSQL database.
public final class RecordService: Sendable {
    /// What this service takes; publish it to clients.
    public let limits: ServiceLimits
    /// How it answers.
    public let dialect: ServiceDialect
    /// Containers, users and their tokens.
    public let accounts: ServiceAccounts

    let backend: any Backend
    let platform: Environment
    private let damage: DamageReport
    let assets: AssetStore
    private let publicAccess: PublicAccess
    let courier: CourierDesk
    private let listeners = ChangeListeners()
    private let schemas = SchemaMemory()
    let counters = ServiceCounters()
    private static let guidLength = 24

    /// Opens the database at `path`, making it when absent; ":memory:" for one that ends with this
    /// object. Throws INTERNAL_ERROR when the file is not a service's or cannot be opened. `log`
    /// hears what its administrator should know and clients should not. In the plain dialect it
    /// answers without extensions, and takes no more at once than CloudKit Web Services does.
    /// Contents of assets are in a folder beside the file, or in `objects`. What is done by
    /// `accounts` is noted in `audit`.
    public convenience init(
        path: String = ":memory:", platform: Environment, limits: ServiceLimits = ServiceLimits(),
        dialect: ServiceDialect = .extended, secrets: any SecretSource = OpenSSLSecrets(),
        publicAccess: PublicAccess = PublicAccess(), objects: ObjectPlace? = nil,
        audit: AuditLog? = nil, log: @escaping ServiceLog = { _ in }
    ) throws(RecordError) {
        self.init(
            backend: try SQLiteBackend(
                path: path, platform: platform,
                lockWaitMilliseconds: limits.work.lockWaitMilliseconds, log: log),
            place: path,
            files: objects.map { $0.files(platform, log) }
                ?? AssetFiles(besides: path, platform: platform, log: log),
            objects: objects, platform: platform, limits: limits, dialect: dialect,
            secrets: secrets, publicAccess: publicAccess, audit: audit, log: log)
    }

    /// Works with a PostgreSQL database, making or updating its tables; any number of services may
    /// share it. The rest is as with a file. Throws TRY_AGAIN_LATER where no server of the
    /// database's answers, INTERNAL_ERROR where it holds another program's tables, or those of a
    /// newer version.
    public convenience init(
        database: PostgresDatabase, platform: Environment, limits: ServiceLimits = ServiceLimits(),
        dialect: ServiceDialect = .extended, secrets: any SecretSource = OpenSSLSecrets(),
        publicAccess: PublicAccess = PublicAccess(), objects: ObjectPlace? = nil,
        audit: AuditLog? = nil, log: @escaping ServiceLog = { _ in }
    ) throws(RecordError) {
        self.init(
            backend: try PostgresBackend(
                database, platform: platform,
                lockWaitMilliseconds: limits.work.lockWaitMilliseconds, log: log),
            place: database.description,
            files: objects.map { $0.files(platform, log) }
                ?? AssetFiles(in: database.assetsFolder, platform: platform, log: log),
            objects: objects, platform: platform, limits: limits, dialect: dialect,
            secrets: secrets, publicAccess: publicAccess, audit: audit, log: log)
    }

    private init(
        backend: any Backend, place: String, files: AssetFiles, objects: ObjectPlace?,
        platform: Environment, limits: ServiceLimits, dialect: ServiceDialect,
        secrets: any SecretSource,
        publicAccess: PublicAccess, audit: AuditLog?, log: @escaping ServiceLog
    ) {
        self.backend = backend
        damage = DamageReport(path: place, log: log)
        self.platform = platform
        self.publicAccess = publicAccess
        self.dialect = dialect
        self.limits = limits.bounded(by: dialect)
        courier = CourierDesk(queuesPerUserMax: limits.work.courierTokensMax)
        accounts = ServiceAccounts(
            backend: backend, platform: platform, secrets: secrets, audit: audit)
        assets = AssetStore(
            files: files, bucket: objects.map { $0.bucket(files, log) }, limits: limits.assets,
            dialect: dialect, accounts: accounts, secrets: secrets)
        backend.listen { [weak self] in self?.hear($0) }
        accounts.bell.listen { [weak self] in self?.hear(.access) }
    }

    /// Answers `request` of `caller` in the database that `target` names.
    ///
    /// Failures of one record or zone are entries of the answer. Throws what fails the request as a
    /// whole: NOT_FOUND (container, environment, database), ZONE_NOT_FOUND, BAD_REQUEST,
    /// LIMIT_EXCEEDED, TRY_AGAIN_LATER and INTERNAL_ERROR, after which nothing was written.
    public func handle(
        _ request: RecordRequest, target: RecordTarget, caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try handle(request, target: target, caller: caller, makesIndexes: true)
    }

    /// The same; where not `makesIndexes`, a query that needs an index that is not there throws
    /// `wantsToWrite` and makes none.
    package func handle(
        _ request: RecordRequest, target: RecordTarget, caller: Caller, makesIndexes: Bool
    ) throws(RecordError) -> RecordResponse {
        guard dialect == .plain else {
            return try counted(request, target, caller, makesIndexes)
        }
        if let key = request.extensionsUsed.first {
            throw RecordError(
                .badRequest, "\(key) is nothing that this service knows; leave it out.")
        }
        do {
            return try counted(request, target, caller, makesIndexes).withoutExtensions
        } catch {
            throw error.withoutExtensions
        }
    }

    private func counted(
        _ request: RecordRequest, _ target: RecordTarget, _ caller: Caller, _ makesIndexes: Bool
    ) throws(RecordError) -> RecordResponse {
        let response = try answer(request, target, caller, makesIndexes)
        counters.note(response, to: request)
        return response
    }

    private func answer(
        _ request: RecordRequest, _ target: RecordTarget, _ caller: Caller, _ makesIndexes: Bool
    ) throws(RecordError) -> RecordResponse {
        try accounts.requireContainer(target.container)
        let database = try DatabaseKey(target, caller: caller, request: request)
        try publicAccess.check(request, of: caller, database)
        let retired = try retiredFields(for: target)
        try retired.check(request)
        let answer =
            if case .queryRecords(let query) = request {
                try queryRecords(query, database, caller, makesIndexes: makesIndexes)
            } else {
                try answer(request, database, target, caller, retired)
            }
        // What is shown again meanwhile was told again before it was read here.
        let hidden = retired.isEmpty ? retired : try retiredFields(for: target)
        return try linked(answer.hiding(hidden), database, target, caller)
    }

    /// What the client's version does not see. Cost: nothing where it says none.
    private func retiredFields(for target: RecordTarget) throws(RecordError) -> RetiredFields {
        guard let version = target.clientVersion, dialect == .extended else { return .none }
        return try backend.read(.container(target.container)) {
            try schemas.retiredFields(
                container: target.container, environment: target.environment, for: version, $0)
        }
    }

    private func answer(
        _ request: RecordRequest, _ database: DatabaseKey, _ target: RecordTarget,
        _ caller: Caller, _ retired: RetiredFields
    ) throws(RecordError) -> RecordResponse {
        switch request {
        case .modifyRecords(let modify):
            defer { tell(database) }
            return try modifyRecords(
                modify, database, caller, device: target.deviceID, retired: retired)
        case .lookupRecords(let lookup):
            return try lookupRecords(lookup, database, caller)
        case .queryRecords(let query):
            return try queryRecords(query, database, caller, makesIndexes: true)
        case .zoneChanges(let changes):
            return try zoneChanges(changes, database, caller)
        case .recordChanges(let changes): return try recordChanges(changes, database, caller)
        case .databaseChanges(let changes): return try databaseChanges(changes, database, caller)
        case .modifyZones(let operations):
            defer { tell(database) }
            guard !database.isShared else { return try leaveZones(operations, database, caller) }
            let (answer, users) = try modifyZones(operations, database)
            deliver(operations.map(\.zoneID.zoneName), database)
            tellParticipants(users, of: database)
            return answer
        case .lookupZones(let zones): return try lookupZones(zones, database)
        case .listZones: return try listZones(database)
        case .modifySubscriptions(let operations):
            return try modifySubscriptions(operations, database, caller)
        case .lookupSubscriptions(let ids):
            return try lookupSubscriptions(ids, database, caller)
        case .listSubscriptions: return try listSubscriptions(database, caller)
        case .createToken(let token): return try createToken(token, database, caller)
        // A token of Apple's is taken and of no use here: notices go by the courier.
        case .registerToken: return .nothing
        case .caller: return try tellCaller(caller, isFormer: false)
        case .currentUser: return try tellCaller(caller, isFormer: true)
        case .lookupUsers(let lookup): return try lookUpUsers(lookup, caller)
        case .resolveShares(let lookup): return try resolveShares(lookup, database, target, caller)
        case .acceptShares(let lookup): return try acceptShares(lookup, database, target, caller)
        case .uploadAssets(let upload):
            return try uploadAddresses(upload, database, target, caller)
        case .rereferenceAssets(let places): return try rereferenceAssets(places, database, caller)
        }
    }

    /// Calls `changed` after each request that may have changed the database `request` is about, on
    /// the thread that answered it, until what is returned ends. Throws as `handle` does for a
    /// database that is not there. Cost: next to nothing.
    public func listen(
        for request: RecordRequest, target: RecordTarget, caller: Caller,
        changed: @escaping @Sendable () -> Void
    ) throws(RecordError) -> ChangeListening {
        try accounts.requireContainer(target.container)
        let database = try DatabaseKey(target, caller: caller, request: request)
        try publicAccess.check(request, of: caller, database)
        return listeners.listen(to: database, changed)
    }

    /// Tells all who listen where another process has written to the same file since the last call.
    /// Called once in a while. Cost: nothing where nobody listens, else one look at the file.
    public func noticeOtherWriters() throws(RecordError) {
        guard !listeners.isEmpty || !courier.isEmpty else { return backend.sayWhatIsOwed() }
        if try backend.wasChangedElsewhere() {
            listeners.tellAll()
            courier.callAll()
        }
        if courier.takeMissed() { hear(.anything) }
    }

    /// Tells those who listen here and at other services that something may have been committed.
    private func tell(_ database: DatabaseKey) {
        listeners.tell(database)
        backend.announce(.database(database))
    }

    /// What another service has done.
    private func hear(_ notice: CommitNotice) {
        switch notice {
        case .database(let key): return listeners.tell(key)
        case .access:
            listeners.tellAll()
            return courier.callAll()
        case .anything: listeners.tellAll()
        case .records, .zones, .shared, .fired: break
        }
        guard !courier.isEmpty else { return }
        courier.later { [weak self] in self?.bring(notice) }
    }

    /// What SQLite finds wrong with the file, in its words; empty where it is sound, and for
    /// PostgreSQL, which looks after its pages itself. Cost: reads the whole file, some seconds for
    /// each gigabyte.
    public func damageInFile() throws(RecordError) -> [String] { try backend.damage() }

    /// Removes what is left of deleted zones now, instead of a slice at a time beside other work.
    package func removeDeletedRecords() throws(RecordError) { try backend.removeDoomedRecords() }

    /// Tells who calls. Throws AUTHENTICATION_REQUIRED for a missing token and for one that has
    /// ended, AUTHENTICATION_FAILED for a wrong one, NOT_FOUND for an unknown container.
    /// `admitsWorld`: who shows no user's token is let in as `Caller.world`.
    public func authenticate(
        apiToken: String?, userToken: String?, container: String, admitsWorld: Bool = false
    ) throws(RecordError) -> Caller {
        try admit(
            apiToken: apiToken, userToken: userToken, container: container,
            admitsWorld: admitsWorld
        ).0
    }

    /// The same, and when the user's token ends; nil for one without an end.
    package func admit(
        apiToken: String?, userToken: String?, container: String, admitsWorld: Bool = false
    ) throws(RecordError) -> (Caller, TokenOutlook?) {
        try accounts.authenticate(
            apiToken: apiToken, userToken: userToken, container: container,
            admitsWorld: admitsWorld)
    }

    func modifyRecords(
        _ modify: ModifyRecords, _ database: DatabaseKey, _ caller: Caller, device: String?,
        retired: RetiredFields = .none
    ) throws(RecordError) -> RecordResponse {
        let address = try database.address(of: modify.zoneID)
        let modification = try modification(
            modify, at: address, caller, device: device, retired: retired)
        var broken: Set<ExactName> = []
        var written = RecordModification.Written()
        func perform() throws(RecordError) -> RecordsReply {
            try backend.write(to: address.key) { transaction in
                try modification.perform(
                    transaction, damage: self.damage(in: database), broken: &broken,
                    written: &written)
            }
        }
        defer { tell(written, at: address) }
        do {
            return .records(try perform())
        } catch  where !broken.isEmpty {
            // SQLite commits nothing after it met a broken page: once more, around those records.
            return .records(try perform())
        }
    }

    /// What a request that writes to one zone is to do. `actsForService`: shares are written as
    /// they come, for a participant who may not change them.
    func modification(
        _ modify: ModifyRecords, at address: ZoneAddress, _ caller: Caller, device: String?,
        actsForService: Bool = false, retired: RetiredFields = .none
    ) throws(RecordError) -> RecordModification {
        var rules = rules(for: caller)
        rules.retired = retired
        return try RecordModification(
            modify, at: address,
            stamp: RecordStamp(
                timestamp: platform.milliseconds, userRecordName: caller.userRecordName,
                deviceID: device),
            limits: limits, dialect: dialect, rules: rules,
            draw: .init(
                number: { self.platform.randomness.next() },
                name: { self.platform.randomness.uuid().uuidString },
                secret: { String(try self.accounts.drawnSecret().prefix(Self.guidLength)) }),
            actsForService: actsForService)
    }

    /// Says of a database's damaged records in which file they are.
    func damage(in database: DatabaseKey) -> DamageReport {
        damage.at { [backend] in backend.file(of: database.place) }
    }

    func rules(for caller: Caller) -> AccessRules {
        AccessRules(publicAccess: publicAccess, caller: caller, schemas: schemas)
    }

    /// Wakes those who wait for what was written.
    func tell(_ written: RecordModification.Written, at address: ZoneAddress) {
        if address.participant != nil, !written.rows.isEmpty { tell(address.key) }
        deliver(written.rows, in: ZoneID(zoneName: address.shown.zoneName), address.key)
        tellParticipants(written.users, of: address.key)
    }

    /// Wakes users to whom something in `owner`'s zones is shared.
    func tellParticipants(_ users: Set<String>, of owner: DatabaseKey) {
        for user in users {
            let key = owner.shared(with: user)
            tell(key)
            deliverChange(in: key)
        }
    }
}

extension Environment {
    /// The present moment in milliseconds since 1970.
    var milliseconds: Int64 { Int64((clock.now().timeIntervalSince1970 * 1000).rounded(.down)) }
}
