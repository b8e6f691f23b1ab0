internal import Foundation
internal import Platform
public import RecordWire

/// Keys with which servers sign their requests.
extension ServiceAccounts {
    /// Registers the public half of a key (PEM, P-256) for one container and environment, and makes
    /// the user in whose name its requests are answered. Throws NOT_FOUND for an unknown
    /// container, BAD_REQUEST for another environment than development or production, for what is
    /// no such key, and for a label that is empty, longer than 255 bytes, or does not show whole.
    public func addServerKey(
        pem: String, label: String, container: String, environment: String
    ) throws(RecordError) -> ServerKey {
        try Self.check(label: label)
        try requireContainer(container)
        try DatabaseKey.check(environment: environment)
        guard let encoded = try VerifyingKey.read(pem: pem).encoded else {
            throw RecordError(.internalError, "OpenSSL cannot encode the key.")
        }
        let id = try drawnBytes(32).map {
            String($0 / 16, radix: 16) + String($0 % 16, radix: 16)
        }.joined()
        let user = newUser(label: label)
        let now = platform.milliseconds
        let key = ServerKey(
            id: id, container: container, environment: environment,
            userRecordName: user.userRecordName, label: label, createdAt: now)
        try backend.write { transaction in
            try transaction.add(user, at: now)
            try transaction.add(ServerKeyRow(key: key, publicKey: encoded))
        }
        try audit?.note(
            .serverKeyAdded, id,
            [
                "container": container, "environment": environment, "label": label,
                "user": user.userRecordName,
            ])
        return key
    }

    /// All keys, oldest first.
    public func serverKeys() throws(RecordError) -> [ServerKey] {
        try backend.read { try $0.serverKeys().map(\.key) }.map { key in
            var key = key
            key.lastUsedAt = uses.last(of: key.id, kept: key.lastUsedAt)
            return key
        }
    }

    /// Makes a key useless from now on; what was written with it stays its user's. Throws NOT_FOUND
    /// when there is no such good key.
    public func revoke(serverKeyID: String) throws(RecordError) {
        let now = platform.milliseconds
        guard try backend.write({ try $0.revokeServerKey(serverKeyID, at: now) }) else {
            throw RecordError(
                .notFound, "There is no key \(serverKeyID) that is not revoked already.")
        }
        tellAccessChanged()
        try audit?.note(.serverKeyRevoked, serverKeyID)
    }

    private static let forgottenMax = 500

    /// Takes note of a signature, in memory first, where most repetitions end, then where all
    /// processes of the service see it, also after a start.
    func use(
        _ signature: ECDSASignature, ofKey id: String, until end: Int64, now: Int64
    ) throws(RecordError) {
        let mayForget = try usedSignatures.use(signature, ofKey: id, until: end, now: now)
        let isNew = try backend.write { transaction in
            if mayForget { try transaction.removeSignatures(before: now, limit: Self.forgottenMax) }
            return try transaction.noteSignature(
                Data(signature.r.prefix(UsedSignatures.markBytes)), ofKey: id, until: end)
        }
        guard isNew else { throw UsedSignatures.used }
    }

    /// Throws AUTHENTICATION_FAILED for a key that is not there or was revoked.
    func goodServerKey(_ id: String) throws(RecordError) -> ServerKeyRow {
        guard let row = try backend.read({ try $0.serverKey(id) }), row.key.revokedAt == nil
        else {
            throw RecordError(
                .authenticationFailed,
                "The key ID is unknown, or the key was revoked; ask the administrator for another.")
        }
        return row
    }
}
