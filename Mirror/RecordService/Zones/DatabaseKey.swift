internal import RecordWire

/// Names one database: of one user, what others share with one user, or a container's public one.
struct DatabaseKey: Hashable {
    let container: String
    let environment: String
    let scope: String
    let owner: String

    static let development = "development"
    private static let environments = [development, "production"]
    private static let privateScope = "private"
    private static let publicScope = "public"
    private static let sharedScope = "shared"

    /// Throws NOT_FOUND for what this service does not keep. Asking who one is works in every
    /// database.
    init(
        _ target: RecordTarget, caller: Caller, request: RecordRequest
    ) throws(RecordError) {
        guard Self.environments.contains(target.environment) else {
            throw RecordError(
                .notFound,
                "There is no environment \(target.environment); use development or production.")
        }
        let kept = [Self.privateScope, Self.publicScope, Self.sharedScope]
        guard kept.contains(target.database) || request == .caller else {
            throw RecordError(
                .notFound,
                "This service keeps no \(target.database) database; use "
                    + "\(kept.joined(separator: " or ")).")
        }
        container = target.container
        environment = target.environment
        scope = target.database
        owner = target.database == Self.publicScope ? "" : caller.userRecordName
    }

    /// Throws BAD_REQUEST for another environment than there are.
    static func check(environment: String) throws(RecordError) {
        guard environments.contains(where: { $0.isExactly(environment) }) else {
            throw RecordError(
                .badRequest, "The environment is \(environments.joined(separator: " or ")).")
        }
    }

    /// A database in which records are: a user's own, or the public one, which is nobody's.
    init(_ container: String, _ environment: String, owner: String) {
        self.container = container
        self.environment = environment
        self.owner = owner
        scope = owner.isEmpty ? Self.publicScope : Self.privateScope
    }

    private init(_ courier: CourierRow, scope: String) {
        container = courier.container
        environment = courier.environment
        self.scope = scope
        owner = scope == Self.publicScope ? "" : courier.user
    }

    /// The databases of which who waits at the courier hears.
    static func all(of courier: CourierRow) -> [DatabaseKey] {
        [privateScope, publicScope, sharedScope].map { DatabaseKey(courier, scope: $0) }
    }

    var isPublic: Bool { scope == Self.publicScope }
    var isShared: Bool { scope == Self.sharedScope }

    /// A user's own database.
    static func ofUser(_ user: String, container: String, environment: String) -> DatabaseKey {
        DatabaseKey(
            container: container, environment: environment, scope: privateScope, owner: user)
    }

    /// What others of the same container and environment share with a user.
    func shared(with user: String) -> DatabaseKey {
        DatabaseKey(
            container: container, environment: environment, scope: Self.sharedScope, owner: user)
    }

    /// Whether the zone tells what changed in it: zones of users' own do, and the one zone of a
    /// public database.
    func hasFeed(_ zone: ZoneID) -> Bool { isPublic || !zone.isDefault }
}

extension DatabaseKey {
    /// A database that was named before.
    init(container: String, environment: String, scope: String, owner: String) {
        self.container = container
        self.environment = environment
        self.scope = scope
        self.owner = owner
    }
}

extension ZoneID {
    /// How clients name the caller as owner.
    static let ownerAliases: Set<String> = ["__defaultOwner__", "_defaultOwner"]

    var isDefault: Bool { zoneName == ZoneID.defaultName }

    /// The zone with the caller's ownership spelled as nil. `owner` is empty for a public database.
    /// Throws ZONE_NOT_FOUND for another owner's.
    func owned(by owner: String) throws(RecordError) -> ZoneID {
        // A public database is nobody's: whatever owner is named, its zone is meant.
        guard let named = ownerRecordName, named != owner, !owner.isEmpty,
            !Self.ownerAliases.contains(named)
        else {
            return ZoneID(zoneName: zoneName)
        }
        throw RecordError(
            .zoneNotFound,
            "The zone belongs to \(named); zones of others are in the shared database.",
            zoneID: self)
    }

    func notFound(wasDeleted: Bool) -> RecordError {
        let what = wasDeleted ? "was deleted" : "does not exist"
        return RecordError(
            .zoneNotFound, "The zone \(zoneName) \(what); create it with zones/modify.",
            zoneID: self)
    }
}

extension BackendTransaction {
    /// The live zone, or ZONE_NOT_FOUND. Needs the database to exist for the default zone to have a
    /// row.
    func liveZone(_ zone: ZoneID, in database: DatabaseRow) throws -> ZoneRow {
        guard let row = try self.zone(named: zone.zoneName, in: database.id) else {
            throw zone.notFound(wasDeleted: false)
        }
        guard !row.isDeleted else { throw zone.notFound(wasDeleted: true) }
        return row
    }

    /// `incarnation` is for a database that is made now.
    func databaseForWriting(_ key: DatabaseKey, incarnation: UInt64) throws -> DatabaseRow {
        try database(key) ?? makeDatabase(key, incarnation: incarnation)
    }
}
