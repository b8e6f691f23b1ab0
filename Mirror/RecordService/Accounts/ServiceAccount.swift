/// A person or program with a private database in each container.
public struct ServiceUser: Hashable, Sendable {
    public var userRecordName: String
    /// What an administrator calls the user; not shown to others.
    public var label: String
}

/// What is known of a token without its secret.
public struct TokenDescription: Hashable, Sendable {
    /// What it is for: the two tokens of a request, or the console.
    public enum Kind: String, Hashable, Sendable {
        /// Names the app: `ckAPIToken`.
        case api
        /// Names the user: `ckWebAuthToken`.
        case user
        /// Lets into the console as administrator, and into no database.
        case administrator
    }
    /// Part of the token's text; not secret.
    public var id: String
    public var kind: Kind
    /// The container of an API token.
    public var container: String?
    /// The user of a user token.
    public var userRecordName: String?
    public var label: String
    /// Milliseconds since 1970.
    public var createdAt: Int64
    /// Milliseconds since 1970; nil while the token is good.
    public var revokedAt: Int64?
    /// Milliseconds since 1970; nil for a token without an end. It moves when the token is renewed.
    public var expiresAt: Int64?
    /// Milliseconds since 1970; nil where nobody has shown it. Other processes hear of it within a
    /// quarter of an hour.
    public var lastUsedAt: Int64?
}

/// A new token. Its secret is given out this once; the service keeps only a hash.
public struct IssuedToken: Hashable, Sendable {
    public var description: TokenDescription
    /// The text that clients send.
    public var secret: String
}

extension ServiceUser {
    /// Whether a name has the form of those that users are given: an underscore and 32 digits in
    /// hexadecimal.
    static func isRecordName(_ name: String) -> Bool {
        name.utf8.count == 33 && name.utf8.first == UInt8(ascii: "_")
            && name.utf8.dropFirst().allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
    }
}
