package import Foundation
internal import Platform
package import RecordWire

/// A server whose request is still to be compared with its signature.
package struct RequestSigner: Sendable {
    /// In whose name it asks, once it is proved.
    package let caller: Caller
    fileprivate let row: ServerKeyRow
    fileprivate let shown: RequestSignature
    fileprivate let signature: ECDSASignature
    /// Milliseconds since 1970 at which the signature is too old.
    fileprivate let end: Int64
    fileprivate let changesSomething: Bool
}

extension RecordService {
    /// What servers may ask for any number of times with one signature.
    private static let readings =
        [
            "records/query", "records/lookup", "records/changes", "changes/zone",
            "changes/database", "zones/list", "zones/lookup", "zones/changes",
            "subscriptions/list", "subscriptions/lookup",
        ] + caller
    /// What tells who asks: programs of CloudKit JS begin with it.
    private static let caller = ["users/caller", "users/current"]

    /// Looks at all of a signed request that its head tells: throws ACCESS_DENIED for what no key
    /// is good for, AUTHENTICATION_FAILED with the part that is wrong. Nothing is proved by it yet.
    package func signer(
        _ shown: RequestSignature, of operation: String, target: RecordTarget
    ) throws(RecordError) -> RequestSigner {
        try accounts.requireContainer(target.container)
        try Self.checkPlace(operation, target)
        let row = try accounts.goodServerKey(shown.keyID)
        guard row.key.container.isExactly(target.container),
            row.key.environment.isExactly(target.environment)
        else {
            throw RecordError(
                .authenticationFailed, "The key ID is one of another container or environment.")
        }
        guard let date = SignatureDate.milliseconds(shown.date) else {
            let example = SignatureDate.text(platform.milliseconds)
            throw RecordError(
                .authenticationFailed, "The date is none in ISO 8601, such as \(example).")
        }
        let skew = Int64(limits.retention.signatureSkewSeconds) * 1_000
        let now = platform.milliseconds
        guard abs(date - now) <= skew else {
            throw RecordError(
                .authenticationFailed,
                "The date is more than \(skew / 1_000) seconds from the service's, which is "
                    + "\(SignatureDate.text(now)); set the clock.")
        }
        guard let signature = ECDSASignature(base64: shown.signature) else {
            throw RecordError(
                .authenticationFailed,
                "The signature is no base64 of an ECDSA signature in DER.")
        }
        return RequestSigner(
            caller: Caller(userRecordName: row.key.userRecordName, tokenID: row.key.id), row: row,
            shown: shown, signature: signature, end: date + skew,
            changesSomething: !Self.readings.contains(operation))
    }

    /// Lets in who signed a body of this SHA-256 (nil: an empty body) under one of the paths.
    /// Throws AUTHENTICATION_FAILED for another signature, and for one that changes something and
    /// was used before, at whatever process of the service. Cost: one write for each that changes
    /// something.
    package func prove(
        _ signer: RequestSigner, bodyHash: Data?, paths: [String]
    ) throws(RecordError) -> Caller {
        guard let key = VerifyingKey(encoded: signer.row.publicKey) else {
            throw RecordError(.internalError, "The key as it is kept cannot be read.")
        }
        let hashes = bodyHash.map { [$0.base64EncodedString()] } ?? Self.emptyBody
        let isProved = paths.contains { path in
            hashes.contains { hash in
                let message = Array("\(signer.shown.date):\(hash):\(path)".utf8)
                return key.isSigned(message, by: signer.signature)
            }
        }
        guard isProved else {
            throw RecordError(
                .authenticationFailed,
                "The signature is none of this key over the date as sent, the SHA-256 of the body "
                    + "(\(hashes[0].isEmpty ? "the empty text" : hashes[0])) and the path "
                    + "(\(paths[0])), with colons between.")
        }
        let now = platform.milliseconds
        if signer.changesSomething {
            try accounts.use(
                signer.signature, ofKey: signer.row.key.id, until: signer.end, now: now)
        }
        accounts.uses.note(signer.row.key.id, at: now)
        return signer.caller
    }

    /// Throws AUTHENTICATION_FAILED where the key was revoked meanwhile.
    package func requireGood(_ signer: RequestSigner) throws(RecordError) {
        _ = try accounts.goodServerKey(signer.row.key.id)
    }

    /// The empty text, or the digest of nothing: clients do either. (PROTOCOL, server-to-server)
    private static let emptyBody = ["", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]

    private static func checkPlace(
        _ operation: String, _ target: RecordTarget
    ) throws(RecordError) {
        let isOfTokens = operation.hasPrefix("tokens/")
        guard target.database.isExactly("public") || isOfTokens else {
            throw RecordError(
                .accessDenied,
                "A server's key lets into the public database only; send a user's token.")
        }
        let isPersonal =
            operation.hasPrefix("users/") && !caller.contains(operation)
            || ["records/resolve", "records/accept"].contains(operation)
        guard !isPersonal else {
            throw RecordError(
                .accessDenied, "\(operation) is for users; send a user's token.")
        }
    }
}
