/// Rows of passwords, inside one transaction.
protocol PasswordRows: AnyObject {
    func passwords() throws -> [PasswordRow]
    func password(named name: String) throws -> PasswordRow?
    func password(of user: String) throws -> PasswordRow?
    /// Adds the user's row, or replaces it.
    func save(_ password: PasswordRow) throws
    func removePassword(of user: String) throws -> Bool
}

struct PasswordRow {
    var user: String
    /// With which the user signs in; no two users have one.
    var name: String
    var hash: PasswordHash
    /// Milliseconds since 1970; raised by every change.
    var changedAt: Int64
}
