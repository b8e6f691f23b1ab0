internal import Foundation
internal import Platform
public import RecordWire

/// How people whom a provider names become users.
public enum IdentityPolicy: String, Hashable, Sendable, CaseIterable {
    /// The user who has the address of email that the provider made sure of.
    case email
    /// A new user, for whoever the provider lets in.
    case create
}

/// Users whom a provider of identities lets in.
extension ServiceAccounts {
    private static let labelBytesMax = 200

    /// The user whom the provider names: one that was seen before, else as the policy says, and
    /// from then on for good. Throws ACCESS_DENIED where nobody here is meant.
    package func bearer(
        of claims: ProviderClaims, _ policy: IdentityPolicy
    ) throws(RecordError) -> TokenBearer {
        let proof = SignInProof.identity(issuer: claims.issuer, subject: claims.subject)
        let fresh = newUser(label: Self.label(of: claims))
        let now = platform.milliseconds
        let (user, isLinked, isNew) = try backend.write {
            transaction -> (ServiceUser, Bool, Bool) in
            let users = try transaction.users()
            let known = try transaction.identity(issuer: claims.issuer, subject: claims.subject)
            if let user = users.first(where: { $0.userRecordName == known }) {
                return (user, false, false)
            }
            let found = try policy == .email ? self.owner(of: claims, users, transaction) : fresh
            if policy == .create { try transaction.add(found, at: now) }
            try transaction.addIdentity(
                issuer: claims.issuer, subject: claims.subject, of: found.userRecordName, at: now)
            return (found, true, policy == .create)
        }
        if isNew { try audit?.note(.userAdded, user.userRecordName, ["label": user.label]) }
        if isLinked {
            try audit?.note(
                .identityLinked, user.userRecordName,
                ["issuer": claims.issuer, "subject": claims.subject])
        }
        return TokenBearer(
            userRecordName: user.userRecordName, proof: proof, label: user.label)
    }

    /// An address that was given to somebody else at the provider lets nobody in as its former
    /// owner: a user has one identity there.
    private func owner(
        of claims: ProviderClaims, _ users: [ServiceUser], _ transaction: any BackendTransaction
    ) throws -> ServiceUser {
        guard let email = claims.emailAddress?.lowercased(),
            let profile = try transaction.profile(emailAddress: email),
            let user = users.first(where: { $0.userRecordName == profile.user })
        else {
            throw RecordError(
                .accessDenied,
                "The provider knows you, and no user here has your address; ask the administrator "
                    + "to note it.")
        }
        guard try !transaction.hasIdentity(of: user.userRecordName, issuer: claims.issuer) else {
            throw RecordError(
                .accessDenied,
                "Your address is that of a user whom the provider knows as somebody else; ask the "
                    + "administrator.")
        }
        return user
    }

    private static func label(of claims: ProviderClaims) -> String {
        let name = claims.name ?? claims.emailAddress ?? claims.subject
        return name.isEmpty || name.utf8.count > labelBytesMax || !isReadable(name)
            ? claims.subject : name
    }

    /// Lets a user be signed in by no provider, until one names the user anew. Throws NOT_FOUND
    /// where none did.
    public func removeIdentities(of userRecordName: String) throws(RecordError) {
        guard try backend.write({ try $0.removeIdentities(of: userRecordName) }) else {
            throw RecordError(.notFound, "No provider knows \(userRecordName).")
        }
        try audit?.note(.identitiesRemoved, userRecordName)
    }
}
