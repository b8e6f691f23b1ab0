internal import Foundation
internal import Platform
public import RecordWire

/// Tokens that outlived the file they were kept in.
extension ServiceAccounts {
    /// Takes in tokens that this service made and lost with its records, so that devices go on with
    /// them; for a user, since none is left who had them. Only for whoever keeps the tokens of the
    /// service itself: who calls this decides who gets in. Throws BAD_REQUEST for a text that is no
    /// token, one whose name is known already (it was revoked, or its secret is another), and
    /// for any where tokens were forgotten, since it may be one that was revoked.
    public func takeIn(
        apiToken: String, userToken: String, container: String, userRecordName: String,
        label: String
    ) throws(RecordError) {
        try requireContainer(container)
        let now = platform.milliseconds
        let api = try lost(
            apiToken,
            TokenDescription(
                id: "", kind: .api, container: container, label: label, createdAt: now))
        let user = try lost(
            TokenRotation.issued(userToken),
            TokenDescription(
                id: "", kind: .user, userRecordName: userRecordName, label: label, createdAt: now))
        try backend.write { transaction in
            guard try !transaction.hasForgottenTokens() else { throw Self.known }
            for row in [api, user] {
                guard try transaction.token(row.description.id) == nil else { throw Self.known }
                try transaction.add(row)
            }
        }
        try audit?.note(
            .tokensTakenIn, userRecordName,
            ["api": api.description.id, "user": user.description.id, "container": container])
    }

    private func lost(
        _ text: String, _ description: TokenDescription
    ) throws(RecordError) -> TokenRow {
        guard let parts = TokenText(text), !parts.id.isEmpty, parts.secret.utf8.count >= 32,
            let hash = try? SecretHash.sha256(text)
        else {
            throw RecordError(.badRequest, "The text is no token of this service.")
        }
        var description = description
        description.id = parts.id
        return TokenRow(description: description, hash: hash)
    }

    private static let known = RecordError(
        .badRequest, "The token is not good, or may have been revoked; issue a new one.")

    /// The user whose token was issued first under this label and is still good.
    public func user(ofTokensLabelled label: String) throws(RecordError) -> String? {
        try tokens().first { $0.kind == .user && $0.label == label && $0.revokedAt == nil }?
            .userRecordName
    }
}
