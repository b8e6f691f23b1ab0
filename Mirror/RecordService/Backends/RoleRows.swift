/// What a role allows with records of one type in a container's public databases.
struct RoleGrantRow: Hashable {
    let recordType: String
    let role: String
    var creates: Bool
    var reads: Bool
    var writes: Bool
}

/// Rows of roles, inside one transaction.
protocol RoleTransaction: AnyObject {
    /// All grants of a container by type and role.
    func roleGrants(container: String) throws -> [RoleGrantRow]
    func roleGrants(of recordType: String, container: String) throws -> [RoleGrantRow]
    /// Adds it or replaces the one of its type and role; one that allows nothing stays a row.
    func save(_ grant: RoleGrantRow, container: String) throws
    /// Forgets all grants of a type, so that the service's own rules hold for it. Returns whether
    /// there were any.
    func removeRoleGrants(of recordType: String, container: String) throws -> Bool

    /// The users who have a role, by role.
    func roleMembers(container: String) throws -> [(role: String, user: String)]
    func roles(of user: String, container: String) throws -> [String]
    func addRole(_ role: String, to user: String, container: String) throws
    func removeRole(_ role: String, from user: String, container: String) throws -> Bool
}
