internal import Foundation
internal import RecordServer
internal import RecordService
internal import RecordWire

/// What an administrator asks for about single users, and about keys of servers.
enum UserAdministration {
    case profile(user: String)
    case setProfile(user: String)
    case setPassword(user: String)
    case removePassword(user: String)
    case unlink(user: String)
    case revokeTokens(user: String)
    case keys
    case addKey
    case revokeKey(String)

    /// nil for a path or a method of something else.
    init?(_ method: String, _ words: [String]) {
        switch (method, words.first, words.count) {
        case ("GET", "users", 2): self = .profile(user: words[1])
        case ("POST", "users", 2): self = .setProfile(user: words[1])
        case ("POST", "users", 3) where words[2] == "password":
            self = .setPassword(user: words[1])
        case ("DELETE", "users", 3) where words[2] == "password":
            self = .removePassword(user: words[1])
        case ("DELETE", "users", 3) where words[2] == "identities":
            self = .unlink(user: words[1])
        case ("DELETE", "users", 3) where words[2] == "tokens":
            self = .revokeTokens(user: words[1])
        case ("GET", "keys", 1): self = .keys
        case ("POST", "keys", 1): self = .addKey
        case ("DELETE", "keys", 2): self = .revokeKey(words[1])
        default: return nil
        }
    }

    /// Throws what the service refuses, and BAD_REQUEST for a body that cannot be read.
    func perform(_ accounts: ServiceAccounts, _ request: HTTPRequest) throws -> HTTPResponse {
        switch self {
        case .profile(let user): return try Self.profile(of: user, accounts)
        case .setProfile(let user):
            let wish: ProfileWish = try request.wish()
            let user = try Self.user(user, accounts)
            let former = try accounts.profile(of: user.userRecordName)
            try accounts.setProfile(wish.profile(after: former), of: user.userRecordName)
            return try Self.profile(of: user.userRecordName, accounts)
        case .setPassword(let user):
            let wish: NewPasswordWish = try request.wish()
            let user = try Self.user(user, accounts)
            let former = try accounts.passwordNames()[user.userRecordName]
            try accounts.setPassword(
                wish.password, name: wish.name ?? former ?? user.label, of: user.userRecordName)
            return try Self.profile(of: user.userRecordName, accounts)
        case .removePassword(let user):
            try accounts.removePassword(of: user)
            return try Self.profile(of: user, accounts)
        case .unlink(let user):
            try accounts.removeIdentities(of: user)
            return try Self.profile(of: user, accounts)
        case .revokeTokens(let user):
            let user = try Self.user(user, accounts)
            return try .json(
                of: ["revoked": accounts.revokeTokens(of: user.userRecordName)])
        case .keys: return try Self.keys(accounts)
        case .addKey:
            let wish: KeyWish = try request.wish()
            return try .json(
                of: KeyAnswer(
                    accounts.addServerKey(
                        pem: wish.publicKey, label: wish.label, container: wish.container,
                        environment: wish.environment)))
        case .revokeKey(let id):
            try accounts.revoke(serverKeyID: id)
            return try Self.keys(accounts)
        }
    }

    private static func user(
        _ name: String, _ accounts: ServiceAccounts
    ) throws -> ServiceUser {
        guard let user = try accounts.users().first(where: { $0.userRecordName == name }) else {
            throw RecordError(.notFound, "There is no user of this record name.")
        }
        return user
    }

    private static func profile(
        of name: String, _ accounts: ServiceAccounts
    ) throws -> HTTPResponse {
        let user = try user(name, accounts)
        return try .json(
            of: ProfileAnswer(
                user, accounts.profile(of: user.userRecordName),
                signInName: accounts.passwordNames()[user.userRecordName]))
    }

    private static func keys(_ accounts: ServiceAccounts) throws -> HTTPResponse {
        try .json(of: accounts.serverKeys().map(KeyAnswer.init))
    }
}

/// What is to be known of a user: a member that is missing stays as it is, an empty text is none.
struct ProfileWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case emailAddress, givenName, familyName, discoverable
    }

    var emailAddress: String?
    var givenName: String?
    var familyName: String?
    var discoverable: Bool?

    func profile(after former: UserProfile) -> UserProfile {
        func told(_ text: String?, _ former: String?) -> String? {
            text.map { $0.isEmpty ? nil : $0 } ?? former
        }
        return UserProfile(
            emailAddress: told(emailAddress, former.emailAddress),
            givenName: told(givenName, former.givenName),
            familyName: told(familyName, former.familyName),
            isDiscoverable: discoverable ?? former.isDiscoverable)
    }
}

/// A password, and by which name one signs in with it; nil: as before, or the user's label.
struct NewPasswordWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable { case password, name }

    var password: String
    var name: String?
}

struct KeyWish: Wish {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case publicKey, label, container, environment
    }

    /// As PEM.
    var publicKey: String
    var label: String
    var container: String
    var environment: String
}

struct ProfileAnswer: Encodable {
    var userRecordName: String
    var label: String
    var emailAddress: String?
    var givenName: String?
    var familyName: String?
    var discoverable: Bool
    /// nil for who signs in by no password.
    var signInName: String?

    init(_ user: ServiceUser, _ profile: UserProfile, signInName: String?) {
        userRecordName = user.userRecordName
        label = user.label
        emailAddress = profile.emailAddress
        givenName = profile.givenName
        familyName = profile.familyName
        discoverable = profile.isDiscoverable
        self.signInName = signInName
    }
}

struct KeyAnswer: Encodable {
    var id: String
    var container: String
    var environment: String
    var user: String
    var label: String
    var created: Int64
    var revoked: Int64?
    var lastUsed: Int64?

    init(_ key: ServerKey) {
        id = key.id
        container = key.container
        environment = key.environment
        user = key.userRecordName
        label = key.label
        created = key.createdAt
        revoked = key.revokedAt
        lastUsed = key.lastUsedAt
    }
}
