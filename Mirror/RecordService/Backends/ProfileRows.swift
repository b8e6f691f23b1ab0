/// What the service knows of a person, for those who may know it.
struct ProfileRow: Hashable {
    var user: String
    /// In lower case; no two users have one.
    var emailAddress: String?
    var givenName: String?
    var familyName: String?
    /// Whether others may find the user.
    var isDiscoverable = false
}

/// Rows of profiles, inside one transaction.
protocol ProfileTransaction: AnyObject {
    func profile(of user: String) throws -> ProfileRow?
    func profile(emailAddress: String) throws -> ProfileRow?
    func save(_ profile: ProfileRow) throws
}
