/// A share, and where it is.
struct ShareRow: Hashable {
    let zone: Int64
    /// Of the share's record.
    let name: String
    let shortGUID: String
    let database: DatabaseKey
    let zoneName: String
    /// The record that is shared with all below it; nil for the whole zone.
    let root: String?
}

/// A record that is in a share, or left it.
struct ShareMember: Hashable {
    let share: String
    let record: String
    /// Where this stands in the zone's order of changes.
    let change: Int64
    let isGone: Bool
    /// Milliseconds since 1970.
    let time: Int64
}

/// Somebody who accepted a share.
struct ShareGrant: Hashable {
    let share: String
    let user: String
    let writes: Bool
}

/// Rows of shares, inside one transaction. A record is in one share at most.
protocol ShareTransaction: AnyObject {
    func hasShares(in zone: Int64) throws -> Bool
    func countShares(in zone: Int64) throws -> Int
    func share(named name: String, in zone: Int64) throws -> ShareRow?
    func share(shortGUID: String, container: String, environment: String) throws -> ShareRow?
    /// The share of this short GUID, at the place of its container.
    func share(shortGUID: String) throws -> ShareRow?
    /// The container in which a share of this short GUID is, if it still is.
    func container(ofShortGUID guid: String) throws -> String?
    /// Adds it or replaces the one of its name.
    func save(_ share: ShareRow) throws
    /// Forgets the share, its members and its grants.
    func removeShare(named name: String, in zone: Int64) throws
    /// Forgets all shares of a zone.
    func removeShares(in zone: Int64) throws

    /// The share that the record is in.
    func share(ofRecord name: String, in zone: Int64) throws -> String?
    /// The record's place in a share, also where it left it.
    func member(_ name: String, of share: String, in zone: Int64) throws -> ShareMember?
    /// Adds them or replaces those of the same shares and names.
    func save(_ members: [ShareMember], in zone: Int64) throws
    /// What happened to the members of these shares, as far as may be looked at.
    func members(of shares: [String], _ reading: FeedReading) throws -> [ShareMember]
    /// Names of those that are in the shares.
    func liveMembers(of shares: [String], in zone: Int64, limit: Int) throws -> [String]
    func countMembers(of share: String, in zone: Int64) throws -> Int
    /// Forgets the `limit` oldest departures before `milliseconds`. Returns the highest change
    /// forgotten of each zone.
    func removeDepartures(before milliseconds: Int64, limit: Int) throws -> [Int64: Int64]

    func grants(in zone: Int64) throws -> [ShareGrant]
    func grants(of user: String, in zone: Int64) throws -> [ShareGrant]
    /// These grants of a share, and no others.
    func setGrants(_ grants: [ShareGrant], of share: String, in zone: Int64) throws
}
