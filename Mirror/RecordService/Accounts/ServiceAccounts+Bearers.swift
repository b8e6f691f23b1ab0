internal import Foundation
public import RecordWire

/// Who a token stands for, whatever container it is shown to.
public struct TokenBearer: Hashable, Sendable {
    /// nil for an administrator.
    public var userRecordName: String?
    public var tokenID: String
    /// What the token is called.
    public var label: String

    public var isAdministrator: Bool { userRecordName == nil }
}

extension ServiceAccounts {
    /// Makes a token for whoever administers the service in its console. It lets nobody into a
    /// database.
    public func issueAdministratorToken(label: String) throws(RecordError) -> IssuedToken {
        try issue(
            TokenDescription(
                id: "", kind: .administrator, label: label, createdAt: platform.milliseconds))
    }

    /// Notes that an administrator changed records or zones of a user's database.
    package func noteChange(
        in target: RecordTarget, of owner: String, by administrator: String
    ) throws(RecordError) {
        try audit?.note(
            .recordsChanged, owner,
            [
                "container": target.container, "environment": target.environment,
                "database": target.database, "token": administrator,
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

    /// Names who shows a user's or an administrator's token. Throws AUTHENTICATION_FAILED for any
    /// other, in the same words whatever is wrong with it.
    public func bearer(of token: String) throws(RecordError) -> TokenBearer {
        for kind in [TokenDescription.Kind.administrator, .user] {
            guard let found = try? good(TokenRotation.issued(token), kind) else { continue }
            guard kind == .administrator || found.userRecordName != nil else { continue }
            return TokenBearer(
                userRecordName: kind == .user ? found.userRecordName : nil, tokenID: found.id,
                label: found.label)
        }
        throw RecordError(
            .authenticationFailed,
            "The token is neither a user's nor an administrator's, or it was revoked.")
    }
}
