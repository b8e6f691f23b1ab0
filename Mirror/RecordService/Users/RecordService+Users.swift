internal import RecordWire

/// Who calls, and who others are. (SERVICE §3, users)
extension RecordService {
    func tellCaller(_ caller: Caller, isFormer: Bool) throws(RecordError) -> RecordResponse {
        let (profile, service) = try backend.read {
            (try $0.profile(of: caller.userRecordName), try $0.serviceID())
        }
        var reply = CallerReply(userRecordName: caller.userRecordName)
        if dialect == .extended, !isFormer { reply.serviceID = String(service, radix: 36) }
        reply.nameComponents = profile?.nameComponents
        reply.lookupInfo = profile?.identity.lookupInfo
        reply.isFormer = isFormer
        return .caller(reply)
    }

    /// Those who agreed to be found, and the caller. Of others nothing is said, not even that they
    /// are there. The service keeps no address books, so none has anybody in it.
    func lookUpUsers(
        _ lookup: UserLookup, _ caller: Caller
    ) throws(RecordError) -> RecordResponse {
        try limits.checkCount(lookup.infos.count, of: "users")
        let users = try backend.read { transaction in
            try lookup.infos.compactMap { info in
                try transaction.discoverable(info, by: caller.userRecordName)
            }
        }
        return .users(UsersReply(users, form: lookup.form))
    }
}

extension BackendTransaction {
    /// The user who is meant, where others may find him or he asks himself. What was not asked for
    /// is not told: who knows a record name does not learn an address by it.
    func discoverable(_ info: UserLookupInfo, by caller: String? = nil) throws -> UserIdentity? {
        let found =
            if let email = info.emailAddress {
                try profile(emailAddress: email.lowercased())
            } else if let user = info.userRecordName {
                try profile(of: user)
            } else {
                ProfileRow?.none
            }
        guard let found, found.isDiscoverable || found.user == caller else { return nil }
        var identity = found.identity
        identity.lookupInfo = info
        return identity
    }
}
