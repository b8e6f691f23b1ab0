internal import RecordWire

/// Who may do what in the public databases of a service with records of types that no role has a
/// grant for (`ServiceAccounts.setGrant`). Who made a record may always change and delete it;
/// nobody else may bring its name back when it is deleted.
public struct PublicAccess: Hashable, Sendable, Codable {
    /// Whether who shows an app's token alone may read; without it no grant lets the world in.
    public var worldReads = true
    /// Whether users may make records.
    public var usersCreate = true
    /// Whether users may change and delete the records of others.
    public var usersWrite = false

    public init() {}
}

extension PublicAccess {
    /// Refuses requests of those who are not signed in, but for reading. Throws
    /// AUTHENTICATION_REQUIRED.
    func check(_ request: RecordRequest, of caller: Caller, _ key: DatabaseKey) throws(RecordError)
    {
        guard caller.isWorld else { return }
        guard key.isPublic, worldReads, request.isReading else {
            throw RecordError(
                .authenticationRequired,
                "Who is not signed in may \(worldReads ? "only read" : "not read") public "
                    + "databases; send the user's token as ckWebAuthToken.")
        }
    }
}

extension RecordRequest {
    /// Whether it changes nothing and asks nothing about who calls.
    var isReading: Bool {
        switch self {
        case .lookupRecords, .queryRecords, .zoneChanges, .recordChanges, .databaseChanges,
            .listZones, .lookupZones:
            true
        case .modifyRecords, .modifyZones, .modifySubscriptions, .lookupSubscriptions,
            .listSubscriptions, .createToken, .registerToken, .caller, .currentUser, .lookupUsers,
            .resolveShares, .acceptShares, .uploadAssets, .rereferenceAssets:
            false
        }
    }
}
