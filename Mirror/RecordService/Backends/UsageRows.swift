/// What records take.
struct StoredUse: Hashable, Sendable {
    var records: Int64 = 0
    /// Of archived fields.
    var bytes: Int64 = 0

    static func + (one: StoredUse, other: StoredUse) -> StoredUse {
        StoredUse(records: one.records &+ other.records, bytes: one.bytes &+ other.bytes)
    }
}

/// What a container holds in all its environments.
struct ContainerHolding: Hashable, Sendable {
    var container: String
    var use: StoredUse
}

/// What zones hold, counted as they are written, and what users may keep; inside one transaction.
protocol UsageRows: AnyObject {
    /// Adds to what a zone holds; either part may be negative. What a zone held goes with
    /// `emptied`.
    func add(_ use: StoredUse, to zone: Int64) throws
    /// What the owner's databases hold, in all containers and environments.
    func use(ofOwner owner: String) throws -> StoredUse
    /// The containers that hold most, at most `limit`, by bytes. Cost: looks at each zone.
    func largestContainers(limit: Int) throws -> [ContainerHolding]

    /// What was set for one user; nil where the service's own setting counts.
    func quota(of user: String) throws -> UserQuota?
    func quotas() throws -> [String: UserQuota]
    /// nil forgets what was set.
    func setQuota(_ quota: UserQuota?, of user: String) throws
}
