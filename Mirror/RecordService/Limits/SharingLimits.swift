/// How much may be shared, and with how many.
public struct SharingLimits: Hashable, Sendable, Codable {
    /// Participants of one share, with its owner [100].
    public var participantsMax = 100
    /// Users who accepted shares of one zone: each hears of what is written there.
    public var usersPerZoneMax = 1_000
    public var sharesPerZoneMax = 1_000
    /// Shares of one zone that one user may have accepted.
    public var sharesPerUserMax = 100
    /// Records in a share of a record and all below it [5,000].
    public var recordsPerShareMax = 5_000
    /// Records above one another.
    public var depthMax = 100
    /// Short GUIDs of one request.
    public var shortGUIDsMax = 50

    public init() {}
}
