internal import Foundation
internal import Platform
public import RecordWire

/// Users who sign in with a name and a password, on hosts that have no other way.
extension ServiceAccounts {
    /// Bytes of a password.
    private static let passwordBytes = 8...1_024
    private static let nameBytes = 1...255

    /// Lets a user sign in with `password` under `name`, in the place of what was before; sessions
    /// that began with the former end. Throws NOT_FOUND for an unknown user, EXISTS for the name of
    /// another, BAD_REQUEST for a password of less than 8 or more than 1,024 bytes. Cost: a
    /// twentieth of a second and 16 MB.
    public func setPassword(
        _ password: String, name: String, of userRecordName: String
    ) throws(RecordError) {
        try check(password)
        guard Self.nameBytes.contains(name.utf8.count) else {
            throw RecordError(.badRequest, "A name to sign in with has 1 to 255 bytes.")
        }
        let hash = try PasswordHash(of: password, salt: drawnBytes(PasswordHash.saltBytes))
        let now = platform.milliseconds
        try backend.write { transaction in
            guard try transaction.users().contains(where: { $0.userRecordName == userRecordName })
            else {
                throw RecordError(
                    .notFound, "There is no user \(userRecordName); create one first.")
            }
            if let other = try transaction.password(named: name),
                !other.user.isExactly(userRecordName)
            {
                throw RecordError(.exists, "Another user signs in with this name.")
            }
            let former = try transaction.password(of: userRecordName)
            try transaction.save(
                PasswordRow(
                    user: userRecordName, name: name, hash: hash,
                    changedAt: max(now, (former?.changedAt ?? 0) + 1)))
        }
        try audit?.note(.passwordChanged, userRecordName, ["name": name])
    }

    /// Lets a user sign in by password no more. Throws NOT_FOUND where the user has none.
    public func removePassword(of userRecordName: String) throws(RecordError) {
        guard try backend.write({ try $0.removePassword(of: userRecordName) }) else {
            throw RecordError(.notFound, "\(userRecordName) has no password.")
        }
        try audit?.note(.passwordRemoved, userRecordName)
    }

    /// The names with which users sign in, by record name.
    public func passwordNames() throws(RecordError) -> [String: String] {
        let rows = try backend.read { try $0.passwords() }
        return Dictionary(rows.map { ($0.user, $0.name) }) { first, _ in first }
    }

    /// Names the user who has the name and the password. Throws AUTHENTICATION_FAILED, after the
    /// same work and in the same words whatever is wrong; at once where they are too long for
    /// anybody's. Cost: a twentieth of a second and 16 MB,
    /// so let few in at once, and put guessers off.
    public func bearer(name: String, password: String) throws(RecordError) -> TokenBearer {
        guard password.utf8.count <= Self.passwordBytes.upperBound,
            name.utf8.count <= Self.nameBytes.upperBound
        else { throw Self.wrongPassword }
        let row = try backend.read { try $0.password(named: name) }
        let hash = row?.hash ?? Self.nobodys
        guard try hash.fits(password), let row else { throw Self.wrongPassword }
        return TokenBearer(
            userRecordName: row.user, proof: .password(changedAt: row.changedAt), label: row.name)
    }

    /// Puts another password in the place of a user's own. Throws AUTHENTICATION_FAILED where the
    /// former is another, NOT_FOUND where the user has none, and as `setPassword`. Cost: twice
    /// that.
    public func changePassword(
        of userRecordName: String, from former: String, to password: String
    ) throws(RecordError) {
        guard let row = try backend.read({ try $0.password(of: userRecordName) }) else {
            throw RecordError(
                .notFound, "You have no password; the administrator gives you a first one.")
        }
        guard former.utf8.count <= Self.passwordBytes.upperBound, try row.hash.fits(former) else {
            throw RecordError(.accessDenied, "The present password is another.")
        }
        try setPassword(password, name: row.name, of: userRecordName)
    }

    private func check(_ password: String) throws(RecordError) {
        guard Self.passwordBytes.contains(password.utf8.count) else {
            throw RecordError(.badRequest, "A password has 8 to 1,024 bytes.")
        }
    }

    /// What is compared where there is no such user. Nobody knows a password to it.
    private static var nobodys: PasswordHash {
        PasswordHash(
            salt: Data(count: PasswordHash.saltBytes), hash: Data(count: 32), cost: .standard)
    }

    private static let wrongPassword = RecordError(
        .authenticationFailed, "The name or the password is wrong.")
}
