/// Rows of who users are at providers, inside one transaction.
protocol IdentityRows: AnyObject {
    /// The user's record name.
    func identity(issuer: String, subject: String) throws -> String?
    func hasIdentity(of user: String, issuer: String) throws -> Bool
    func addIdentity(
        issuer: String, subject: String, of user: String, at milliseconds: Int64) throws
    func removeIdentities(of user: String) throws -> Bool
}
