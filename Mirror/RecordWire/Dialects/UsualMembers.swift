/// What CloudKit Web Services says in each zone ID and each stamp, and clients of it read without
/// asking whether it is there. (SERVICE §10)
public struct UsualMembers: Hashable, Sendable {
    /// The owner of zones of which none is told; nil where that is not known.
    public var ownerRecordName: String?
    /// The device that a browser or another server is there.
    public let deviceID = "2"

    /// To a caller in a database: `public`, `private` or `shared`.
    public init(toldTo userRecordName: String?, database: String) {
        guard database != "shared" else { return }
        ownerRecordName = userRecordName ?? Self.nobody
    }

    /// The owner as who is not signed in calls it; taken back by the service.
    private static let nobody = "_defaultOwner"

    func type(of zone: ZoneID) -> String {
        zone.zoneName.isExactly(ZoneID.defaultName) ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE"
    }
}
