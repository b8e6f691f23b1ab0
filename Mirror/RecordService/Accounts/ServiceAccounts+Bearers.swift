internal import Foundation
public import RecordWire

/// By what somebody was let in, and with what a session ends.
public enum SignInProof: Hashable, Sendable {
    /// A token of this name.
    case token(String)
    /// The password as it was set at this time, in milliseconds since 1970.
    case password(changedAt: Int64)
    /// What a provider calls the user.
    case identity(issuer: String, subject: String)
}

/// Who a token or a password stands for, whatever container it is shown to.
public struct TokenBearer: Hashable, Sendable {
    /// nil for an administrator.
    public var userRecordName: String?
    public var proof: SignInProof
    /// What the token or the user is called.
    public var label: String

    public var isAdministrator: Bool { userRecordName == nil }

    /// nil for who showed no token.
    public var tokenID: String? {
        if case .token(let id) = proof { id } else { nil }
    }
}

extension ServiceAccounts {
    /// Makes a token for whoever administers the service in its console, which ends after so many
    /// days; nil: never. It lets nobody into a database.
    public func issueAdministratorToken(
        label: String, days: Int? = nil
    ) throws(RecordError) -> IssuedToken {
        try issue(
            TokenDescription(
                id: "", kind: .administrator, label: label, createdAt: platform.milliseconds),
            try life(days: days))
    }

    /// Notes what an administrator did by a request in the name of a user; nothing of one that only
    /// reads. `operation` is how the request is called.
    package func noteAct(
        _ request: RecordRequest, _ operation: String, in target: RecordTarget, of owner: String,
        by administrator: String
    ) throws(RecordError) {
        guard let act = request.actOfAdministrator else { return }
        try audit?.note(
            act, owner,
            [
                "container": target.container, "environment": target.environment,
                "database": target.database, "operation": operation, "token": administrator,
            ])
    }

    /// A word of random consonants: easily typed, and none that anybody minds.
    package func drawnLetters(_ count: Int) throws(RecordError) -> String {
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        // Bytes beyond the last whole round of letters would make some letters likelier.
        let limit = UInt8(256 / letters.count * letters.count)
        var word = ""
        while word.count < count {
            for byte in try drawnBytes(16) where byte < limit && word.count < count {
                word.append(letters[Int(byte) % letters.count])
            }
        }
        return word
    }

    /// Throws AUTHENTICATION_FAILED where what let the bearer in was revoked or changed.
    package func requireGood(_ bearer: TokenBearer) throws(RecordError) {
        switch bearer.proof {
        case .token(let id): try requireGood(tokenID: id)
        case .password(let changedAt):
            let user = bearer.userRecordName ?? ""
            guard try backend.read({ try $0.password(of: user) })?.changedAt == changedAt else {
                throw RecordError(.authenticationFailed, "The password was changed; sign in.")
            }
        case .identity(let issuer, let subject):
            let user = try backend.read { try $0.identity(issuer: issuer, subject: subject) }
            guard let user, user == bearer.userRecordName else {
                throw RecordError(
                    .authenticationFailed, "The provider lets you in here no more; sign in.")
            }
        }
    }

    /// Names who shows a user's or an administrator's token. Throws AUTHENTICATION_REQUIRED for one
    /// that has ended, AUTHENTICATION_FAILED for any other, in the same words whatever is wrong.
    public func bearer(of token: String) throws(RecordError) -> TokenBearer {
        try shownBearer(of: token).0
    }

    /// The same, and when a user's token ends and what to show in its place; nil for one without an
    /// end, and for an administrator's, which is not renewed.
    package func bearerAndOutlook(
        of token: String
    ) throws(RecordError) -> (TokenBearer, TokenOutlook?) {
        let (bearer, shown) = try shownBearer(of: token)
        guard !bearer.isAdministrator else { return (bearer, nil) }
        return (bearer, outlook(of: shown, TokenRotation.issued(token)))
    }

    private func shownBearer(of token: String) throws(RecordError) -> (TokenBearer, Shown) {
        for kind in [TokenDescription.Kind.administrator, .user] {
            let shown: Shown
            do throws(RecordError) {
                shown = try self.shown(TokenRotation.issued(token), kind)
            } catch  where error.code == .authenticationRequired {
                throw error
            } catch {
                continue
            }
            let found = shown.row.description
            guard kind == .administrator || found.userRecordName != nil else { continue }
            let bearer = TokenBearer(
                userRecordName: kind == .user ? found.userRecordName : nil,
                proof: .token(found.id), label: found.label)
            return (bearer, shown)
        }
        throw RecordError(
            .authenticationFailed,
            "The token is neither a user's nor an administrator's, or it was revoked.")
    }
}

extension RecordRequest {
    /// What the audit log calls it where an administrator asks; nil for what changes nothing.
    fileprivate var actOfAdministrator: AuditEntry.Act? {
        switch self {
        case .modifyRecords, .modifyZones: .recordsChanged
        case .modifySubscriptions, .createToken, .registerToken, .acceptShares, .uploadAssets,
            .rereferenceAssets:
            .actedForUser
        case .lookupRecords, .queryRecords, .zoneChanges, .recordChanges, .databaseChanges,
            .listZones, .lookupZones, .lookupSubscriptions, .listSubscriptions, .caller,
            .currentUser, .lookupUsers, .resolveShares:
            nil
        }
    }
}
