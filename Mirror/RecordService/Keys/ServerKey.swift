/// A key with which a program of somebody's own signs its requests to the public database of one
/// container and environment. The service has its public half only.
public struct ServerKey: Hashable, Sendable {
    /// Sent with each request; not secret, and 64 hexadecimal digits.
    public var id: String
    public var container: String
    public var environment: String
    /// In whose name the program writes: a user made with the key, whom no token stands for.
    public var userRecordName: String
    public var label: String
    /// Milliseconds since 1970.
    public var createdAt: Int64
    /// Milliseconds since 1970; nil while the key is good.
    public var revokedAt: Int64?
    /// Milliseconds since 1970; nil where nothing was signed with it. Other processes hear of it
    /// within a quarter of an hour.
    public var lastUsedAt: Int64?
}

/// What a signed request shows in its head. (SERVICE §2)
public struct RequestSignature: Hashable, Sendable {
    public var keyID: String
    /// As it came: it is signed as a text.
    public var date: String
    /// Base64 of an ECDSA signature in DER.
    public var signature: String

    public init(keyID: String, date: String, signature: String) {
        self.keyID = keyID
        self.date = date
        self.signature = signature
    }
}
