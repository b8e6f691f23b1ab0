public import RecordWire

/// What one user has, and may have.
public struct UserHolding: Hashable, Sendable {
    public var user: ServiceUser
    /// Records in private databases, in all containers and environments.
    public var records: Int64
    /// Of their fields, as they are stored.
    public var bytes: Int64
    /// What was set for this user; nil in it, or in its place, is what the service's setting says.
    public var quota: UserQuota?
}

/// Limits on what single users may keep.
extension ServiceAccounts {
    /// Lets a user keep other amounts than the service's setting says, from the next write on; nil
    /// goes back to that. What is there already stays. Throws NOT_FOUND for an unknown user,
    /// BAD_REQUEST for a negative number.
    public func setQuota(_ quota: UserQuota?, of userRecordName: String) throws(RecordError) {
        guard try users().contains(where: { $0.userRecordName == userRecordName }) else {
            throw RecordError(.notFound, "There is no user \(userRecordName).")
        }
        let limits = [quota?.recordsMax, quota?.bytesMax].compactMap(\.self)
        guard limits.allSatisfy({ $0 >= 0 }) else {
            throw RecordError(.badRequest, "A quota is no negative number.")
        }
        try backend.write { try $0.setQuota(quota, of: userRecordName) }
        func spelled(_ limit: Int64?) -> String { limit.map { String($0) } ?? "standard" }
        try audit?.note(
            .quotaChanged, userRecordName,
            ["records": spelled(quota?.recordsMax), "bytes": spelled(quota?.bytesMax)])
    }

    /// What each user has and may have, by record name. Cost: looks at each zone.
    public func holdings() throws(RecordError) -> [UserHolding] {
        try backend.read { transaction in
            let quotas = try transaction.quotas()
            return try transaction.users().map { user in
                let use = try transaction.use(ofOwner: user.userRecordName)
                return UserHolding(
                    user: user, records: use.records, bytes: use.bytes,
                    quota: quotas[user.userRecordName])
            }
        }
    }
}
